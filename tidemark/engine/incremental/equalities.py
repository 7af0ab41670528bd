"""The equalities between the sources of a block: they tell which rows of one belong to which of another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial

from sqlglot import exp

from tidemark.engine.incremental.safety import OF_MOMENTS, WHOLE
from tidemark.engine.incremental.tree import MAX_NODES, Block, Item, Node, conjuncts, tables_of

NEVER = "*"
SIMPLE = {
    exp.DataType.Type[name]
    for name in ("TEXT", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPNTZ", "BOOLEAN", "BINARY")
}
# what is NULL where a part of it is NULL
STRICT = (
    exp.EQ,
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.Paren,
    exp.Cast,
    exp.DataType,
    exp.DataTypeParam,
    exp.Var,
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Neg,
    exp.Lower,
    exp.Upper,
    *OF_MOMENTS,
)


@dataclass(frozen=True)
class Equality:
    """`left = right`, where each side uses the columns of one source.

    Attributes:
        sources: the aliases of the two sources.
        replaces: whether the left side may be replaced by the right one in each row of the result for which
            the right source has a row.
        owner: the source that must have a row for the equality to hold; empty if it always holds; NEVER for
            a full join, whose result has rows of one side only.
        null_safe: whether it is `left <=> right`.
    """

    left: exp.Expr
    right: exp.Expr
    sources: tuple[str, str]
    replaces: bool
    owner: str = ""
    null_safe: bool = False

    @property
    def same_type(self) -> bool:
        return _family(self.left) is not None and _family(self.left) == _family(self.right)

    @property
    def may_fail(self) -> bool:
        """Whether Spark casts a text to compare it, which some texts make fail under ANSI rules."""
        kinds = {one.type.this for one in (self.left, self.right) if isinstance(one.type, exp.DataType)}
        others = kinds - exp.DataType.TEXT_TYPES - {exp.DataType.Type.UNKNOWN}
        return bool(others) and bool(kinds & exp.DataType.TEXT_TYPES)


def null_supplied(block: Block) -> set[str]:
    """Return the sources whose columns are NULL where an outer join finds no row."""
    found: set[str] = set()
    before: set[str] = set()
    for item in block.items.values():
        if item.side in ("left", "full"):
            found.add(item.alias)
        if item.side in ("right", "full"):
            found |= before
        before.add(item.alias)
    return found


@lru_cache(maxsize=MAX_NODES)
def equalities(block: Block) -> tuple[Equality, ...]:
    """Return the equalities of a block's joins, conditions and correlated subqueries, each both ways."""
    found = [one for part in block.where for one in _both_ways(part, block, lambda one, other: "")]
    sides = {item.side for item in block.items.values()}
    # a right or full join after other joins leaves rows in which these have no rows, or only some have
    for item in block.items.values() if len(block.items) == 2 or not sides & {"right", "full"} else ():
        for part in conjuncts(item.on):
            found += _both_ways(part, block, partial(_owner, item))
    for nested in block.nested.values():
        found += list(_of_nested(block, nested.alias))
    return tuple(found)


def _owner(item: Item, one: str, other: str) -> str:
    """Return which of two sources must have a row for an equality of a join to hold."""
    if item.side in ("left", "semi", "anti"):
        return item.alias
    if item.side == "right":
        return other if one == item.alias else one
    return NEVER if item.side == "full" else ""


def _both_ways(part: exp.Expr, block: Block, owner: Callable[[str, str], str]) -> Iterator[Equality]:
    if not isinstance(part, (exp.EQ, exp.NullSafeEQ)):
        return
    is_null_safe = isinstance(part, exp.NullSafeEQ)
    if _holds_without_rows(part, null_supplied(block)):
        return
    for one, other in ((part.this, part.expression), (part.expression, part.this)):
        first, second = tables_of(one), tables_of(other)
        if len(first) == 1 and len(second) == 1 and first != second and first | second <= set(block.items):
            source, target = next(iter(first)), next(iter(second))
            needs = owner(source, target)
            yield Equality(one, other, (source, target), needs in ("", target), needs, is_null_safe)


def _holds_without_rows(part: exp.Expr, supplied: set[str]) -> bool:
    """Return whether a condition may hold where an outer join finds no row of one of its sources."""
    return bool(tables_of(part) & supplied) and not all(isinstance(one, STRICT) for one in part.walk())


def _of_nested(block: Block, alias: str) -> Iterator[Equality]:
    """Yield the equalities by which a subquery depends on the row outside it."""
    nested = block.nested[alias]
    if nested.kind == "in" and nested.outer is not None:
        outer = nested.outer.expressions if isinstance(nested.outer, exp.Tuple) else [nested.outer]
        for one, name in zip(outer, nested.node.names, strict=False):
            sources = tables_of(one)
            if len(sources) == 1 and not _holds_without_rows(one, null_supplied(block)):
                inside = exp.column(name, table=alias, quoted=True)
                inside.type = _type_of(nested.node, name)
                yield from _pair(one, inside, next(iter(sources)), alias)
    if not isinstance(nested.node, Block):
        return
    for part in nested.node.where:
        is_null_safe = isinstance(part, exp.NullSafeEQ)
        if _holds_without_rows(part, null_supplied(nested.node) | null_supplied(block)):
            continue
        if isinstance(part, (exp.EQ, exp.NullSafeEQ)):
            for one, other in ((part.this, part.expression), (part.expression, part.this)):
                outside, within = tables_of(one), tables_of(other)
                inner = set(nested.node.items)
                if len(outside) == 1 and outside <= set(block.items) - inner and within and within <= inner:
                    yield from _pair(one, other, next(iter(outside)), alias, is_null_safe)


def _type_of(node: Node, name: str) -> exp.DataType | None:
    return node.outputs[name].type if isinstance(node, Block) else None


def _pair(
    outside: exp.Expr, inside: exp.Expr, source: str, alias: str, is_null_safe: bool = False
) -> Iterator[Equality]:
    yield Equality(outside, inside, (source, alias), True, alias, is_null_safe)
    yield Equality(inside, outside, (alias, source), False, alias, is_null_safe)


def _family(expression: exp.Expr) -> object:
    """Return what two types must share so that equal values are the same value; None if unknown."""
    kind = expression.type
    if kind is None or not isinstance(kind, exp.DataType):
        return None
    if kind.this in WHOLE:
        return "whole"
    if kind.this in SIMPLE:
        return kind.this
    return kind.sql() if kind.this == exp.DataType.Type.DECIMAL else None
