"""Limits that leave the rows of a query as they are: of an aggregate of all rows, which has one row."""

from __future__ import annotations

from sqlglot import exp

from tidemark.engine.incremental.shape import Shape, generators
from tidemark.engine.incremental.tree import Block, Leaf, Node, SetOperation, with_children


def without_idle_limits(node: Node) -> Node:
    """Return a query without LIMIT, and without the order for it, where there is one row at most."""
    if isinstance(node, Leaf):
        return node
    if isinstance(node, SetOperation):
        return SetOperation(node.operation, without_idle_limits(node.left), without_idle_limits(node.right))
    block = with_children(node, lambda child, _: without_idle_limits(child))
    if not _is_idle(block):
        return block
    select = block.select.copy()
    for part in ("limit", "order"):
        select.set(part, None)
    return Block(select, block.items, block.nested)


def _is_idle(block: Block) -> bool:
    arguments = block.select.args
    limit = arguments.get("limit")
    if not limit or arguments.get("offset") or arguments.get("laterals") or Shape(block).groups != []:
        return False
    if any(any(generators(one)) for one in block.outputs.values()):
        return False
    number = limit.args.get("expression")
    return isinstance(number, exp.Literal) and number.is_int and int(number.this) > 0
