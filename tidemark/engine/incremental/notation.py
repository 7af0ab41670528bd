"""Notations that a tree does not hold, written in another way: named windows, `using`, columns of an alias.

What stays is refused by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import ParseError, SqlglotError

from tidemark.engine.incremental.spelling import KEEP, with_masked_names
from tidemark.engine.incremental.unsupported import Unsupported

WRITTEN = "is_written"  # marks a coalesce() of the user: `using` makes others


def read(sql: str) -> exp.Query:
    """Parse a query.

    Raises:
        Unsupported: if it is not a query, or its syntax has no tree.
        sqlglot.errors.SqlglotError: if sqlglot cannot parse it.
    """
    for token in sqlglot.tokenize(sql, dialect="spark"):
        if token.token_type == TokenType.PIPE_GT:
            raise Unsupported("pipe syntax (|>)", line=token.line)
    parsed = sqlglot.parse_one(with_masked_names(sql), dialect="spark")
    while isinstance(parsed, exp.Subquery) and not parsed.alias and set(_given(parsed)) == {"this"}:
        parsed = parsed.this
    if not isinstance(parsed, exp.Query):
        raise Unsupported("a statement that is not a query")
    for function in parsed.find_all(exp.Anonymous):
        if function.name.startswith(KEEP):
            function.set("this", function.name.removeprefix(KEEP))
    for one in parsed.find_all(exp.Coalesce):
        one.meta[WRITTEN] = True
    return parsed


def _given(part: exp.Expr) -> list[str]:
    return [name for name, value in part.args.items() if value]


def unreadable(error: SqlglotError) -> str:
    """Return in the words of the query where it cannot be read."""
    found = error.errors[0] if isinstance(error, ParseError) and error.errors else {}
    if found.get("line"):
        near = " ".join(f"{found.get('highlight') or ''}".split())
        return f"syntax that Tidemark does not read, near `{near}` (line {found['line']})"
    first = str(error).partition("\n")[0]
    return f"syntax that Tidemark does not read: {first[:1].lower()}{first[1:]}"


def refuse_unreadable(query: exp.Query) -> None:
    """Raise Unsupported for what reads something else than the present rows of tables and subqueries."""
    if any(found.args.get("recursive") for found in query.find_all(exp.With)):
        raise Unsupported("with recursive", query)
    for pivot in query.find_all(exp.Pivot):
        raise Unsupported("unpivot" if pivot.args.get("unpivot") else "pivot", pivot.parent)
    for table in query.find_all(exp.Table):
        if table.args.get("version") or table.args.get("when"):
            raise Unsupported("a version of a table, as of a time or a number", table)
        if isinstance(table.this, exp.Func):
            name = table.this.name if isinstance(table.this, exp.Anonymous) else table.this.sql_name()
            raise Unsupported(f"the table function {name.lower()}()", table.parent_select)
    for nested in query.find_all(exp.Subquery):
        if isinstance(nested.this, exp.Table):
            raise Unsupported("a join in parentheses: write it as a subquery or a CTE", nested)


def resolved(query: exp.Query, columns: Callable[[exp.Table], Mapping[str, str]]) -> exp.Query:
    """Return a parsed query with its named windows where they are used, and with a plain FROM clause.

    Args:
        query: the query; it is changed.
        columns: gives the types of a table's columns, by name.
    """
    for select in list(query.find_all(exp.Select)):
        _place_windows(select)
        source = select.args.get("from_")
        if source is not None and isinstance(source.this, exp.Table) and source.this.args.get("joins"):
            # FROM … SELECT …
            select.set("joins", [*source.this.args["joins"], *(select.args.get("joins") or [])])
            source.this.set("joins", None)
    for table in list(query.find_all(exp.Table)):
        alias = table.args.get("alias")
        names = alias.args.get("columns") if alias is not None else None
        if alias is not None and names and table.db:
            given = [exp.column(name, quoted=True) for name in columns(table)]
            if len(given) != len(names):
                raise Unsupported("an alias with another number of columns than its table", table)
            bare = table.copy()
            bare.set("alias", None)
            renamed = [exp.alias_(one, name.copy()) for one, name in zip(given, names, strict=True)]
            table.replace(exp.select(*renamed).from_(bare).subquery(alias.this.copy()))
    for select in list(query.find_all(exp.Select)):
        _expand_stars(select, columns)
    return query


def _place_windows(select: exp.Select) -> None:
    """Put each window of WINDOW where OVER names it."""
    named = {one.name.lower(): one for one in select.args.get("windows") or []}
    if not named:
        return
    for name, window in list(named.items()):  # a window can stand for another one
        if window.args.get("alias"):
            named[name] = _definition(named, window.args["alias"], select)
    select.set("windows", None)
    for window in list(select.find_all(exp.Window)):
        if window.args.get("alias") and window.find_ancestor(exp.Select) is select:
            found = _definition(named, window.args["alias"], select)
            if window.args.get("partition_by") or window.args.get("order") or window.args.get("spec"):
                raise Unsupported("a window that changes a named one", window)
            for part in ("partition_by", "order", "spec"):
                value = found.args.get(part)
                copied = [one.copy() for one in value] if isinstance(value, list) else value and value.copy()
                window.set(part, copied)
            window.set("alias", None)


def _definition(named: Mapping[str, exp.Expr], name: exp.Expr, select: exp.Select) -> exp.Expr:
    found = named.get(name.name.lower())
    if found is None or found.args.get("alias"):
        raise Unsupported("a named window", select)
    return found


def _expand_stars(select: exp.Select, columns: Callable[[exp.Table], Mapping[str, str]]) -> None:
    """Write `t.*` beside `using` as columns, the ones of `using` first, as Spark does."""
    using = [one.name for join in select.args.get("joins") or [] for one in join.args.get("using") or []]
    source = select.args.get("from_")
    if not using or source is None:
        return
    tables = {
        one.alias_or_name.lower(): one
        for one in (source.this, *(join.this for join in select.args["joins"]))
        if isinstance(one, exp.Table) and one.db
    }
    for star in list(select.expressions):
        table = tables.get(star.table.lower()) if isinstance(star, exp.Column) and star.is_star else None
        if table is None or star.this.args.get("except_") or star.this.args.get("replace"):
            continue
        names = list(columns(table))
        first = [name for name in dict.fromkeys(one.lower() for one in using) if name in names]
        expanded = [
            exp.column(name, table=star.args["table"].copy(), quoted=True)
            for name in (*first, *(name for name in names if name not in first))
        ]
        _replace_one(select, star, expanded)


def _replace_one(select: exp.Select, one: exp.Expr, others: Iterable[exp.Expr]) -> None:
    expressions: list[exp.Expr] = []
    for found in select.expressions:
        expressions += others if found is one else [found]
    select.set("expressions", expressions)


def without_using(query: exp.Query) -> exp.Query:
    """Return a qualified query in which a column of `using` is the one of the side that always has a row.

    sqlglot writes `coalesce(a.key, b.key)` for each kind of join; Spark does so for a full join alone.
    """
    for one in list(query.find_all(exp.Coalesce)):
        select = one.find_ancestor(exp.Select)
        sides = [one.this, *one.expressions]
        if one.meta.get(WRITTEN) or select is None or not all(isinstance(side, exp.Column) for side in sides):
            continue
        joins = {join.alias_or_name: join.side.lower() for join in select.args.get("joins") or []}
        if "full" in joins.values():
            continue
        kept_side = sides[0]
        for side in sides[1:]:
            if joins.get(side.table) == "right":
                kept_side = side
        one.replace(kept_side.copy())
    return query
