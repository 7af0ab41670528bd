"""Write what a plan computes from the changes of a model's sources."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.engine.incremental.canonical import quoted as one_quoted
from tidemark.engine.incremental.folding import DELETED, LOST
from tidemark.engine.incremental.plan import Plan, Readings
from tidemark.engine.incremental.readings import quoted
from tidemark.engine.writing.bags import make_equal_bag, write_bag
from tidemark.engine.writing.executor import Executor
from tidemark.engine.writing.merging import merge
from tidemark.engine.writing.partitions import replace_partitions, with_touched
from tidemark.engine.writing.regions import Region, region_of
from tidemark.engine.writing.sql_parts import null_safe_equal
from tidemark.engine.writing.target import Batch, Change, Target


def prepare(executor: Executor, target: Target, plan: Plan, readings: Readings) -> Change:
    """Compare what a plan computes with the table, and return the statement for what differs.

    Args:
        executor: runs the queries.
        target: the table.
        plan: the plan, of another way than `full`.
        readings: what reads the tables of the query.

    Raises:
        Refused: if the model's settings do not allow the way.
    """
    if plan.way == "rows" and not target.keys:
        return write_bag(executor, target, plan.net_rows(readings))
    if plan.way == "rows":
        return merge(executor, target, Batch(plan.changed_rows(readings), DELETED, flags_new=True))
    if plan.way == "folded":
        return _fold(executor, target, plan, readings)
    return _recompute(executor, target, plan, readings)


@dataclass(frozen=True)
class _Folded:
    """The new rows of the changed groups.

    Attributes:
        groups: what reads the changed rows of the groups, added up.
        rows: what reads their new rows, with the flags of `folding.folded`.
        views: the views that these read.
    """

    groups: str
    rows: str
    views: tuple[str, ...]


def _fold(executor: Executor, target: Target, plan: Plan, readings: Readings) -> Change:
    """Fold the changed rows into the present groups.

    Groups whose new value the changes alone do not tell are recomputed. Most often the changes alone show
    that there is none, without reading the table.
    """
    found = _folded(executor, target, plan, readings)
    if not target.keys:
        return _fold_one(executor, target, plan, readings, found)
    columns = quoted(target.types)
    suspected = _suspected(executor, target, plan, found.groups)
    if not suspected:
        rows = f"select {columns}, {DELETED} from {found.rows}"
        return merge(executor, target, Batch(rows, DELETED), views=found.views)
    folded = executor.cached_view("folded", f"select * from {found.rows}")
    lost = f"(select {quoted(target.keys)} from {folded} where {suspected})"
    region = region_of(executor, plan.columns, lost, target.apart)
    rows = f"select {columns}, {DELETED} from {folded} where not ({suspected})"
    if not region.is_empty:
        whole = plan.recomputed(readings, region.conditions, lost, region.sought)
        rows += f" union all {_lost_groups(target, lost, whole)}"
    return merge(executor, target, Batch(rows, DELETED), views=("folded", *found.views))


def _folded(executor: Executor, target: Target, plan: Plan, readings: Readings) -> _Folded:
    """Return the new rows of the changed groups; changes that are joined with tables are computed once."""
    groups = plan.changed_groups(readings)
    read = executor.cached_view("groups", groups) if plan.joins else f"({groups})"
    return _Folded(read, f"({plan.folded(read, target.present)})", ("groups",) if plan.joins else ())


def _fold_one(executor: Executor, target: Target, plan: Plan, readings: Readings, found: _Folded) -> Change:
    """Fold the changed rows into the one row of an aggregate without GROUP BY."""
    folded, columns = executor.cached_view("folded", f"select * from {found.rows}"), quoted(target.types)
    apart = quoted([target.apart]) if target.apart else "1 as __tidemark_one"
    rows = f"select {columns} from {folded} where not {LOST}"
    if executor.rows(f"select 1 as one from {folded} where {LOST} limit 1"):
        on = null_safe_equal("whole", "lost", [target.apart]) if target.apart else "true"
        rows += (
            f" union all select {quoted(target.types, 'whole.')} from ({plan.whole(readings)}) as whole "
            f"left semi join (select {apart} from {folded} where {LOST}) as lost on {on}"
        )
    of_changed = f"left semi join (select {apart} from {folded}) as changed on " + (
        null_safe_equal("present", "changed", [target.apart]) if target.apart else "true"
    )
    region = Region(f"as present {of_changed}")
    return make_equal_bag(executor, target, Batch(rows), region, ("folded", *found.views))


def _suspected(executor: Executor, target: Target, plan: Plan, groups: str) -> str:
    """Return the condition on folded groups that they are lost; empty if the changes show that none is."""
    if plan.suspects == "false":
        return ""
    if not target.apart:
        found = executor.rows(f"select 1 as one from {groups} where {plan.suspects} limit 1")
        return LOST if found else ""
    assert plan.aggregate is not None  # noqa: S101
    part = f"__tidemark_key_{list(plan.aggregate.keys).index(target.apart)}"
    parts = executor.rows(f"select distinct {part} as part from {groups} where {plan.suspects}")
    named = ", ".join(str(one["part"]) for one in parts)
    return f"({LOST} and {one_quoted(target.apart)} in ({named}))" if parts else ""


def _lost_groups(target: Target, lost: str, rows: str) -> str:
    """Return SQL for the recomputed groups; those that have no rows left are flagged."""
    columns = ", ".join(
        f"{'lost' if name in target.keys else 'recomputed'}.{one_quoted(name)}" for name in target.types
    )
    return (
        f"select {columns}, recomputed.__tidemark_is_there is null as {DELETED} from {lost} as lost "
        f"left join (select *, true as __tidemark_is_there from ({rows})) as recomputed "
        f"on {null_safe_equal('lost', 'recomputed', target.keys)}"
    )


def _recompute(executor: Executor, target: Target, plan: Plan, readings: Readings) -> Change:
    """Recompute the touched regions, and make the table equal to them there."""
    touched = executor.cached_view("touched", plan.touched(readings))
    region = region_of(executor, plan.columns, touched, target.apart)
    if region.is_empty:
        return Change(views=("touched",))
    rows = plan.recomputed(readings, region.conditions, None if region.is_exact else touched, region.sought)
    columns = [name for name in plan.columns if name != target.apart]
    if target.overwrites and columns == [name.lower() for name in target.partitions]:
        return replace_partitions(executor, target, with_touched(target, rows, touched), ("touched",))
    if not target.keys:
        return make_equal_bag(executor, target, Batch(rows), region, ("touched",))
    return merge(executor, target, Batch(rows), None if target.keeps_rows else region, ("touched",))
