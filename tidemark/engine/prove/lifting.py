"""Compute a query for many histories in one statement.

Each table gets a column that names the history of a row, and each block of the query keeps histories apart:
it joins rows of one history, and groups and partitions by it.
"""

from __future__ import annotations

from sqlglot import exp

from tidemark.engine.incremental.links import ADDED
from tidemark.engine.incremental.partials import STAGED, of_core
from tidemark.engine.incremental.peeling import Peeled, over, without_limit
from tidemark.engine.incremental.shape import Shape
from tidemark.engine.incremental.tree import (
    Block,
    Item,
    Leaf,
    Nested,
    Node,
    SetOperation,
    leaves,
    placeholder,
    tables_of,
)
from tidemark.engine.incremental.unsupported import Unsupported

HISTORY = "__tidemark_history"
HISTORIES = "prove_histories"  # the view of all histories
PLACE = "__tidemark_place"


def lifted(node: Node) -> Node:
    """Return a query's tree with the history as the last column of its result.

    Args:
        node: the query.

    Raises:
        Unsupported: if the query cannot be computed for many histories at once.
    """
    if isinstance(node, Leaf):
        return Leaf(node.table, {**node.columns, HISTORY: "int"})
    if isinstance(node, SetOperation):
        return SetOperation(node.operation, _part(node.left), _part(node.right))
    if (peeled := without_limit(node)) is not None:
        return _limited(node, peeled)
    shape = Shape(node)
    select = node.select.copy()
    block = Block(select)
    sides = {item.side for item in node.items.values()}
    if len(node.items) > 2 and sides & {"right", "full"}:
        raise Unsupported("a right or full join of more than two sources")
    history = _lifted_items(node, block)
    if history is None:
        raise Unsupported("a select without from")
    for alias, nested in node.nested.items():
        inner = _within(lifted(nested.node), history, nested.kind)
        block.nested[alias] = Nested(alias, inner, nested.kind, nested.outer)
    select.append("expressions", exp.alias_(history.copy(), HISTORY, quoted=True))
    for window in select.find_all(exp.Window):
        window.append("partition_by", history.copy())
    if shape.groups is not None:
        group = select.args.get("group") or exp.Group()
        if not group.args.get("all"):
            group.append("expressions", history.copy())
        select.set("group", group)
    return block


def of_no_rows(node: Node) -> Block | None:
    """Return the rows of an aggregate without GROUP BY in histories without rows; None for other queries.

    Lifted, it is an aggregate by history, which has no group for them.
    """
    if not isinstance(node, Block) or Shape(node).groups != []:
        return None
    empty = Block(node.select.copy().where("false", copy=False), node.items, node.nested)
    select = exp.select(*(exp.column(name, table="empty", quoted=True) for name in node.names))
    select = select.select(exp.alias_(_history(HISTORIES), HISTORY, quoted=True))
    select.set("from_", exp.From(this=placeholder(HISTORIES)))
    same = exp.EQ(this=_history("own"), expression=_history(HISTORIES))
    select.append("joins", exp.Join(this=placeholder("empty"), kind="CROSS"))
    select.append("joins", exp.Join(this=placeholder("own"), side="LEFT", kind="ANTI", on=same))
    histories = Leaf(HISTORIES, {HISTORY: "int"})
    items = (
        Item(HISTORIES, histories, "from"),
        Item("empty", empty, "cross"),
        Item("own", lifted(node), "anti", same),
    )
    return Block(select, {item.alias: item for item in items})


def _part(node: Node) -> Node:
    """Return a lifted part of a query, which has a row in each history if it always gives one."""
    found, added = lifted(node), of_no_rows(node)
    return found if added is None else SetOperation(exp.Union(distinct=False), found, added)


