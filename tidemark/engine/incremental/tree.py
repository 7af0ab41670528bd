"""A query as a tree of blocks: each SELECT with the tables and subqueries that it reads.

CTEs are inlined and columns are qualified (parse.py), so each table that is read is one leaf. A block keeps
its SELECT as sqlglot parsed it, with a placeholder for each of its subqueries; `render` puts them back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Union

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from tidemark.engine.incremental.unsupported import Unsupported, name_of

Node = Union["Leaf", "Block", "SetOperation"]
MAX_NODES = 5_000  # of which what is asked hundreds of times is kept; a tree does not change once it is built


@dataclass(eq=False)
class Leaf:
    """A table, where a query reads it. `columns` are its types by name."""

    table: str
    columns: dict[str, str]

    @property
    def names(self) -> list[str]:
        return list(self.columns)


@dataclass(eq=False)
class Item:
    """One source of a block's FROM clause. `side` is `from`, or how it is joined, such as `left`."""

    alias: str
    node: Node
    side: str
    on: exp.Expr | None = None


@dataclass(eq=False)
class Nested:
    """A subquery inside an expression. `outer` is the left of IN.

    `kind` is exists, in, `not in`, scalar or `in a join`.
    """

    alias: str
    node: Node
    kind: str
    outer: exp.Expr | None = None


@dataclass(eq=False)
class Block:
    """A SELECT. Its subqueries are placeholders named after `items` and `nested`."""

    select: exp.Select
    items: dict[str, Item] = field(default_factory=dict)
    nested: dict[str, Nested] = field(default_factory=dict)

    @property
    def outputs(self) -> dict[str, exp.Expr]:
        return {one.alias_or_name: one.unalias() for one in self.select.expressions}

    @property
    def names(self) -> list[str]:
        return [one.alias_or_name for one in self.select.expressions]

    @property
    def where(self) -> list[exp.Expr]:
        where = self.select.args.get("where")
        return conjuncts(where and where.this)

    def children(self) -> Iterator[tuple[str, Node]]:
        for item in self.items.values():
            yield item.alias, item.node
        for nested in self.nested.values():
            yield nested.alias, nested.node


@dataclass(eq=False)
class SetOperation:
    """UNION, INTERSECT or EXCEPT of two queries."""

    operation: exp.SetOperation
    left: Node
    right: Node

    @property
    def names(self) -> list[str]:
        return self.left.names

    def children(self) -> Iterator[tuple[str, Node]]:
        yield "left", self.left
        yield "right", self.right


def with_children(block: Block, change: Callable[[Node, str], Node]) -> Block:
    """Return a block with other queries for its subqueries.

    Args:
        block: the block.
        change: gives the query for a subquery and its kind, which is empty for a source.
    """
    items = {alias: replace(item, node=change(item.node, "")) for alias, item in block.items.items()}
    nested = {alias: replace(one, node=change(one.node, one.kind)) for alias, one in block.nested.items()}
    return Block(block.select, items, nested)


def type_of(node: Node, index: int) -> str | None:
    """Return the type of a column of a query's result, in sqlglot's words; None if it is not known."""
    if isinstance(node, Leaf):
        return list(node.columns.values())[index].lower()
    if isinstance(node, SetOperation):
        kinds = {type_of(node.left, index), type_of(node.right, index)}
        return kinds.pop() if len(kinds) == 1 else None
    kind = node.select.expressions[index].unalias().type
    known = isinstance(kind, exp.DataType) and kind.this != exp.DataType.Type.UNKNOWN
    return str(kind.sql("spark")).lower() if known else None


def leaves(node: Node) -> Iterator[Leaf]:
    """Yield the tables that a query reads, once for each place where it reads them."""
    return iter((node,) if isinstance(node, Leaf) else _leaves_below(node))


@lru_cache(maxsize=MAX_NODES)
def _leaves_below(node: Block | SetOperation) -> tuple[Leaf, ...]:
    return tuple(leaf for _, child in node.children() for leaf in leaves(child))


def reads(node: Node, tables: Collection[str]) -> bool:
    """Return whether a query reads one of these tables."""
    return any(leaf.table in tables for leaf in leaves(node))


def build(scope: Scope) -> Node:
    """Build the tree of a qualified query.

    Args:
        scope: sqlglot's root scope. Its syntax tree is changed.

    Raises:
        Unsupported: if the query has a source that is neither a table nor a subquery.
    """
    expression = scope.expression
    if isinstance(expression, exp.SetOperation):
        left, right = scope.set_operation_scopes
        return SetOperation(expression, build(left), build(right))
    if not isinstance(expression, exp.Select):
        raise Unsupported(type(expression).__name__.lower())
    block = Block(expression)
    for nested in list(scope.subquery_scopes):
        _nest(block, nested)
    if expression.args.get("from_"):
        _take(block, scope, expression.args["from_"], "from")
    for join in expression.args.get("joins") or []:
        _take(block, scope, join, _side(join))
    return block


