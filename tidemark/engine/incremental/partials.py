"""An aggregate over partial results: those of smaller groups, from which its own are made exactly.

That holds for counts, minima and maxima, and for sums in the type of the sum (Gray et al., Data Cube, 1997,
call such aggregates distributive).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from tidemark.engine.incremental.measures import Measure, is_small
from tidemark.engine.incremental.shape import AGGREGATES, Shape
from tidemark.engine.incremental.tree import Block

Columns = Mapping[str, str]
STAGED = "__tidemark_staged"  # the alias of the core's table
LEVELS = (exp.Rollup, exp.Cube, exp.GroupingSets)


@dataclass(frozen=True)
class Partials:
    """An aggregate in two steps.

    Attributes:
        core: the SELECT of the partial results.
        top: gives the SELECT over them, from the types of their columns.
    """

    core: exp.Select
    top: Callable[[Columns], exp.Select]


@dataclass
class _Parts:
    """The columns of the core, by the expression that each computes."""

    keys: dict[exp.Expr, str] = field(default_factory=dict)
    values: dict[exp.Expr, str] = field(default_factory=dict)
    sums: dict[exp.Expr, str] = field(default_factory=dict)

    def value(self, expression: exp.Expr) -> str:
        """Return the column of a grouping expression: a key, or a value of which distinct ones count."""
        if expression in self.keys:
            return self.keys[expression]
        return self.values.setdefault(expression.copy(), f"value_{len(self.values)}")

    def partial(self, call: exp.Expr) -> str:
        """Return the column of a partial result."""
        return self.sums.setdefault(call.copy(), f"part_{len(self.sums)}")


def partial_aggregates(block: Block) -> Partials | None:
    """Return an aggregate in two steps; None if its result does not follow from smaller groups.

    It does for `count(distinct …)`, of which each value is a group, and for the levels of ROLLUP, CUBE and
    GROUPING SETS.
    """
    shape, arguments = Shape(block), block.select.args
    group = arguments.get("group")
    others = any(arguments.get(name) for name in ("distinct", "limit", "offset"))
    if shape.groups is None or shape.partitions or others or (group and group.args.get("all")):
        return None
    parts = _Parts()
    for key in _keys(group):
        if not isinstance(key, exp.Literal):
            parts.keys.setdefault(key.copy(), f"key_{len(parts.keys)}")
    top = block.select.copy()
    for name in ("joins", "where", "laterals", "order", "from_"):
        top.set(name, None)
    if top.find(exp.Placeholder):
        return None
    wanted = {id(one): one for one in aggregates_of(top)}
    if any(_over({}, parts, one) is None for one in wanted.values()):
        return None
    if not parts.values and not (group and group.find(*LEVELS)):
        return None
    core = block.select.copy()
    for name in ("having", "order", "windows"):
        core.set(name, None)
    grouped = [*parts.keys.items(), *parts.values.items()]
    core.set(
        "expressions",
        [exp.alias_(one.copy(), name, quoted=True) for one, name in [*grouped, *parts.sums.items()]],
    )
    core.set("group", exp.Group(expressions=[one.copy() for one, _ in grouped]))
    return Partials(core, lambda types: _top(top, parts, types))


def _keys(group: exp.Expr | None) -> list[exp.Expr]:
    """Return all expressions of GROUP BY, at any level."""
    found: list[exp.Expr] = []
    waiting = list(group.iter_expressions()) if group is not None else []
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, (*LEVELS, exp.Tuple, exp.Paren)):
            waiting = [*one.iter_expressions(), *waiting]
        else:
            found.append(one)
    return found


def aggregates_of(select: exp.Expr) -> list[exp.Expr]:
    """Return the aggregates of a SELECT, with their filters."""
    found: list[exp.Expr] = []
    for call in select.find_all(exp.AggFunc, exp.Anonymous):
        is_other = isinstance(call, exp.Anonymous) and call.meta.get("group") != AGGREGATES
        whole = call.parent if isinstance(call.parent, exp.Filter) else call
        above = whole.parent
        while isinstance(above, (exp.IgnoreNulls, exp.RespectNulls)):
            above = above.parent
        if not is_other and not isinstance(call, (exp.Grouping, exp.GroupingId)):
            found += [] if isinstance(above, exp.Window) else [whole]
    return found


def _over(types: Columns, parts: _Parts, call: exp.Expr) -> exp.Expr | None:
    """Return an aggregate over partial results; None if it does not follow from them.

    Args:
        types: the types of the core's columns, of which sums have their type; empty to find out only.
        parts: the columns of the core; those that the aggregate needs are added.
        call: the aggregate.
    """
    bare = call.this if isinstance(call, exp.Filter) else call
    if bare.args.get("expressions"):
        return None
    if isinstance(bare.this, exp.Distinct):
        return _distinct(parts, call) if isinstance(call, exp.Count) else None
    if isinstance(bare, exp.Avg):
        return _mean(parts, call, bare.this) if is_small(Measure("", "avg", bare.this)) else None
    if not isinstance(bare, (exp.Count, exp.Sum, exp.Min, exp.Max)):
        return None
    name = parts.partial(call)
    found = exp.Sum if isinstance(bare, exp.Count) else type(bare)
    value = found(this=of_core(name))
    if isinstance(bare, exp.Count):
        return exp.Coalesce(this=value, expressions=[exp.Literal.number(0)])
    is_sum = isinstance(bare, exp.Sum)
    return exp.cast(value, types.get(name, "bigint"), dialect="spark") if is_sum else value


def _distinct(parts: _Parts, call: exp.Expr) -> exp.Expr | None:
    values = call.this.expressions
    one = of_core(parts.value(values[0]))
    return exp.Count(this=exp.Distinct(expressions=[one])) if len(values) == 1 else None


def _mean(parts: _Parts, call: exp.Expr, value: exp.Expr) -> exp.Expr:
    """Return the mean of small integers, whose sum a double holds."""
    sums: list[exp.Expr] = []
    for function in (exp.Sum, exp.Count):
        inner = of_the_same_rows(call, function(this=value.copy()))
        sums.append(exp.Sum(this=of_core(parts.partial(inner))))
    return exp.Anonymous(this="try_divide", expressions=sums)


def of_the_same_rows(call: exp.Expr, made: exp.Expr) -> exp.Expr:
    """Return an aggregate with the filter of another one, if that has one."""
    return exp.Filter(this=made, expression=call.expression.copy()) if isinstance(call, exp.Filter) else made


def _top(select: exp.Select, parts: _Parts, types: Columns) -> exp.Select:
    """Return the SELECT over the partial results."""

    def replaced(part: exp.Expr) -> exp.Expr:
        if part in parts.keys:
            return of_core(parts.keys[part])
        return over.get(id(part)) or part

    top = select.copy()
    over = {id(one): _over(types, parts, one) for one in aggregates_of(top)}
    return top.transform(replaced, copy=False)  # type: ignore[return-value]


def of_core(name: str) -> exp.Column:
    """Return a column of the core."""
    return exp.column(name, table=STAGED, quoted=True)
