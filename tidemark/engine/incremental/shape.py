"""What a block does to its rows: the keys that tell which rows of its result a changed row can alter."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from sqlglot import exp

from tidemark.engine.incremental.tree import MAX_NODES, Block, Leaf, Node, SetOperation
from tidemark.engine.incremental.unsupported import Unsupported, as_written

HIDING_WINDOW = "a window by"
AGGREGATES = "agg_funcs"  # Spark's group of aggregate functions
GENERATORS = (exp.Explode, exp.Posexplode, exp.Inline, exp.Stack)


class Shape:
    """The grouping and the windows of a block.

    Attributes:
        groups: the expressions of GROUP BY; None if the block does not aggregate.
        partitions: PARTITION BY of each of its windows.
        row_by_row: whether each row of the result comes from one row of each source.
    """

    def __init__(self, block: Block) -> None:
        self.block = block
        self.groups = _groups(block)
        self.partitions = [list(window.args.get("partition_by") or []) for window in _windows(block)]
        self.row_by_row = (
            self.groups is None and not self.partitions and not block.select.args.get("distinct")
        )

    def hides(self, expression: exp.Expr) -> Unsupported | None:
        """Return why a changed row may alter results with another value of an expression, or None."""
        if self.groups is not None and not _is_of(expression, self.groups):
            what = "an aggregate" if self.groups else "an aggregate without group by"
            return Unsupported(what, self.block.select)
        for window in _windows(self.block):
            keys = list(window.args.get("partition_by") or [])
            if not keys:
                return Unsupported("a window without partition by", window)
            if not _is_of(expression, keys):
                return Unsupported(self._missing(keys), window)
        if next(_special(expression), None) is not None:
            return Unsupported("a subquery, window or generator", expression)
        return None

    def _missing(self, keys: list[exp.Expr]) -> str:
        """Return the reason for a window whose partitions cannot be told from the result."""
        given = list(self.block.outputs.values())
        wanted = [key for key in keys if not any(key == one for one in given)] or keys
        return f"{HIDING_WINDOW} {as_written(wanted[0])}, which is not in the select"


def is_row_by_row(node: Node) -> bool:
    """Return whether a query gives a row for each row of one table, or none."""
    if isinstance(node, Leaf):
        return True
    if not isinstance(node, Block) or len(node.items) != 1 or node.nested or not Shape(node).row_by_row:
        return False
    return all(is_row_by_row(item.node) for item in node.items.values())


def refuse_unsupported(block: Block) -> None:
    """Raise Unsupported for constructs whose result depends on all rows, or that sqlglot does not resolve."""
    arguments = block.select.args
    if arguments.get("limit") or arguments.get("offset"):
        raise Unsupported("limit" if arguments.get("limit") else "offset", block.select)
    for name in ("pivots", "sample", "match", "connect"):
        if arguments.get(name):
            raise Unsupported(name, block.select)
    refuse_levels(block)


def refuse_levels(block: Block) -> None:
    """Raise Unsupported for groups of several levels."""
    group = block.select.args.get("group")
    if group and group.find(exp.Rollup, exp.Cube, exp.GroupingSets):
        raise Unsupported("rollup, cube or grouping sets", group)


def refuse_set_operation(node: SetOperation) -> None:
    """Raise Unsupported for a set operation that is limited, or that goes by the names of columns."""
    for name in ("limit", "offset"):
        if node.operation.args.get(name):
            raise Unsupported(name, node.operation)
    if node.operation.args.get("by_name"):
        raise Unsupported("union by name", node.operation)


@lru_cache(maxsize=MAX_NODES)
def _groups(block: Block) -> list[exp.Expr] | None:
    group = block.select.args.get("group")
    if group is None:
        aggregates = any(has_aggregate(one) for one in block.outputs.values()) or block.select.args.get(
            "having"
        )
        return [] if aggregates else None
    if group.args.get("all"):
        return [one for one in block.outputs.values() if not has_aggregate(one)]
    return list(group.expressions)


def has_aggregate(expression: exp.Expr) -> bool:
    """Return whether an expression has an aggregate function that is not computed over a window."""
    for found in expression.find_all(exp.AggFunc, exp.Anonymous):
        if isinstance(found, exp.Anonymous) and found.meta.get("group") != AGGREGATES:
            continue
        above = found.parent
        while isinstance(above, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)):
            above = above.parent
        if not isinstance(above, exp.Window):
            return True
    return False


@lru_cache(maxsize=MAX_NODES)
def _windows(block: Block) -> tuple[exp.Window, ...]:
    return tuple(block.select.find_all(exp.Window))


def _is_of(expression: exp.Expr, keys: list[exp.Expr]) -> bool:
    """Return whether an expression is computed from keys alone."""
    if any(expression == key for key in keys):
        return True
    if isinstance(expression, (exp.Column, exp.AggFunc, exp.Window, exp.Placeholder)):
        return False
    return all(_is_of(child, keys) for child in expression.iter_expressions())


def generators(expression: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the functions of an expression that give any number of rows."""
    yield from expression.find_all(*GENERATORS)
    yield from _of_groups(expression, "generator_funcs")


def _special(expression: exp.Expr) -> Iterator[exp.Expr]:
    yield from expression.find_all(exp.Window, exp.Placeholder)
    yield from generators(expression)
    yield from _of_groups(expression, AGGREGATES, "window_funcs")


def _of_groups(expression: exp.Expr, *groups: str) -> Iterator[exp.Expr]:
    """Yield the functions of these groups of Spark that sqlglot does not know."""
    for function in expression.find_all(exp.Anonymous):
        if function.meta.get("group") in groups:
            yield function
