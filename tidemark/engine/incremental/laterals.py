"""Lateral subqueries that find their rows by equalities, as joins with all their rows by these columns.

`from a, lateral (select sum(b.x) as x from b where b.k = a.k) as l` becomes
`from a left join (select b.k, sum(b.x) as x from b group by b.k) as l on l.k = a.k`; the first rows of an
order become those that `row_number()` counts. After W. Kim, "On Optimizing an SQL-like Nested Query" (TODS
1982), and for counts over no row R. Ganski and H. Wong, "Optimization of Nested SQL Queries Revisited"
(SIGMOD 1987).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from tidemark.engine.incremental.shape import generators, has_aggregate
from tidemark.engine.incremental.tree import conjuncts
from tidemark.engine.incremental.unsupported import Unsupported

KEY, VALUE, PLACE, RANKED = "tidemark_key_{}", "tidemark_value_{}", "tidemark_place", "tidemark_ranked"
COUNTS = (exp.Count, exp.CountIf)  # over no row they are 0, and these are NULL:
NULL_IF_EMPTY = (
    *(exp.Sum, exp.Avg, exp.Min, exp.Max),
    *(exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.Variance, exp.VariancePop),
)
KEPT = {"expressions", "from_", "joins", "where", "group", "having", "distinct", "order", "limit"}
REFUSED = "a lateral subquery that finds its rows by more than equalities: write a join with the subquery"


def has_laterals(query: exp.Expr) -> bool:
    """Return whether a query joins a lateral subquery."""
    return any(map(_is_lateral, query.find_all(exp.Join)))


def without_laterals(query: exp.Query) -> None:
    """Put joins in the place of a query's lateral subqueries.

    Args:
        query: a qualified query without CTEs, whose functions have their groups.

    Raises:
        Unsupported: for a lateral subquery whose rows are not found by equalities with the rows before it.
    """
    joins = [one for one in query.find_all(exp.Join) if _is_lateral(one)]
    for join in reversed(joins):  # the inner ones first
        _replace(_lateral_of(join))


def _is_lateral(join: exp.Join) -> bool:
    return isinstance(join.this, exp.Lateral) and isinstance(join.this.this, exp.Subquery)


@dataclass(frozen=True)
class _Lateral:
    """A lateral subquery.

    Attributes:
        alias: its name.
        join: its join.
        select: the query that joins it.
        inner: its own query, without the equalities that find its rows.
        keys: the sides of these equalities that are computed from its rows.
        outside: the other sides.
    """

    alias: str
    join: exp.Join
    select: exp.Select
    inner: exp.Select
    keys: list[exp.Expr]
    outside: list[exp.Expr]

    @property
    def named_keys(self) -> list[exp.Expr]:
        """The keys as columns of the joined subquery."""
        return [_named(one.copy(), KEY.format(number)) for number, one in enumerate(self.keys)]

    def columns(self) -> Iterator[exp.Column]:
        """Yield its columns where the query outside reads them."""
        for one in list(self.select.find_all(exp.Column)):
            if one.table == self.alias and not _is_of(one, self.select, below=True):
                yield one


def _lateral_of(join: exp.Join) -> _Lateral:
    select, inner, alias = join.parent, join.this.this.this, join.this.alias
    if not isinstance(select, exp.Select) or not isinstance(inner, exp.Select):
        raise Unsupported(REFUSED, inner)
    sides = {one.side.lower() for one in select.args["joins"]}
    if {"right", "full"} & sides or join.this.args["alias"].args.get("columns"):
        raise Unsupported(REFUSED, inner)
    if {name for name, value in inner.args.items() if value} - KEPT:
        raise Unsupported(REFUSED, inner)
    pairs = list(_taken_pairs(inner, _sources(select)))
    if inner.args.get("from_") and (not pairs or _reads_outside(inner, inner)):
        raise Unsupported(REFUSED, inner)
    return _Lateral(alias, join, select, inner, [one for one, _ in pairs], [one for _, one in pairs])


def _replace(lateral: _Lateral) -> None:
    """Join all rows of the subquery in its place."""
    join, inner, on = lateral.join, lateral.inner, lateral.join.args.get("on")
    if isinstance(on, exp.Boolean) and on.this:
        on = None
    if not inner.args.get("from_"):
        _substitute(lateral, on)
        return
    for window in inner.find_all(exp.Window):
        if window.find_ancestor(exp.Select) is not inner:
            raise Unsupported(REFUSED, window)
        window.set("partition_by", [*(window.args.get("partition_by") or []), *lateral.keys])
    is_grouped = bool(inner.args.get("group") or inner.args.get("having"))
    if not is_grouped and _has_own_aggregate(inner):
        if on is not None:
            if join.side:
                raise Unsupported("a condition on a left join with a lateral aggregate", on)
            lateral.select.where(on, copy=False)  # the subquery has one row for each row before it
            on = None
        _aggregate(lateral)
        join.set("side", "LEFT")
    elif inner.args.get("limit"):
        inner = _ranked(lateral)
    else:
        _list(lateral)
    equalities: list[exp.Expr] = [
        exp.EQ(this=_column(KEY.format(number), lateral.alias), expression=one.copy())
        for number, one in enumerate(lateral.outside)
    ]
    join.set("kind", None)
    join.set("on", exp.and_(*equalities, *([] if on is None else [on])))
    join.this.replace(inner.subquery(exp.to_identifier(lateral.alias, quoted=True), copy=False))


def _substitute(lateral: _Lateral, on: exp.Expr | None) -> None:
    """Compute a subquery without tables, as `(select a.x + 1 as y)`, where its columns are read."""
    inner = lateral.inner
    if on is not None or {name for name, value in inner.args.items() if value} - {"expressions"}:
        raise Unsupported(REFUSED, inner)
    if _has_own_aggregate(inner) or any(any(generators(one)) for one in inner.expressions):
        raise Unsupported(REFUSED, inner)
    outputs = {one.alias_or_name: exp.paren(one.unalias(), copy=True) for one in inner.expressions}
    lateral.join.pop()
    for column in lateral.columns():
        column.replace(outputs[column.name].copy())


def _aggregate(lateral: _Lateral) -> None:
    """Group by the keys; what is computed of the aggregates is computed outside, of no row as well."""
    inner, values, outputs = lateral.inner, list[exp.Expr](), dict[str, exp.Expr]()
    if inner.args.get("limit") or any(one.find(exp.Select, exp.Window) for one in inner.expressions):
        raise Unsupported(REFUSED, inner)

    def outside(one: exp.Expr) -> exp.Expr:
        if not has_aggregate(one) or not isinstance(one, (exp.AggFunc, exp.Filter)):
            return one
        values.append(one)
        value, function = _column(VALUE.format(len(values) - 1), lateral.alias), one.find(exp.AggFunc)
        if isinstance(function, COUNTS):
            return exp.Coalesce(this=value, expressions=[exp.cast(exp.Literal.number(0), "bigint")])
        if not isinstance(function, NULL_IF_EMPTY):
            raise Unsupported("an aggregate of a lateral subquery", one)
        return value

    for one in inner.expressions:
        output = one.unalias().copy().transform(outside)
        if _tables(output) - {lateral.alias} or has_aggregate(output):
            raise Unsupported(REFUSED, one)
        outputs[one.alias_or_name] = output if isinstance(output, exp.Column) else exp.paren(output)
    for column in lateral.columns():
        column.replace(outputs[column.name].copy())
    named = [_named(one.copy(), VALUE.format(number)) for number, one in enumerate(values)]
    inner.set("order", None)
    inner.set("expressions", [*lateral.named_keys, *named])
    inner.set("group", exp.Group(expressions=[one.copy() for one in lateral.keys]))


def _ranked(lateral: _Lateral) -> exp.Select:
    """Count the rows of each key in their order, and return the query of the first ones."""
    inner = lateral.inner
    order, limit = inner.args.get("order"), inner.args["limit"].expression
    is_of_groups = any(inner.args.get(name) for name in ("group", "having", "distinct"))
    if order is None or is_of_groups or not isinstance(limit, exp.Literal) or not limit.is_int:
        raise Unsupported("limit in a lateral subquery without an order, or of groups", inner)
    outputs = {one.alias_or_name: one.unalias() for one in inner.expressions}

    def of_row(one: exp.Expr) -> exp.Expr:
        is_output = isinstance(one, exp.Column) and not one.table and one.name in outputs
        return outputs[one.name].copy() if is_output else one

    keys = [one.copy() for one in lateral.keys]
    place = exp.Window(this=exp.RowNumber(), partition_by=keys, order=order.copy().transform(of_row))
    for name in ("order", "limit"):
        inner.set(name, None)
    inner.set("expressions", [*inner.expressions, *lateral.named_keys, _named(place, PLACE)])
    below = inner.subquery(exp.to_identifier(RANKED, quoted=True), copy=False)
    names = [*outputs, *(KEY.format(number) for number in range(len(keys)))]
    ranked = exp.select(*(_named(_column(name, RANKED), name) for name in names)).from_(below, copy=False)
    return ranked.where(exp.LTE(this=_column(PLACE, RANKED), expression=limit.copy()))


def _list(lateral: _Lateral) -> None:
    """Give each row, or each group, its keys."""
    inner = lateral.inner
    if group := inner.args.get("group"):
        if group.args.get("all") or {name for name, value in group.args.items() if value} - {"expressions"}:
            raise Unsupported(REFUSED, inner)
        for one in lateral.keys:
            group.append("expressions", one.copy())
    elif inner.args.get("having"):
        raise Unsupported(REFUSED, inner)
    inner.set("order", None)
    inner.set("expressions", [*inner.expressions, *lateral.named_keys])


def _taken_pairs(inner: exp.Select, outer: set[str]) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """Take the equalities with rows outside from a query's WHERE: yield the inner and the outer side."""
    where, rest = inner.args.get("where"), []
    for one in conjuncts(where and where.this):
        if not _reads_outside(one, inner):
            rest.append(one.copy())
            continue
        sides = [one.this, one.expression] if isinstance(one, exp.EQ) else []
        inside = next((side for side in sides if _tables(side) and not _reads_outside(side, inner)), None)
        outside = next((side for side in sides if side is not inside), None)
        is_outside = outside is not None and _tables(outside) <= outer
        if inside is None or outside is None or not is_outside or one.find(exp.Select):
            raise Unsupported(REFUSED, one)
        if any(_is_of(column, inner) for column in outside.find_all(exp.Column)):
            raise Unsupported(REFUSED, one)
        yield inside, outside
    inner.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)


