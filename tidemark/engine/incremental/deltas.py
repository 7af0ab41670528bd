"""The changed rows of a result, with a sign, for queries that are linear in the sources that changed.

Selections, projections, inner joins and UNION ALL are linear: the changed rows of the result follow from the
changed rows of the sources alone. For a join, `Δ(A ⋈ B) = ΔA ⋈ B_old + A_new ⋈ ΔB` (Gupta and Mumick,
Maintenance of Materialized Views, 1995; DBSP, Budiu et al., 2023, calls such operators bilinear).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlglot import exp

from tidemark.engine.incremental.join_order import Known, changes_first, sent_to_all_tasks
from tidemark.engine.incremental.readings import SIGN, changed_rows, present, previous
from tidemark.engine.incremental.shape import (
    Shape,
    is_row_by_row,
    refuse_set_operation,
    refuse_unsupported,
)
from tidemark.engine.incremental.tree import Block, Leaf, Node, fill, leaves, reads, render
from tidemark.engine.incremental.unsupported import Unsupported

NOTHING = Known()
OF_A_SCAN = 0.4  # of a join that exchanges its rows, by byte: q05, q09 and q12 of TPC-H at scale 3
LINEAR = ("from", "inner", "cross", "right")


def delta(node: Node, changed: Iterable[str], known: Known = NOTHING) -> exp.Query:
    """Return a query of the result's added and removed rows, with the sign as its last column.

    Args:
        node: the query.
        changed: the tables that changed.
        known: what is known of the tables.

    Raises:
        Unsupported: if the query is not linear in these tables.
    """
    terms = _terms(node, frozenset(changed), known)
    return terms[0] if len(terms) == 1 else exp.union(*terms, distinct=False)


def bytes_read(node: Node, changed: Collection[str], known: Known) -> float:
    """Return the bytes of the other tables that the changed rows of the sources are joined with.

    Args:
        node: the query.
        changed: the tables that changed.
        known: what is known of the tables; the bytes that few rows are joined with count for a part.
    """
    if isinstance(node, Leaf):
        return 0
    total = 0.0
    for _, child in node.children():
        if reads(child, changed):
            others = known.bytes_of(node) - known.bytes_of(child) if isinstance(node, Block) else 0
            moved = {leaf.table for leaf in leaves(child)} & set(changed)
            weight = OF_A_SCAN if moved <= known.few else 1
            total += bytes_read(child, changed, known) + weight * others
    return total


def _terms(node: Node, changed: frozenset[str], known: Known) -> list[exp.Query]:
    if not reads(node, changed):
        return []
    if isinstance(node, Leaf):
        return [changed_rows(node, signed=True)]
    if isinstance(node, Block):
        return _of_block(node, changed, known)
    if not isinstance(node.operation, exp.Union) or node.operation.args.get("distinct"):
        raise Unsupported(type(node.operation).__name__.lower())
    refuse_set_operation(node)
    right = [_renamed(term, node.names) for term in _terms(node.right, changed, known)]
    return [*_terms(node.left, changed, known), *right]


def _renamed(term: exp.Query, names: list[str]) -> exp.Query:
    """Give the columns of a query other names, in their order; a union has those of its first part."""
    columns = [exp.to_identifier(name, quoted=True) for name in (*names, SIGN)]
    alias = exp.TableAlias(this=exp.to_identifier("united", quoted=True), columns=columns)
    rows = exp.Subquery(this=term, alias=alias)
    return exp.select(*(exp.column(name, quoted=True) for name in (*names, SIGN))).from_(rows)


def _of_block(block: Block, changed: frozenset[str], known: Known) -> list[exp.Query]:
    refuse_unsupported(block)
    if not Shape(block).row_by_row:
        raise Unsupported("distinct" if block.select.args.get("distinct") else "an aggregate or a window")
    moved = [item for item in block.items.values() if reads(item.node, changed)]
    if any(reads(nested.node, changed) for nested in block.nested.values()):
        raise Unsupported("a subquery whose source changed")
    items = list(block.items.values())
    for item in moved:
        # a right or full join after it gives rows also where this source has none
        after = items[items.index(item) + 1 :]
        if item.side not in LINEAR or any(other.side in ("right", "full") for other in after):
            raise Unsupported("an outer, semi or anti join whose source changed", item.on)
    deltas = [delta(item.node, changed, known) for item in moved]
    terms: list[exp.Query] = []
    for index, item in enumerate(moved):
        later = {one.alias for one in moved[index + 1 :]}
        rows = {item.alias: deltas[index]}
        for alias, child in block.children():
            if alias != item.alias:
                rows[alias] = render(child, previous if alias in later else present)
        select = fill(block, changes_first(block, item.alias, known), rows)
        if len(block.items) > 1 and is_row_by_row(item.node) and reads(item.node, known.few):
            select = sent_to_all_tasks(select, item.alias)
        select.set("order", None)
        sign = exp.alias_(exp.column(SIGN, table=item.alias, quoted=True), SIGN, quoted=True)
        terms.append(select.select(sign, copy=False))
    return terms
