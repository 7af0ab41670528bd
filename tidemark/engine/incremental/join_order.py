"""The order in which changed rows are joined with the other sources of a block: the changed rows come first.

Spark joins in the order of the text. With the changed rows in first place, each join reads a large table once
and keeps the few rows that belong to the changed ones; a join of two large tables, of which most rows are
thrown away later, is not computed. Few rows are sent to all tasks (a broadcast), so that the rows of the
large table need not be exchanged between tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from sqlglot import exp

from tidemark.engine.incremental.canonical import quoted
from tidemark.engine.incremental.tree import Block, Node, conjuncts, leaves, placeholder, tables_of

REORDERED = ("from", "inner", "cross")


@dataclass(frozen=True)
class Known:
    """What is known of the tables of a query.

    Attributes:
        few: the changed tables with so few changed rows that these can be sent to all tasks.
        sizes: the bytes of the tables.
    """

    few: frozenset[str] = frozenset()
    sizes: Mapping[str, int] = field(default_factory=dict)

    def bytes_of(self, node: Node) -> int:
        """Return the bytes of the tables that a query reads."""
        return sum(self.sizes.get(leaf.table, 0) for leaf in leaves(node))


def changes_first(block: Block, alias: str, known: Known) -> exp.Select:
    """Return a block's SELECT with one of its sources in the first place of FROM.

    Only sources that are joined by inner joins are moved, and only among each other; each condition of a
    join is kept at the first place where all its sources are there.

    Args:
        block: the block.
        alias: the source.
        known: what is known of the tables.
    """
    select = block.select.copy()
    moved = list(takewhile(lambda one: block.items[one].side in REORDERED, block.items))
    joins: list[exp.Join] = select.args.get("joins") or []
    inner, others = joins[: len(moved) - 1], joins[len(moved) - 1 :]
    ons = [conjuncts(join.args.get("on")) for join in inner]
    conditions = [part for on in ons for part in on]
    if alias not in moved or any(part.find(exp.Placeholder) for part in conditions):
        return select
    sizes = {name: known.bytes_of(block.items[name].node) for name in moved}
    order = _order(sizes, alias, ons, block.where)
    ordered = []
    for place, name in enumerate(order[1:], 1):
        joined = set(order[: place + 1])
        on = [part for part in conditions if tables_of(part) <= joined]
        conditions = [part for part in conditions if part not in on]
        ordered.append(_join(name, on))
    if conditions:  # of a source that is not here
        return select
    select.set("from_", exp.From(this=placeholder(alias)))
    select.set("joins", [*ordered, *others])
    return select


def sent_to_all_tasks(select: exp.Select, alias: str) -> exp.Select:
    """Return a SELECT that sends the rows of one of its sources to all tasks."""
    return select.hint(f"BROADCAST({quoted(alias)})", dialect="spark")


def _order(
    sizes: Mapping[str, int], first: str, ons: Sequence[Sequence[exp.Expr]], where: Iterable[exp.Expr]
) -> list[str]:
    """Return sources in the order in which they are joined, starting with one.

    Next comes a source with which the whole condition of a join can be met: a part of one, such as an equal
    country, often links many rows. Then one that an equality links, then one that another condition links.
    Of equals, the largest is joined with the changed rows themselves, which Spark knows to be few; after it,
    the nearest in the text.
    """
    units = [*ons, *([part] for part in where)]
    whole = [_tables(unit) for unit in units if any(map(_is_equality, unit))]
    equal = [tables_of(part) for unit in units for part in unit if _is_equality(part)]
    every = [tables_of(part) for unit in units for part in unit]
    order, rest = [first], [name for name in sizes if name != first]
    place = {name: number for number, name in enumerate(sizes)}

    def rank(name: str) -> tuple[list[bool], int, int]:
        lacks = [not _is_linked(name, order, links) for links in (whole, equal, every)]
        return lacks, -sizes[name] if len(order) == 1 else 0, abs(place[name] - place[first])

    while rest:
        order.append(min(rest, key=rank))
        rest.remove(order[-1])
    return order


def _is_linked(name: str, known: Sequence[str], links: Iterable[set[str]]) -> bool:
    return any(name in link and link & set(known) and link - {name} <= set(known) for link in links)


def _is_equality(part: exp.Expr) -> bool:
    return isinstance(part, (exp.EQ, exp.NullSafeEQ)) and len(tables_of(part)) > 1


def _tables(unit: Iterable[exp.Expr]) -> set[str]:
    return set().union(*map(tables_of, unit))


def _join(name: str, on: Sequence[exp.Expr]) -> exp.Join:
    if not on:
        return exp.Join(this=placeholder(name), kind="CROSS")
    return exp.Join(this=placeholder(name), kind="INNER", on=exp.and_(*on))
