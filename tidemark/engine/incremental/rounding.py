"""Move the sums of a query as far as rounding can move them, to find what rounding does to its columns.

How far a value moves is how far rounding may move it, whatever the query makes of its sums: a rounded value,
a ratio, a difference of two large sums. A value that follows from no such sum does not move at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tidemark.engine.incremental.aggregates import ORDERED, ROUNDED, Aggregated

DIALECT = "spark"


def ordered_calls(sql: str) -> list[str]:
    """Return the functions of a query whose result depends on the order of rows, and which have no bound.

    Args:
        sql: a compiled query.

    Returns:
        Their names; none for a query that cannot be parsed.
    """
    try:
        calls = sqlglot.parse_one(sql, dialect=DIALECT).find_all(exp.Func)
    except SqlglotError:
        return []
    return sorted({name for call in calls if (name := _name(call)) in ORDERED})


def shifted(sql: str, view: Callable[[str], str | None] = lambda name: None) -> list[tuple[int, int, str]]:
    """Return a query with its sums moved as far as rounding can move them.

    Sums that meet in a column must not cancel out. Each sum has a number, and they move together in as many
    ways as the numbers have bits, and one more: all in one direction, then by each bit some against the
    others. So any two of them move both together and against each other.

    Args:
        sql: the compiled query.
        view: gives the query of a view by its name; None for a table.

    Returns:
        The number of a way, a sign and a query: first `0, 0` with nothing moved; then for each way from 1 one
        with the sign 1, and one with -1, where all move to the other side. Empty if nothing is summed.

    Raises:
        SqlglotError: if the query cannot be parsed.
    """
    query = sqlglot.parse_one(sql, dialect=DIALECT)
    for table in list(query.find_all(exp.Table)):
        if table.db and not table.args.get("version") and (below := view(_table(table))):
            inside = sqlglot.parse_one(below, dialect=DIALECT)
            alias = exp.to_identifier(table.alias_or_name, quoted=True)
            table.replace(inside.subquery(alias))  # type: ignore[attr-defined]
    numbers = _numbers(query)
    if not numbers:
        return []
    found = [(0, 0, _moved(query, [0] * len(numbers)))]
    for way in range(max(numbers).bit_length() + 1):
        signs = [-1 if way and number >> (way - 1) & 1 else 1 for number in numbers]
        found += [(way + 1, sign, _moved(query, [sign * one for one in signs])) for sign in (1, -1)]
    return found


def _table(table: exp.Table) -> str:
    return ".".join(part.name for part in table.parts)


def _numbers(query: exp.Expr) -> list[int]:
    """Number the sums of a query, from 0: sums that meet in no column of the result share a number."""
    final = _final_selects(query)
    numbers: list[int] = []
    own = max((len(list(_calls_in(item))) for select in final for item in select.expressions), default=0)
    position: dict[int, int] = {}
    for call in _calls(query):
        item = _item(call)
        if item is not None and any(item.parent is select for select in final):
            position[id(item)] = position.get(id(item), 0) + 1
            numbers.append(position[id(item)])
        else:
            own += 1
            numbers.append(own)
    return [number - 1 for number in numbers]


def _calls(query: exp.Expr) -> list[exp.Func]:
    """Return the sums in the columns of a query and its subqueries, in the order of its text."""
    return [call for call in query.find_all(exp.Func, bfs=False) if _name(call) in ROUNDED and _item(call)]


def _calls_in(item: exp.Expr) -> Iterator[exp.Func]:
    return (call for call in item.find_all(exp.Func) if _name(call) in ROUNDED)


def _item(call: exp.Expr) -> exp.Expr | None:
    """Return the column of a SELECT in which a call stands; None in its other clauses."""
    part = call
    while part.parent is not None and not isinstance(part.parent, exp.Select):
        part = part.parent
    return part if part.arg_key == "expressions" and part.parent is not None else None


def _final_selects(query: exp.Expr) -> list[exp.Select]:
    """Return the SELECTs whose columns are those of the result, behind each `select * from` one CTE."""
    if isinstance(query, exp.SetOperation):
        return [*_final_selects(query.left), *_final_selects(query.right)]
    if isinstance(query, exp.Subquery):
        return _final_selects(query.this)
    if not isinstance(query, exp.Select):
        return []
    source = query.args["from_"].this if query.args.get("from_") else None
    passes = all(isinstance(one, exp.Star) for one in query.expressions)
    if not passes or query.args.get("joins") or not isinstance(source, exp.Table) or source.db:
        return [query]
    root = query.root()
    uses = [table for table in root.find_all(exp.Table) if not table.db and table.name == source.name]
    ctes = [cte for cte in root.find_all(exp.CTE) if cte.alias == source.name]
    return _final_selects(ctes[0].this) if len(ctes) == len(uses) == 1 else [query]


def _moved(query: exp.Expr, signs: list[int]) -> str:
    """Return the SQL of a query with each of its sums moved up (1), down (-1) or not at all (0)."""
    copy = query.copy()
    calls = _calls(copy)
    for call, sign in reversed([*zip(calls, signs, strict=True)]):  # the inner ones first
        outer: exp.Expr = call
        while isinstance(outer.parent, (exp.Filter, exp.Window)) and outer.arg_key == "this":
            outer = outer.parent
        one = _aggregated(call, outer)
        bound = ROUNDED[_name(call)](one)
        moved = sqlglot.parse_one(f"({one.value} + {sign}D * {bound})", dialect=DIALECT)
        if outer.parent is None:
            return copy.sql(DIALECT)
        outer.replace(moved)
    return copy.sql(DIALECT)


def _aggregated(call: exp.Func, outer: exp.Expr) -> Aggregated:
    written = outer.sql(DIALECT)
    inner = call.sql(DIALECT)
    before, _, after = written.partition(inner)
    return Aggregated(lambda other: f"{before}{other}{after}", written, tuple(_arguments(call)))


def _arguments(call: exp.Func) -> Iterator[str]:
    """Yield the SQL of a call's arguments, without `distinct`: a bound over all rows is a bound for them."""
    parts = call.expressions if isinstance(call, exp.Anonymous) else [*call.args.values()]
    for part in parts:
        if isinstance(part, exp.Distinct):
            yield from (one.sql(DIALECT) for one in part.expressions)
        elif isinstance(part, exp.Expr):
            yield part.sql(DIALECT)


def _name(call: exp.Func) -> str:
    """Return the name of a function as Spark has it, in lower case."""
    return call.sql(DIALECT).partition("(")[0].strip().lower()
