"""Take an aggregate apart into the parts of its groups, which changed rows update, and a SELECT over them.

The parts are keys, counts, sums, minima and maxima. A mean follows from a sum and a count; whether a sum has
a value, and a group has rows, follows from counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import sqlglot
from sqlglot import exp

from tidemark.engine.incremental.measures import Measure, is_small
from tidemark.engine.incremental.partials import STAGED, Columns, aggregates_of, of_core, of_the_same_rows
from tidemark.engine.incremental.peeling import OF_CORE, Peeled, bare, has_levels, is_limited, over
from tidemark.engine.incremental.safety import TYPE
from tidemark.engine.incremental.shape import Shape
from tidemark.engine.incremental.tree import Block, Node
from tidemark.engine.incremental.unsupported import Unsupported

DECIMAL = re.compile(r"decimal\((\d+), ?(\d+)\)")
MORE_DIGITS = 10  # that Spark gives the type of a sum
MOST_DIGITS, MOST_SCALE = 33, 14  # of a sum whose quotient keeps the digits of the mean


@dataclass
class _Parts:
    """The columns of the core, by the expression that each computes."""

    columns: dict[exp.Expr, str] = field(default_factory=dict)

    def part(self, expression: exp.Expr) -> str:
        return self.columns.setdefault(expression.copy(), f"part_{len(self.columns)}")


def without_expressions(block: Block) -> Peeled | None:
    """Peel expressions of aggregates, HAVING and windows over groups off the aggregates themselves.

    So is a mean of all rows: there are no smaller groups to compute it again for.
    """
    shape, calls = Shape(block), aggregates_of(block.select)
    has_mean = any(isinstance(_function(call), exp.Avg) for call in calls)
    is_plain = (
        not block.select.args.get("having")
        and not shape.partitions
        and not (shape.groups == [] and has_mean)
        and all(one in (shape.groups or ()) or one in calls for one in block.outputs.values())
    )
    return None if is_plain else with_counts(block)


def with_counts(block: Block) -> Peeled | None:
    """Peel a SELECT with aggregates off their parts.

    The core counts the rows of each group and the values of each sum: so removed rows can be subtracted
    without a look at the other rows of their group.
    """
    shape = Shape(block)
    if shape.groups is None or has_levels(block) or block.select.args.get("distinct") or is_limited(block):
        return None
    top = bare(block.select, (*OF_CORE, "order", "group", "having"))
    if having := block.select.args.get("having"):
        top.set("where", exp.Where(this=having.this.copy()))
    if top.find(exp.Placeholder):
        return None
    parts = _Parts({one.copy(): f"key_{number}" for number, one in enumerate(shape.groups)})
    for call in aggregates_of(top):
        _add_parts(parts, call)
    if shape.groups:
        parts.part(exp.Count(this=exp.Star(), big_int=True))
    probe = _top(top, parts, {})
    if any(column.table not in ("", STAGED) for column in probe.find_all(exp.Column)):
        return None
    core = bare(block.select, ("order", "having", "windows", "qualify"))
    columns = [exp.alias_(one.copy(), name, quoted=True) for one, name in parts.columns.items()]
    core.set("expressions", columns)
    return Peeled(Block(core, block.items, block.nested), _over(top, parts))


def _over(top: exp.Select, parts: _Parts) -> Callable[[Node, Columns], Block]:
    return lambda node, types: over(_top(top, parts, types), node, types)


def _add_parts(parts: _Parts, call: exp.Expr) -> None:
    """Add the parts that an aggregate follows from."""
    found = _function(call)
    if isinstance(found, exp.Avg) and _follows(found):
        parts.part(_sum(call))
        parts.part(_count(call))
        return
    parts.part(call)
    if isinstance(found, exp.Sum) and not isinstance(found.this, exp.Distinct):
        parts.part(_count(call))


def _function(call: exp.Expr) -> exp.Expr:
    return call.this if isinstance(call, exp.Filter) else call


def _sum(call: exp.Expr) -> exp.Expr:
    return of_the_same_rows(call, exp.Sum(this=_function(call).this.copy()))


def _count(call: exp.Expr) -> exp.Expr:
    return of_the_same_rows(call, exp.Count(this=_function(call).this.copy(), big_int=True))


def _follows(mean: exp.Avg) -> bool:
    """Return whether a mean follows from a sum and a count: that of small integers or of decimals."""
    value = mean.this
    kind = value.type if isinstance(value, exp.Expr) else None
    is_decimal = isinstance(kind, exp.DataType) and kind.this == TYPE.DECIMAL
    return not isinstance(value, exp.Distinct) and (is_decimal or is_small(Measure("", "avg", value)))


def _top(select: exp.Select, parts: _Parts, types: Columns) -> exp.Select:
    """Return the SELECT over the parts.

    Args:
        select: the SELECT, with its aggregates.
        parts: the parts.
        types: the types of their columns; empty if only the names of the columns matter.

    Raises:
        Unsupported: if a mean has more digits than its sum and its count tell.
    """

    def replaced(part: exp.Expr) -> exp.Expr:
        if part in parts.columns:
            return of_core(parts.columns[part])
        is_mean = isinstance(_function(part), exp.Avg) and _sum(part) in parts.columns
        return _mean(part) if is_mean else part

    def _mean(call: exp.Expr) -> exp.Expr:
        total, number = parts.columns[_sum(call)], parts.columns[_count(call)]
        kind = types.get(total, "bigint")
        if kind == "bigint":
            return exp.Anonymous(this="try_divide", expressions=[of_core(total), of_core(number)])
        return mean_of_decimals(of_core(total).sql("spark"), of_core(number).sql("spark"), kind)

    return cast("exp.Select", select.copy().transform(replaced))


def mean_of_decimals(total: str, number: str, kind: str) -> exp.Expr:
    """Return the mean of decimals as Spark computes it: rounded half up to four more digits than they have.

    SQL's own division would round twice. So the mean is the quotient of what the count divides without a
    remainder, and one unit more if twice the remainder makes a unit.

    Args:
        total: their sum (SQL).
        number: their number (SQL); 0 gives NULL.
        kind: the type of the sum.

    Raises:
        Unsupported: if the sum has too many digits.
    """
    digits = DECIMAL.fullmatch(kind)
    if digits is None or int(digits[1]) > MOST_DIGITS or int(digits[2]) > MOST_SCALE:
        raise Unsupported("an average of decimals with more than 23 digits, or 14 behind the point")
    scale = int(digits[2]) + 4
    result = f"decimal({int(digits[1]) - MORE_DIGITS + 4}, {scale})"
    unit = f"0.{'0' * (scale - 1)}1"
    count = f"cast(nullif({number}, 0) as decimal(19, 0))"
    rest = f"abs({total}) % ({count} * {unit})"
    quotient = f"cast((abs({total}) - {rest}) / {count} as {result})"
    more = f"if(({rest}) * 2 >= {count} * {unit}, {unit}, 0)"
    mean = f"({quotient} + {more}) * cast(if({total} < 0, -1, 1) as decimal(1, 0))"
    return sqlglot.parse_one(f"cast({mean} as {result})", dialect="spark")