def _reads_outside(part: exp.Expr, query: exp.Select) -> bool:
    """Return whether a part of a query reads a column of a source outside the query."""
    return any(one.table and not _is_of(one, query) for one in part.find_all(exp.Column))


def _is_of(column: exp.Column, query: exp.Select, *, below: bool = False) -> bool:
    """Return whether a column is of a source of a query or of one below it; or only of one below it."""
    select = column.find_ancestor(exp.Select)
    while select is not None and not (below and select is query):
        if column.table in _sources(select):
            return True
        select = None if select is query else select.find_ancestor(exp.Select)
    return False


def _has_own_aggregate(inner: exp.Select) -> bool:
    found = [one for part in inner.expressions for one in part.find_all(exp.AggFunc, exp.Anonymous)]
    return any(one.find_ancestor(exp.Select) is inner and has_aggregate(one) for one in found)


def _sources(select: exp.Select) -> set[str]:
    sources = [select.args.get("from_"), *(select.args.get("joins") or [])]
    return {one.this.alias_or_name for one in sources if one is not None}


def _tables(part: exp.Expr) -> set[str]:
    return {column.table for column in part.find_all(exp.Column)}


def _column(name: str, table: str) -> exp.Column:
    return exp.column(name, table, quoted=True)


def _named(part: exp.Expr, name: str) -> exp.Expr:
    return exp.alias_(part, name, quoted=True)
