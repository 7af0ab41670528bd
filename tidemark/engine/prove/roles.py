"""The columns of a query's sources that decide which rows meet, and in which order they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from tidemark.engine.incremental.tree import Block, Leaf, Node
from tidemark.engine.sqlcheck.order_calls import FUNCTIONS

EQUALITIES = (exp.EQ, exp.NullSafeEQ, exp.In)


def meeting(node: Node) -> frozenset[str]:
    """Return the names of columns that a query compares with others, groups or partitions by."""
    blocks = list(_blocks(node))
    return _followed(blocks, [column for block in blocks for column in _meeting(block)])


def ordering(node: Node) -> frozenset[str]:
    """Return the names of columns that a query orders rows by."""
    blocks = list(_blocks(node))
    return _followed(blocks, [column for block in blocks for column in _ordering(block)])


def depends_on_order(node: Node) -> bool:
    """Return whether a query has a function whose result may depend on the order of its rows."""
    return any(block.select.find(*FUNCTIONS) or _has_rows_frame(block) for block in _blocks(node))


def _blocks(node: Node) -> Iterator[Block]:
    if isinstance(node, Block):
        yield node
    if not isinstance(node, Leaf):
        for _, child in node.children():
            yield from _blocks(child)


def _meeting(block: Block) -> Iterator[exp.Expr]:
    for found in block.select.find_all(*EQUALITIES):
        columns = list(found.find_all(exp.Column))
        if len(columns) > 1 or isinstance(found, exp.In):
            yield from columns
    for nested in block.nested.values():
        if nested.outer is not None and isinstance(nested.node, Block):
            yield nested.outer
            yield from nested.node.select.expressions[:1]
    for item in block.items.values():
        if item.on is not None:
            yield from item.on.find_all(exp.Column)
    group = block.select.args.get("group")
    yield from group.expressions if group else ()
    for window in block.select.find_all(exp.Window):
        yield from window.args.get("partition_by") or ()
    if block.select.args.get("distinct"):
        yield from block.select.expressions


def _ordering(block: Block) -> Iterator[exp.Expr]:
    for order in block.select.find_all(exp.Order):
        yield from order.expressions
    for chosen in block.select.find_all(exp.ArgMax, exp.ArgMin):
        yield chosen.expression


def _has_rows_frame(block: Block) -> bool:
    specs = block.select.find_all(exp.WindowSpec)
    return any(str(spec.args.get("kind")).upper() == "ROWS" for spec in specs)


def _followed(blocks: Iterable[Block], parts: Iterable[exp.Expr]) -> frozenset[str]:
    """Return the names of columns, and of those that they are computed from in the blocks below."""
    names = {column.name for part in parts for column in part.find_all(exp.Column)}
    outputs = [(name, one) for block in blocks for name, one in block.outputs.items()]
    while True:
        more = {
            column.name
            for name, one in outputs
            if name in names and not one.find(exp.AggFunc, exp.Window)
            for column in one.find_all(exp.Column)
        }
        if more <= names:
            return frozenset(names)
        names |= more