def _limited(node: Block, peeled: Peeled) -> Block:
    """Return a lifted query with LIMIT: the first rows of each history."""
    top = peeled.top(peeled.core, dict.fromkeys(peeled.core.names, "string"))
    assert isinstance(top, Block)  # noqa: S101
    first, last = (node.select.args.get(part) for part in ("offset", "limit"))
    skipped = first.expression.copy() if first else exp.Literal.number(0)
    place = exp.Window(
        this=exp.RowNumber(), partition_by=[_history(STAGED)], order=top.select.args["order"].copy()
    )
    columns = [of_core(name) for name in node.names]
    inner = exp.select(*(one.copy() for one in top.select.expressions)).select(
        exp.alias_(place, PLACE, quoted=True), exp.alias_(_history(STAGED), HISTORY, quoted=True)
    )
    conditions: list[exp.Expr] = [exp.GT(this=of_core(PLACE), expression=skipped.copy())]
    if last:
        end = exp.Add(this=skipped, expression=last.expression.copy())
        conditions.append(exp.LTE(this=of_core(PLACE), expression=end))
    outer = exp.select(*(exp.alias_(one.copy(), one.name, quoted=True) for one in columns))
    outer = outer.select(exp.alias_(_history(STAGED), HISTORY, quoted=True)).where(*conditions)
    return over(outer, over(inner, lifted(peeled.core), {}), {})


def _lifted_items(node: Block, block: Block) -> exp.Expr | None:
    """Give a lifted block its sources, joined within a history; return the history of its rows."""
    history: exp.Expr | None = None
    for alias, item in node.items.items():
        if next(leaves(item.node), None) is None and item.side in ("inner", "cross", "left"):
            block.items[alias] = item  # constants are the same in each history
            continue
        own, on = _history(alias), item.on
        if history is not None:
            same = exp.EQ(this=own.copy(), expression=history.copy())
            on = exp.and_(on, same) if on is not None else same
            _set_join(block.select, alias, on)
        block.items[alias] = Item(alias, _part(item.node), "inner" if item.side == "cross" else item.side, on)
        if history is None or item.side == "right":
            history = own
        elif item.side == "full":
            history = exp.Coalesce(this=history, expressions=[own])
    return history


def _within(node: Node, outer: exp.Expr, kind: str) -> Node:
    """Return a lifted subquery that sees only rows of the outer row's history."""
    if kind == "in a join":
        raise Unsupported("a subquery in a join condition")
    if not isinstance(node, Block):
        raise Unsupported("a subquery with union")
    if tables_of(outer) & node.items.keys():
        raise Unsupported("a subquery with the alias of a source outside of it")
    select = node.select
    inner = select.expressions[-1].unalias().copy()
    if kind in ("in", "not in", "scalar"):
        select.expressions[-1].pop()
    if kind == "scalar":
        _to_one_row(select)
    select.where(exp.EQ(this=inner, expression=outer.copy()), copy=False)
    return node


def _to_one_row(select: exp.Select) -> None:
    """Let a subquery for a value give one row for each history, even for no rows."""
    group = select.args.get("group")
    if group is not None:
        if group.args.get("all") or group.expressions[:-1]:
            raise Unsupported("a scalar subquery with groups")
        select.set("group", None)
        return
    # a query that may give one row at most: two rows would stop a run, and the statement of all histories
    if select.find(exp.Window) or select.args.get("limit"):
        raise Unsupported("a scalar subquery with a window or limit")
    select.set("distinct", None)
    one = select.expressions[0]
    value = exp.Max(this=one.unalias().copy())
    one.replace(exp.alias_(value, one.alias_or_name, quoted=True))


def _set_join(select: exp.Select, alias: str, on: exp.Expr) -> None:
    for join in select.args["joins"]:
        if join.this.alias_or_name == alias:
            join.set("on", on.copy())
            if join.kind == "CROSS":
                join.set("kind", None)


def _history(alias: str) -> exp.Column:
    column = exp.column(HISTORY, table=alias, quoted=True)
    column.type = exp.DataType.build("int")
    column.meta[ADDED] = True
    return column
