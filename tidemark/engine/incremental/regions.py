"""Regions: the part of a result that the changes of its sources can alter, and the query restricted to it.

A region is one combination of values of some of the result's columns. The changed rows tell which regions
they touch (trace.py). The query recomputed for these regions, and compared with the table's rows there, gives
the table that a rebuild would give.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp

from tidemark.engine.incremental.join_order import sent_to_all_tasks
from tidemark.engine.incremental.readings import changed_rows, present, previous
from tidemark.engine.incremental.shape import HIDING_WINDOW, Shape, is_row_by_row
from tidemark.engine.incremental.trace import ROW, Tracer
from tidemark.engine.incremental.tree import MAX_NODES, Block, Leaf, Node, leaves, reads, render
from tidemark.engine.incremental.unsupported import Unsupported


@dataclass(frozen=True)
class Regions:
    """Columns of a result by whose values it can be recomputed in parts.

    Attributes:
        root: the query.
        columns: the columns.
        changed: the tables that changed.
        joined: the tables whose changes find their regions only by joining other sources.
    """

    root: Node
    columns: tuple[str, ...]
    changed: frozenset[str]
    joined: frozenset[str]

    def touched(self, few: Collection[str] = ()) -> exp.Query:
        """Return a query of the touched regions: the distinct values of the columns.

        Args:
            few: the tables whose changed rows are so few that they can be sent to all tasks.
        """
        found: list[exp.Query] = []
        for leaf in _changed_leaves(self.root, self.changed):
            tracer = Tracer(self.root, leaf, may_join=leaf.table in self.joined)
            traces = {name: tracer.column(name) for name in self.columns}
            query = exp.select(
                *(exp.alias_(one, name, quoted=True) for name, one in traces.items() if one is not None)
            )
            query = query.from_(changed_rows(leaf).subquery(ROW))
            for join in tracer.joins.values():
                rows = self._present_and_previous(join.node).subquery(join.alias)
                query = query.join(rows, on=exp.and_(*join.on), join_type="inner")
            if tracer.joins and leaf.table in few:
                query = sent_to_all_tasks(query, ROW)
            found.append(query)
        both = found[0] if len(found) == 1 else exp.union(*found, distinct=False)
        return (
            exp.select(*(exp.column(name, quoted=True) for name in self.columns))
            .from_(both.subquery("touched"))
            .distinct()
        )

    def restricted(self, within: Mapping[str, Callable[[str], str]]) -> exp.Query:
        """Return the query, in which each table is read only for the touched values where a trace tells them.

        Args:
            within: for each column, a function that gives the condition that an expression (SQL) has one of
                the touched values.
        """

        def read(leaf: Leaf) -> exp.Query:
            query, tracer = present(leaf), Tracer(self.root, leaf)
            for name in self.columns:
                trace = tracer.column(name)
                if trace is not None:
                    bare = trace.transform(
                        lambda part: (
                            exp.column(part.name, quoted=True) if isinstance(part, exp.Column) else part
                        )
                    )
                    query = query.where(within[name](bare.sql("spark")), dialect="spark")
            return query

        return render(self.root, read)

    def _present_and_previous(self, node: Node) -> exp.Query:
        now = render(node, present)
        if not reads(node, self.changed):
            return now
        if is_row_by_row(node):
            # the changed rows hold all previous rows that are no longer present
            return exp.union(now, render(node, changed_rows), distinct=False)
        return exp.union(now, render(node, previous), distinct=False)


def choose_regions(
    root: Node, changed: Iterable[str], key: Sequence[str], columns: Sequence[str], *, may_join: bool = True
) -> Regions:
    """Choose the columns by which a result is recomputed after some of its tables changed.

    Columns of the key that all changes tell without a join come first; then other columns that they tell
    without a join, if more than one table has them; then columns of the key that need a join.

    Args:
        root: the query.
        changed: the tables that changed.
        key: the columns of the result's key.
        columns: the columns of the table that can be compared.
        may_join: whether joins may be used.

    Raises:
        Unsupported: if no column will do.
    """
    changed = frozenset(changed)
    moved = list(_changed_leaves(root, changed))
    every = list(leaves(root))
    key = [name for name in key if name in columns]
    others = [name for name in root.names if name in columns and name not in key]
    names = [*key, *others]
    traces = {name: _traces(root, name) for name in names}
    directly = {
        name: [leaf for leaf, trace in zip(every, traces[name], strict=True) if trace is not None]
        for name in names
    }
    known = [
        name for name in names if all(leaf in directly[name] for leaf in moved) and _varies(traces[name])
    ]
    of_key = _distinct(traces, [name for name in known if name in key])
    if of_key:
        return Regions(root, tuple(of_key), changed, frozenset())
    most = max((len(directly[name]) for name in known), default=0)
    shared = _distinct(traces, [name for name in known if len(directly[name]) == most])
    if shared and (most > 1 or len(every) == 1 or not may_join):
        return Regions(root, tuple(shared[:3]), changed, frozenset())
    for some in (key, others) if may_join else ():
        by_join = [
            name
            for name in some
            if _varies(traces_by_join := _traces(root, name, may_join=True))
            and all(
                trace is not None for leaf, trace in zip(every, traces_by_join, strict=True) if leaf in moved
            )
        ]
        if by_join:
            far = {leaf.table for leaf in moved for name in by_join if leaf not in directly[name]}
            return Regions(root, tuple(by_join[:3]), changed, frozenset(far))
    if shared:
        return Regions(root, tuple(shared[:3]), changed, frozenset())
    raise _why(root, moved, key, may_join)


Traces = Sequence[exp.Expr | None]  # of a column, in each table


def _distinct(traces: Mapping[str, Traces], names: Sequence[str]) -> list[str]:
    """Return columns without those whose touched values are those of an earlier one, as in an equality."""
    found: dict[tuple[str, ...], str] = {}
    for name in names:
        found.setdefault(tuple(one.sql("spark") if one else "" for one in traces[name]), name)
    return [*found.values()]


def _varies(traces: Traces) -> bool:
    return any(trace is not None and trace.find(exp.Column) for trace in traces)


def _why(root: Node, moved: Sequence[Leaf], key: Sequence[str], may_join: bool) -> Unsupported:
    """Return the construct that hides from changed rows which columns of the result they alter."""
    found: list[Unsupported] = []
    for name in (*key, *root.names):
        for leaf in moved:
            tracer = Tracer(root, leaf, may_join)
            if tracer.column(name) is None and tracer.why is not None:
                found.append(tracer.why)
    if not found:
        return Unsupported("sources that share no column of the result")
    # a window hides each column that is not one of its partitions; these may have a reason of their own
    others = [one for one in found if not one.construct.startswith(HIDING_WINDOW)]
    if not others and isinstance(root, Block) and Shape(root).groups is None:
        return Unsupported(f"{found[0].construct}: add it", line=found[0].line)
    return (others or found)[0]


@lru_cache(maxsize=MAX_NODES)  # they are the same whichever tables have changed
def _traces(root: Node, name: str, *, may_join: bool = False) -> Traces:
    tracers = [Tracer(root, leaf, may_join=True) for leaf in leaves(root)] if may_join else _tracers(root)
    return tuple(tracer.column(name) for tracer in tracers)


@lru_cache(maxsize=100)  # without joins, what one column needs of another is found once
def _tracers(root: Node) -> list[Tracer]:
    return [Tracer(root, leaf) for leaf in leaves(root)]


def _changed_leaves(root: Node, changed: Iterable[str]) -> list[Leaf]:
    names = set(changed)
    return [leaf for leaf in leaves(root) if leaf.table in names]
