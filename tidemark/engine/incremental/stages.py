"""The stages of a query: parts that have tables of their own, each of which one step maintains.

A blocking operator, such as LIMIT or an aggregate of an aggregate, reads the table of the stage below it in
place of the sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tidemark.engine.incremental.choosing import choose_plan
from tidemark.engine.incremental.plan import Plan
from tidemark.engine.incremental.request import Request
from tidemark.engine.incremental.tree import Leaf, Node, SetOperation, leaves, with_children


@dataclass(frozen=True)
class StagesWanted:
    """The kinds of stages that a query may get.

    Attributes:
        needed: those without which changes would need the whole query.
        counts: the parts of groups, where one step reads the other rows of the changed groups.
        rows: the rows that are grouped, for the same where parts do not do.
    """

    needed: bool = True
    counts: bool = False
    rows: bool = False

    def __bool__(self) -> bool:
        """Return whether any are wanted."""
        return self.needed or self.counts or self.rows


NEEDED, ALL = StagesWanted(), StagesWanted(counts=True, rows=True)


@dataclass(frozen=True)
class Stage:
    """A part of a query that has a table of its own.

    Attributes:
        table: `schema.table`.
        tree: its query, which may read earlier stages.
        key: the columns that the query proves to be its key; empty if rows may repeat.
        types: the types of its columns by name.
    """

    table: str
    tree: Node
    key: tuple[str, ...]
    types: Mapping[str, str]

    def plan(self, changed: frozenset[str], known: Request) -> Plan:
        """Return how its table is brought up to date after some tables changed.

        Args:
            changed: the tables.
            known: what is known of the sources, from the request of the whole query.
        """
        own = Request(
            self.key,
            self.types,
            changed,
            known.never_null,
            sizes=known.sizes,
            maintain="always",
            few=known.few,
        )
        return choose_plan(self.tree, own)


@dataclass(frozen=True)
class Staged:
    """A query in stages.

    Attributes:
        stages: the stages, each after those that it reads.
        rest: the query of the model, over the stages.
    """

    stages: tuple[Stage, ...]
    rest: Node

    @property
    def tables(self) -> frozenset[str]:
        """The tables of the stages."""
        return frozenset(stage.table for stage in self.stages)

    @property
    def reads_stages_only(self) -> bool:
        """Whether the model's table is made from stages alone."""
        return all(leaf.table in self.tables for leaf in leaves(self.rest))

    def how(self, request: Request) -> str:
        """Return how each stage and the table over them are brought up to date, in words.

        Args:
            request: what a plan is made from.
        """
        changed, ways = set(request.changed), []
        for stage in self.stages:
            reads = frozenset(changed & {leaf.table for leaf in leaves(stage.tree)})
            ways.append(stage.plan(reads, request).how if reads else "unchanged")
            changed |= {stage.table} if reads else set()
        now = frozenset(changed & {leaf.table for leaf in leaves(self.rest)})
        return self.in_words(ways, choose_plan(self.rest, replace(request, changed=now)))

    def in_words(self, ways: Sequence[str], rest: Plan | None) -> str:
        """Return how stages and the table over them are brought up to date, in words.

        Args:
            ways: those of the stages.
            rest: the plan of the table; None if no stage has changed.
        """
        last = rest.how if rest else "unchanged"
        if rest and rest.way == "full" and self.reads_stages_only:
            last = f"read whole: {rest.why}"
        number = len(self.stages)
        return f"in {number} stage{'s' if number > 1 else ''}: {', then '.join([*ways, last])}"


def inlined(node: Node, stages: Sequence[Stage]) -> Node:
    """Return a query over stages with their queries in place of their tables."""
    if isinstance(node, Leaf):
        found = next((stage for stage in stages if stage.table == node.table), None)
        return inlined(found.tree, stages) if found else node
    if isinstance(node, SetOperation):
        return SetOperation(node.operation, inlined(node.left, stages), inlined(node.right, stages))
    return with_children(node, lambda child, _: inlined(child, stages))
