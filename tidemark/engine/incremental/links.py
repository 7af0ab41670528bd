"""How the sources of a block are linked by equalities, for traces that start at one of them."""

from __future__ import annotations

from sqlglot import exp

from tidemark.engine.incremental.equalities import NEVER, Equality, equalities, null_supplied
from tidemark.engine.incremental.tree import Block
from tidemark.engine.incremental.unsupported import Unsupported

ADDED = "is_added"  # marks a column that is not part of the query: rows that share its value are not linked


def check_nested(block: Block, alias: str) -> None:
    """Refuse a subquery whose rows cannot be assigned to rows outside it.

    Raises:
        Unsupported: for such a subquery.
    """
    kind = block.nested[alias].kind
    if kind == "not in":
        raise Unsupported("not in (select …)", block.select)  # one NULL inside alters all rows outside
    if kind == "in a join":
        raise Unsupported("a subquery in a join condition", block.select)
    if not any(alias in equality.sources for equality in equalities(block)):
        raise Unsupported("a subquery without an equality with the row outside it", block.select)


def under(expression: exp.Expr, alias: str) -> exp.Expr:
    """Return an expression over one source, with the source under another alias."""

    def renamed(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column):
            return part
        column = exp.column(part.name, table=alias, quoted=True)
        column.type = part.type
        return column

    return expression.transform(renamed)


def side_of_pair(block: Block, part: exp.Coalesce, inside: str) -> exp.Expr | None:
    """Return the side that `coalesce(a.key, b.key)` equals in each row, if these keys join a and b.

    For a full join of two sources, it is the side of the source `inside`: the other equals it, or is NULL.
    """
    sides = [part.this, *part.expressions]
    if len(sides) != 2:
        return None
    for equality in equalities(block):
        if not equality.same_type or equality.null_safe or {equality.left, equality.right} != set(sides):
            continue
        if equality.owner == NEVER and len(block.items) == 2:
            return equality.left if equality.sources[0] == inside else equality.right
        present = [alias for alias in equality.sources if alias not in null_supplied(block)]
        if present and equality.owner in ("", *equality.sources):
            return equality.left if equality.sources[0] == present[0] else equality.right
    return None


def paths(block: Block, start: str, end: str) -> list[list[str]]:
    """Return the shortest chain of sources between two: each has an equality with the one before it."""
    waiting, seen = [[start]], {start}
    while waiting:
        path = waiting.pop(0)
        if path[-1] == end:
            return [path]
        for equality in equalities(block):
            source, target = equality.sources
            may_pass = target in block.items and block.items[target].side not in ("semi", "anti")
            may_pass = may_pass and not equality.left.meta.get(ADDED)
            if source == path[-1] and target not in seen and may_pass and holds_among(equality, path):
                seen.add(target)
                waiting.append([*path, target])
    return []


def holds_among(equality: Equality, known: list[str]) -> bool:
    """Return whether an equality holds in each result row that has a row of each of these sources."""
    return equality.owner == "" or equality.owner in known
