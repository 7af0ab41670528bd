"""Columns of tables that no one declared, as the queries that read them use them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

TIMES = ("_at", "_on", "_time", "_timestamp", "_ts", "_synced", "timestamp", "tstamp")
WORDS = {
    "boolean": ("is_", "has_", "was_"),
    "double": ("amount", "price", "total", "cost", "rate", "revenue", "value", "tax", "discount"),
    "int": ("count", "quantity", "number", "num_", "_seconds", "_ms", "index", "duration"),
}
ARITHMETIC = (exp.Sum, exp.Avg, exp.Mul, exp.Div, exp.Sub, exp.Add, exp.Round)
CALENDAR = (
    exp.TimestampTrunc,
    exp.DateTrunc,
    exp.DateAdd,
    exp.DateSub,
    exp.DateDiff,
    exp.TimestampAdd,
    exp.TimestampSub,
    exp.TimestampDiff,
    exp.TsOrDsAdd,
    exp.Extract,
    exp.Year,
    exp.Month,
    exp.Day,
)
TEXT = (
    exp.Upper,
    exp.Lower,
    exp.Trim,
    exp.Concat,
    exp.Split,
    exp.Like,
    exp.ILike,
    exp.RegexpLike,
    exp.Substring,
)


@dataclass
class Usage:
    """How queries use the columns of tables.

    Attributes:
        columns: by table and column (lower case), the expressions that use the column.
        stars: tables whose columns are read by `*`.
    """

    columns: dict[str, dict[str, list[exp.Column]]] = field(default_factory=dict)
    stars: set[str] = field(default_factory=set)


def usage_of(queries: Mapping[str, exp.Expr | None], known: Mapping[str, Iterable[str]]) -> Usage:
    """Find which columns of which tables some queries read.

    Args:
        queries: syntax trees by the name of the view that each makes; they may read each other.
        known: columns of tables that are known.
    """
    found = Usage()
    wanted: list[tuple[str, str, exp.Column]] = []
    roots: dict[str, list[Scope]] = {}
    for view, tree in queries.items():
        try:
            scopes = list(traverse_scope(tree)) if tree is not None else []
        except SqlglotError:
            continue
        roots[view] = scopes[-1:]
        for scope in scopes:
            for column in scope.columns:
                wanted += [
                    (table, name, column) for table, name in _owners(scope, column.name, column.table, known)
                ]
            found.stars |= {table for table in _starred(scope)}
    seen = set()
    while wanted:
        table, name, column = wanted.pop()
        if (table, name, id(column)) in seen:
            continue
        seen.add((table, name, id(column)))
        if roots.get(table):
            wanted += [(other, inner, column) for other, inner in _through(roots[table][0], name, known)]
        elif table not in queries:
            found.columns.setdefault(table, {}).setdefault(name, []).append(column)
    return found


def _owners(
    scope: Scope, name: str, qualifier: str, known: Mapping[str, Iterable[str]]
) -> list[tuple[str, str]]:
    """Return the tables, with its name there, that a column of a scope may come from."""
    name = name.lower()
    sources = {alias: source for alias, (_, source) in scope.selected_sources.items()}
    if qualifier:
        source = sources.get(qualifier) or scope.sources.get(qualifier)
        return _from(source, name, known)
    for source in sources.values():
        if name in _own_names(source, known):
            return _from(source, name, known)
    open_ones = [owners for source in sources.values() if (owners := _from(source, name, known))]
    return open_ones[0] if len(open_ones) == 1 else []


def _own_names(source: object, known: Mapping[str, Iterable[str]]) -> set[str]:
    if isinstance(source, exp.Table):
        return {name.lower() for name in known.get(source.name.lower(), ())}
    if isinstance(source, Scope):
        return {one.lower() for one in getattr(source.expression, "named_selects", ()) if one != "*"}
    return set()


def _from(source: object, name: str, known: Mapping[str, Iterable[str]]) -> list[tuple[str, str]]:
    if isinstance(source, exp.Table):
        return [(source.name.lower(), name)]
    return _through(source, name, known) if isinstance(source, Scope) else []


def _through(scope: Scope, name: str, known: Mapping[str, Iterable[str]]) -> list[tuple[str, str]]:
    """Return where a column of a query comes from, if it passes through as it is."""
    if scope.set_operation_scopes:
        return [one for branch in scope.set_operation_scopes for one in _through(branch, name, known)]
    if not isinstance(scope.expression, exp.Select):
        return []
    for one in scope.expression.selects:
        if one.alias_or_name.lower() == name and not one.is_star:
            inner = one.unalias()
            return _owners(scope, inner.name, inner.table, known) if isinstance(inner, exp.Column) else []
    return _owners(scope, name, "", known) if any(one.is_star for one in scope.expression.selects) else []


def _starred(scope: Scope) -> Iterable[str]:
    if isinstance(scope.expression, exp.Select) and any(one.is_star for one in scope.expression.selects):
        for _, source in scope.selected_sources.values():
            if isinstance(source, exp.Table):
                yield source.name.lower()


def filtered_tables(
    full: exp.Expr | None, incremental: exp.Expr | None, queries: Mapping[str, exp.Expr | None]
) -> frozenset[str]:
    """Return the tables that conditions of an incremental run look at, and those of a full refresh do not.

    Args:
        full: the query of a full refresh.
        incremental: that of an incremental run.
        queries: the queries of other models, by view.
    """
    known = {one.sql() for one in _conditions(full)}
    own = [one for one in _conditions(incremental) if one.sql() not in known]
    columns = {id(column) for one in own for column in one.find_all(exp.Column)}
    used = usage_of({**queries, "": incremental}, {}).columns
    return frozenset(
        table
        for table, names in used.items()
        if any(id(column) in columns for uses in names.values() for column in uses)
    )


def _conditions(tree: exp.Expr | None) -> Iterable[exp.Expr]:
    for where in tree.find_all(exp.Where, exp.Having, exp.Join) if tree is not None else ():
        condition = where.args.get("on") if isinstance(where, exp.Join) else where.this
        if condition is not None:
            yield from condition.flatten() if isinstance(condition, exp.And) else (condition,)


def guessed_type(name: str, uses: Iterable[exp.Column]) -> str:
    """Guess the Spark type of a column from what is done with it, or else from its name."""
    for column in uses:
        parent = column.parent
        if isinstance(parent, (exp.Cast, exp.TryCast)) and not parent.to.is_type(*exp.DataType.TEXT_TYPES):
            return parent.to.sql(dialect="spark").lower()
        if isinstance(parent, TEXT):
            return "string"
        if isinstance(parent, CALENDAR):
            return "timestamp"
        literals = (
            [one for one in parent.iter_expressions() if isinstance(one, exp.Literal)] if parent else []
        )
        if isinstance(parent, (exp.EQ, exp.NEQ, exp.In)) and any(one.is_string for one in literals):
            return "string"
        if isinstance(parent, ARITHMETIC) and not name.endswith(TIMES):
            return "double"
    return _by_name(name)


def _by_name(name: str) -> str:
    if name.endswith(TIMES):
        return "timestamp"
    if name.endswith(("_date", "_day")) or name in ("date", "day"):
        return "date"
    if name == "id" or name.endswith("_id"):
        return "bigint"
    for kind, words in WORDS.items():
        if name.startswith(words) if kind == "boolean" else any(word in name for word in words):
            return kind
    return "string"
