"""Split a query that no single step maintains into stages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from tidemark.engine.incremental.choosing import choose_plan
from tidemark.engine.incremental.group_parts import with_counts, without_expressions
from tidemark.engine.incremental.measures import only_item
from tidemark.engine.incremental.not_in import without_not_in
from tidemark.engine.incremental.peeling import (
    NAME,
    Peeled,
    columns_of,
    without_aggregate,
    without_groups_and_windows,
    without_hidden_keys,
    without_limit,
)
from tidemark.engine.incremental.plan import Plan
from tidemark.engine.incremental.proven_key import merge_key
from tidemark.engine.incremental.readings import clashing, present
from tidemark.engine.incremental.request import Request
from tidemark.engine.incremental.shape import Shape, refuse_unsupported
from tidemark.engine.incremental.stages import NEEDED, Stage, Staged, StagesWanted, inlined
from tidemark.engine.incremental.tree import (
    Block,
    Leaf,
    Node,
    SetOperation,
    leaves,
    render,
    tables_of,
    with_children,
)
from tidemark.engine.incremental.unsupported import Unsupported

Types = Callable[[Node], Mapping[str, str]]
PEELS = (
    without_limit,
    without_expressions,
    without_hidden_keys,
    without_aggregate,
    without_groups_and_windows,
)
UNSTORED = re.compile(r"\b(void|interval|variant|char|varchar)\b|\bcollate\b")


def staged(
    root: Node,
    request: Request,
    name: Callable[[int], str],
    types_of: Types,
    wanted: StagesWanted = NEEDED,
) -> Staged | None:
    """Split a query into stages.

    The split depends on the query and on what is wanted, not on the tables that changed: each run has the
    same stages.

    Args:
        root: the query.
        request: what its plan is made from.
        name: gives the table (`schema.table`, in lower case) of the stage of a number from 1 on.
        types_of: gives the types of a query's columns, in Spark's words.
        wanted: the kinds of stages.

    Returns:
        None if one step is the way, or if no part of the query can be a stage.
    """
    splitter = _Splitter(name, types_of, request.never_null, wanted, dict(request.known_keys))
    whole, rest = (request.key, request.types), root
    if splitter.full_for(root, whole):
        if not wanted.needed:
            return None
        rest = splitter.split(root, whole)
    if (wanted.counts or wanted.rows) and not request.partition:
        rest = splitter.lightened(rest, whole)
    found = Staged(tuple(splitter.stages), rest)
    is_same = found.stages and dict(splitter.types(rest)) == dict(request.types)
    return found if is_same else None


Result = tuple[Sequence[str], Mapping[str, str]]  # key and types of a query


@dataclass
class _Splitter:
    name: Callable[[int], str]
    types_of: Types
    never_null: frozenset[str]
    wanted: StagesWanted
    keys: dict[str, Sequence[str]]
    stages: list[Stage] = field(default_factory=list)
    made: dict[str, Leaf] = field(default_factory=dict)

    def full_for(self, node: Node, result: Result | None = None) -> frozenset[str]:
        """Return the tables after whose changes a query is computed in full."""
        if result is None:
            result = self._result(node)
        tables = _tables(node)

        def is_full(changed: frozenset[str]) -> bool:
            return self._plan(node, result, changed).way == "full"

        found = frozenset(table for table in tables if is_full(frozenset([table])))
        return found or (tables if tables and is_full(tables) else frozenset())

    def split(self, node: Node, result: Result | None = None) -> Node:
        """Return a query over stages; the query itself if no part of it can be one."""
        if isinstance(node, Leaf) or not self.full_for(node, result):
            return node
        node = self._with_parts(without_not_in(node) if isinstance(node, Block) else node)
        lacks = self.full_for(node, result)
        if not isinstance(node, Block) or not lacks or self._is_over_a_stage(node):
            return node
        for peel in PEELS:
            peeled = peel(node)
            if peeled is None:
                continue
            before = len(self.stages)
            core = self.split(peeled.core)
            top = self._top(peeled, core) if len(self.full_for(core)) < len(lacks) else None
            if top is not None:
                return self.split(top, result)
            self._forget(before)
        return node

    def lightened(self, node: Node, result: Result | None = None) -> Node:
        """Return a query over a stage, for changes that read all rows of the touched groups in one step.

        The stage has the parts of the groups or, if changes cannot be added to these, the rows that are
        grouped. It is the query itself if neither saves anything.
        """
        below = only_item(node) if isinstance(node, Block) else None
        if isinstance(node, Block) and below is not None and isinstance(below.node, Block):
            inner = self.lightened(below.node)
            return node if inner is below.node else with_children(node, lambda *_: inner)
        if not isinstance(node, Block) or Shape(node).groups is None:
            return node
        result, before = result or self._result(node), len(self.stages)
        parts = with_counts(node) if self.wanted.counts else None
        if parts is not None and self._saves(node, result, parts.core):
            top = self._top(parts, parts.core)
            if top is not None:
                return top
            self._forget(before)
        rows = without_groups_and_windows(node) if self.wanted.rows else None
        if rows is not None and not self.full_for(rows.core):
            top = self._top(rows, rows.core)
            if top is not None and self._saves(node, result, top):
                return self.lightened(top, result)
            self._forget(before)
        return node

    def _saves(self, node: Node, result: Result, other: Node) -> bool:
        """Return whether changes can be folded into another query alone, for a source of a query at least.

        Args:
            node: the query.
            result: its key and types.
            other: a query over the same sources, or over a stage with their rows.
        """
        parts = self._result(other)
        ways = {table: self._plan(other, parts, frozenset([table])) for table in _tables(other)}
        over_stage = None if _tables(node) & ways.keys() else next(iter(ways.values()), None)
        for table in _tables(node):
            one, way = self._plan(node, result, frozenset([table])), ways.get(table, over_stage)
            if way is None or way.way != "folded":
                continue
            if one.way != "folded" or one.suspects != way.suspects:
                return True
        return False

    def _result(self, node: Node) -> Result:
        types = self.types(node)
        return merge_key(node, types, self.keys), types

    def _plan(self, node: Node, result: Result, changed: frozenset[str]) -> Plan:
        return choose_plan(node, Request(tuple(result[0]), result[1], changed, self.never_null))

    def _top(self, peeled: Peeled, core: Node) -> Node | None:
        """Return the query over a core, which becomes a stage; None if it cannot be one.

        A core that follows row by row from a stage of its own is not another one.
        """
        below = self.lightened(core)
        node = below if below is not core and _is_simple(below) else self._stage(below)
        with suppress(Unsupported):
            return peeled.top(node, self.types(node)) if node is not None else None
        return None

    def _forget(self, before: int) -> None:
        """Forget the stages that were made after a number of them."""
        gone = {stage.table for stage in self.stages[before:]}
        self.made = {text: leaf for text, leaf in self.made.items() if leaf.table not in gone}
        del self.stages[before:]

    def types(self, node: Node) -> dict[str, str]:
        """Return the types of a query's columns by name."""
        return {name.lower(): kind for name, kind in self.types_of(inlined(node, self.stages)).items()}

    def _with_parts(self, node: Node) -> Node:
        """Return a query whose subqueries are stages."""
        if isinstance(node, SetOperation):
            return SetOperation(node.operation, self._part(node.left), self._part(node.right))
        return with_children(node, self._part) if isinstance(node, Block) else node

    def _part(self, node: Node, kind: str = "") -> Node:
        """Return the table of a subquery, which becomes a stage; the subquery itself if it cannot be one.

        A subquery for one value is a stage also if it is computed in full: most often the value stays.
        """
        if _is_simple(node) or _outside(node):
            return node
        part = self.split(node)
        leaf = self._stage(part) if kind == "scalar" or not self.full_for(part) else None
        return part if leaf is None else columns_of(leaf) if kind else leaf

    def _stage(self, node: Node) -> Leaf | None:
        """Make a query a stage, and return its table; None if no table can hold its rows.

        A query that occurs twice is one stage.
        """
        text = render(node, present).sql("spark")
        if text in self.made:
            return self.made[text]
        types = self.types(node)
        is_stored = all(NAME.fullmatch(one) for one in types) and list(types) == list(node.names)
        if not is_stored or any(UNSTORED.search(kind.lower()) for kind in types.values()):
            return None
        table = self.name(len(self.stages) + 1)
        leaf = Leaf(table, types)
        if clashing(leaf):
            return None
        key = merge_key(node, types, self.keys)
        self.made[text] = leaf
        self.stages.append(Stage(table, node, key, types))
        if key:
            self.keys[table] = key
        return leaf

    def _is_over_a_stage(self, node: Block) -> bool:
        """Return whether a query reads one stage alone: another one below it would repeat it."""
        parts = [child for _, child in node.children()]
        tables = {stage.table for stage in self.stages}
        is_alone = len(parts) == 1 and _is_simple(parts[0])
        return is_alone and all(leaf.table in tables for leaf in leaves(parts[0]))


def _tables(node: Node) -> frozenset[str]:
    return frozenset(leaf.table for leaf in leaves(node))


def _is_simple(node: Node) -> bool:
    """Return whether a query only chooses rows and columns of one table, which a stage would repeat."""
    if isinstance(node, Leaf):
        return True
    if not isinstance(node, Block) or node.nested or len(node.items) > 1:
        return False
    try:
        refuse_unsupported(node)
    except Unsupported:
        return False
    return Shape(node).row_by_row and all(_is_simple(item.node) for item in node.items.values())


def _outside(node: Node) -> set[str]:
    """Return the aliases outside of a subquery whose columns it uses."""
    if isinstance(node, Leaf):
        return set()
    below = {alias for _, child in node.children() for alias in _outside(child)}
    if isinstance(node, SetOperation):
        return below
    laterals = {one.alias for one in node.select.args.get("laterals") or []}
    own = {*node.items, *node.nested, *laterals, ""}
    return (tables_of(node.select) | below) - own