def _take(block: Block, scope: Scope, holder: exp.From | exp.Join, side: str) -> None:
    source = holder.this
    alias = source.alias_or_name
    below = scope.sources.get(alias)
    if isinstance(below, Scope) and isinstance(source, exp.Subquery):
        node = build(below)
    elif isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier):
        if source.args.get("joins") or source.args.get("sample"):
            raise Unsupported("tablesample" if source.args.get("sample") else "nested join", source)
        node = Leaf(".".join(part.name for part in source.parts).lower(), source.meta.get("columns", {}))
    else:
        raise Unsupported(name_of(source), source)
    block.items[alias] = Item(alias, node, side, holder.args.get("on"))
    source.replace(placeholder(alias))


def _side(join: exp.Join) -> str:
    if join.args.get("using") or join.method:
        raise Unsupported("join … using" if join.args.get("using") else f"{join.method.lower()} join")
    kind, side = join.kind.lower(), join.side.lower()
    if kind in ("semi", "anti"):
        return kind
    if side:
        return side
    return "inner" if join.args.get("on") else "cross"


def _nest(block: Block, scope: Scope) -> None:
    query = scope.expression
    alias = f"__tidemark_nested_{len(block.nested)}"
    holder = query.parent
    kind, outer = "scalar", None
    if isinstance(query.find_ancestor(exp.Join, exp.Select), exp.Join):
        kind = "in a join"
    elif isinstance(holder, exp.Exists):
        kind = "exists"
    elif isinstance(holder, exp.Subquery) and isinstance(holder.parent, exp.In):
        outer = holder.parent.this
        kind = "in" if _is_condition(holder.parent) else "not in"
    elif isinstance(holder, exp.Subquery) and isinstance(holder.parent, (exp.Any, exp.All)):
        raise Unsupported("any or all of a subquery")
    node = build(scope)
    query.replace(exp.Placeholder(this=alias))
    block.nested[alias] = Nested(alias, node, kind, outer)


def _is_condition(part: exp.Expr) -> bool:
    """Return whether a part of a condition keeps the same rows whether it is false or NULL."""
    above = part.parent
    while isinstance(above, (exp.And, exp.Or, exp.Paren)):
        above = above.parent
    return isinstance(above, (exp.Where, exp.Having))


def render(node: Node, leaf: Callable[[Leaf], exp.Query]) -> exp.Query:
    """Return the query of a tree.

    Args:
        node: the tree.
        leaf: gives the query that stands for a table.
    """
    if isinstance(node, Leaf):
        return leaf(node)
    if isinstance(node, SetOperation):
        operation = node.operation.copy()
        operation.set("this", render(node.left, leaf))
        operation.set("expression", render(node.right, leaf))
        return operation
    return fill(node, node.select.copy(), {alias: render(child, leaf) for alias, child in node.children()})


def fill(block: Block, select: exp.Select, queries: dict[str, exp.Query]) -> exp.Select:
    """Put queries in the place of a SELECT's placeholders, by their alias; they become a part of it."""
    for holder in [select.args.get("from_"), *(select.args.get("joins") or [])]:
        if holder is not None:
            alias = holder.this.alias_or_name
            below = queries[alias].subquery(exp.to_identifier(alias, quoted=True), copy=False)
            holder.this.replace(below)
    for placeholder in list(select.find_all(exp.Placeholder)):
        if placeholder.this in queries:
            placeholder.replace(queries[placeholder.this])
    return select


def placeholder(alias: str) -> exp.Table:
    """Return what stands in a SELECT for a source of its block."""
    name = exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
    return exp.Table(this=exp.to_identifier(alias, quoted=True), alias=name)


def conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    """Return conditions that all hold where one does: the parts of AND, and what both sides of OR have."""
    if condition is None:
        return []
    if isinstance(condition, exp.Paren):
        return conjuncts(condition.this)
    if isinstance(condition, exp.And):
        return [*conjuncts(condition.left), *conjuncts(condition.right)]
    if isinstance(condition, exp.Or):
        others = conjuncts(condition.right)
        return [condition, *(part for part in conjuncts(condition.left) if part in others)]
    return [condition]


def tables_of(expression: exp.Expr) -> set[str]:
    """Return the aliases of the sources whose columns an expression uses."""
    return {column.table for column in expression.find_all(exp.Column)}
