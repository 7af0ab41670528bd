"""The measures that changed rows of an aggregate can update: count, sum, min, max, and avg beside its sum."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlglot import exp

from tidemark.engine.incremental.safety import TYPE, WHOLE
from tidemark.engine.incremental.shape import Shape, refuse_unsupported
from tidemark.engine.incremental.tree import Block, Item, Leaf, Node
from tidemark.engine.incremental.unsupported import Unsupported

FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Min: "min",
    exp.Max: "max",
    exp.Avg: "avg",
}
ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Paren)


@dataclass(frozen=True)
class Measure:
    """One measure.

    Attributes:
        name: its column.
        function: count, sum, min, max or avg; `rows` for `count(*)`.
        value: the expression that it aggregates; None for `rows`.
        zero: whether it is 0 for a group without values, as `coalesce(sum(x), 0)` is.
        has_value: whether the expression is never NULL, so that a group with rows has a value.
    """

    name: str
    function: str
    value: exp.Expr | None
    zero: bool = False
    has_value: bool = False


@dataclass(frozen=True)
class Aggregate:
    """An aggregate whose groups are the rows of a model.

    Attributes:
        block: the SELECT with GROUP BY.
        keys: the grouping expressions by column of the result.
        measures: the measures.
        is_global: whether there is no GROUP BY, so that the only group stays when it has no rows.
    """

    block: Block
    keys: dict[str, exp.Expr]
    measures: tuple[Measure, ...]
    is_global: bool = False

    def counter(self, measure: Measure) -> Measure | None:
        """Return the measure that counts the values that a sum or an average is made of."""
        for one in self.measures:
            counts_rows = one.function == "rows" and measure.has_value
            if counts_rows or (one.function == "count" and one.value == measure.value):
                return one
        return None

    def total(self, measure: Measure) -> Measure | None:
        """Return the measure that sums the values of an average."""
        return next(
            (one for one in self.measures if one.function == "sum" and one.value == measure.value), None
        )


def may_overflow(measure: Measure) -> bool:
    """Return whether a sum may be NULL because it overflowed: ten thousand million rows fit 28 digits."""
    if measure.value is None:
        return False
    kinds = [part.type for part in measure.value.find_all(exp.Column, exp.Cast)]
    digits = [
        kind.expressions[0].name for kind in kinds if kind and kind.this == TYPE.DECIMAL and kind.expressions
    ]
    return any(int(one) > 28 for one in digits)


def is_small(measure: Measure) -> bool:
    """Return whether a measure is of integers of at most 32 bits, whose sums a double holds."""
    kind = measure.value and measure.value.type
    return isinstance(kind, exp.DataType) and kind.this in WHOLE and kind.this != TYPE.BIGINT


def aggregate_of(root: Node, key: Collection[str], never_null: Collection[str]) -> Aggregate:
    """Return the aggregate that a query consists of.

    Args:
        root: the query.
        key: the columns of the result's key.
        never_null: columns that hold no NULL, as `schema.table.column`.

    Raises:
        Unsupported: if the query is something else, or has a measure that changed rows cannot update.
    """
    block, renamed = _unwrapped(root)
    refuse_unsupported(block)
    shape = Shape(block)
    if shape.groups is None:
        raise Unsupported("no aggregate")
    if shape.partitions or block.select.args.get("distinct") or block.select.args.get("having"):
        raise Unsupported("having" if block.select.args.get("having") else "a window or distinct over groups")
    keys: dict[str, exp.Expr] = {}
    measures: list[Measure] = []
    for name, inner in renamed.items():
        expression = block.outputs[inner]
        if expression in shape.groups or (name in key and isinstance(expression, exp.Literal)):
            keys[name] = expression
        else:
            measures.append(_measure(name, expression, block, never_null))
    missing = [one for one in shape.groups if one not in keys.values()]
    if missing or {name.lower() for name in keys} != {name.lower() for name in key}:
        raise Unsupported("a unique_key that is not the group by")
    found = Aggregate(block, keys, tuple(measures), is_global=not shape.groups)
    for measure in measures:
        if measure.function == "avg" and (found.total(measure) is None or found.counter(measure) is None):
            raise Unsupported(f"{measure.name}, an average without its sum and its count in the table")
    return found


def _unwrapped(root: Node) -> tuple[Block, dict[str, str]]:
    """Return the block below SELECTs that only choose columns, and its column for each of the result's."""
    if not isinstance(root, Block):
        raise Unsupported("no group by")
    renamed = {name: name for name in root.names}
    while True:
        item = only_item(root)
        if item is None or not isinstance(item.node, Block):
            return root, renamed
        outputs = root.outputs
        renamed = {name: outputs[inner].name for name, inner in renamed.items()}
        root = item.node


def only_item(block: Block) -> Item | None:
    """Return the source of a block that only chooses columns of it."""
    arguments = block.select.args
    does_more = [
        name
        for name in ("where", "group", "having", "distinct", "limit", "offset", "laterals")
        if arguments.get(name)
    ]
    only_columns = all(isinstance(one, exp.Column) for one in block.outputs.values())
    if len(block.items) != 1 or block.nested or does_more or not only_columns:
        return None
    return next(iter(block.items.values()))


def _measure(name: str, expression: exp.Expr, block: Block, never_null: Collection[str]) -> Measure:
    zero = False
    if isinstance(expression, exp.Coalesce) and isinstance(expression.this, exp.Sum | exp.Filter):
        if [one.sql() for one in expression.expressions] != ["0"]:
            raise Unsupported(expression.sql("spark"))
        expression, zero = expression.this, True
    condition = None
    if isinstance(expression, exp.Filter):
        condition, expression = expression.expression.this, expression.this
    function = FUNCTIONS.get(type(expression))
    value = expression.this
    if (
        function is None
        or value is None
        or isinstance(value, exp.Distinct)
        or expression.args.get("expressions")
    ):
        raise Unsupported(expression.sql("spark"))
    if zero and function != "sum":
        raise Unsupported(expression.sql("spark"))
    is_all = function == "count" and isinstance(value, exp.Star | exp.Literal)
    if is_all and condition is None:
        return Measure(name, "rows", None)
    if is_all:
        value = exp.Literal.number(1)
    if condition is not None:
        value = exp.If(this=condition.copy(), true=value.copy(), false=exp.Null())
    has_value = condition is None and _has_value(value, block, never_null)
    if function == "count" and has_value:
        return Measure(name, "rows", None)
    return Measure(name, function, value, zero, has_value)


def _has_value(value: exp.Expr, block: Block, never_null: Collection[str]) -> bool:
    """Return whether an expression of a block's sources is never NULL."""
    if isinstance(value, exp.Literal):
        return True
    if isinstance(value, ARITHMETIC):
        return all(_has_value(part, block, never_null) for part in value.iter_expressions())
    if isinstance(value, exp.Coalesce):
        return any(_has_value(part, block, never_null) for part in [value.this, *value.expressions])
    return isinstance(value, exp.Column) and _column_has_value(value, block, never_null)


def _column_has_value(column: exp.Column, block: Block, never_null: Collection[str]) -> bool:
    item = block.items.get(column.table)
    if item is None or any(other.side in ("left", "right", "full") for other in block.items.values()):
        return False
    if isinstance(item.node, Leaf):
        return f"{item.node.table}.{column.name}" in never_null
    return (
        isinstance(item.node, Block)
        and Shape(item.node).groups is None
        and _has_value(item.node.outputs[column.name], item.node, never_null)
    )
