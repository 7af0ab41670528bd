"""The path of a table's rows to the result of a query: where they stop being rows of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from tidemark.engine.incremental.equalities import equalities
from tidemark.engine.incremental.shape import Shape, refuse_levels, refuse_set_operation
from tidemark.engine.incremental.tree import Block, Leaf, Node, SetOperation, leaves
from tidemark.engine.incremental.unsupported import Unsupported


@dataclass(frozen=True)
class Lowest:
    """The lowest part of a query that makes one row of many, or the whole query.

    Attributes:
        node: the part.
        keys: the keys of the result that are columns of it, with their names there.
        is_exact: whether no condition above it drops rows of it.
        column: the column of it that is the column of the result which was asked for; empty if none is.
    """

    node: Node
    keys: dict[str, str]
    is_exact: bool
    column: str = ""


def lowest(root: Node, leaf: Leaf, keys: Sequence[str], column: str = "") -> Lowest:
    """Return the lowest part of a query above one of its tables that makes one row of many.

    Args:
        root: the query.
        leaf: the table, at one place where the query reads it.
        keys: columns of the result.
        column: a further column of the result, which may be an aggregate.

    Raises:
        Unsupported: if the rows of the table do not go to the result as rows.
    """
    node, known = root, {name: name for name in keys}
    asked = {column: column} if column in root.names else {}
    found, drops = Lowest(root, known, is_exact=True), False
    while not isinstance(node, Leaf):
        if isinstance(node, Block):
            if ends(node):
                refuse_levels(node)
                shape = Shape(node)
                known = {name: one for name, one in known.items() if shape.hides(node.outputs[one]) is None}
                is_exact = not drops and not node.select.args.get("qualify")
                found = Lowest(node, known, is_exact, asked.get(column, ""))
            drops = drops or _drops(node)
        (below, known), (_, asked) = _below(node, leaf, known), _below(node, leaf, asked)
        node = below
    return found


def _drops(block: Block) -> bool:
    """Return whether a block may drop rows of its sources."""
    arguments = block.select.args
    return len(block.items) > 1 or any(arguments.get(name) for name in ("where", "having", "limit", "offset"))


def _below(node: Block | SetOperation, leaf: Leaf, known: Mapping[str, str]) -> tuple[Node, dict[str, str]]:
    """Return the part of a query that holds the table, and the keys that are columns of it."""
    if isinstance(node, SetOperation):
        child = branch(node, leaf)
        return child, {name: child.names[node.names.index(one)] for name, one in known.items()}
    alias = alias_of(node, leaf)
    found = {}
    for name, one in known.items():
        expression = node.outputs[one].unnest()
        equal = [
            each.right
            for each in equalities(node)
            if each.left == expression and each.replaces and each.same_type
        ]
        for same in (expression, *equal):
            if isinstance(same, exp.Column) and same.table == alias:
                found[name] = same.name
                break
    return node.items[alias].node, found


def ends(node: Node) -> bool:
    """Return whether rows of a query's result are made of many rows of one source."""
    if not isinstance(node, Block):
        return False
    return not Shape(node).row_by_row


def branch(node: SetOperation, leaf: Leaf) -> Node:
    """Return the side of a union that has the table.

    Raises:
        Unsupported: for the other set operations, which compare both sides.
    """
    refuse_set_operation(node)
    if not isinstance(node.operation, exp.Union):
        raise Unsupported(node.operation.key, node.operation)
    return node.left if holds(node.left, leaf) else node.right


def alias_of(block: Block, leaf: Leaf) -> str:
    """Return the source of a block that has the table.

    Raises:
        Unsupported: if it is a subquery in a condition, or one whose columns a join does not give.
    """
    for item in block.items.values():
        if holds(item.node, leaf):
            if item.side in ("semi", "anti"):
                raise Unsupported(f"a {item.side} join", block.select)
            return item.alias
    raise Unsupported("a subquery", block.select)


def holds(node: Node, leaf: Leaf) -> bool:
    return any(found is leaf for found in leaves(node))
