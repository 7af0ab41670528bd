"""The chain of a query's stages for many histories: each stage is written as a run writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tidemark.engine.incremental.choosing import choose_plan
from tidemark.engine.incremental.measures import aggregate_of
from tidemark.engine.incremental.plan import Plan, Readings
from tidemark.engine.incremental.readings import filled, present, previous, quoted
from tidemark.engine.incremental.regions import Regions
from tidemark.engine.incremental.request import Request
from tidemark.engine.incremental.stages import Stage, Staged
from tidemark.engine.incremental.tree import Leaf, Node, leaves, reads, render
from tidemark.engine.prove.lifting import HISTORY, lifted, of_no_rows
from tidemark.engine.prove.written import Written, written

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession
    from sqlglot import exp


@dataclass(frozen=True)
class Chain:
    """What the stages of a query made of the changes of its sources.

    Attributes:
        rest: how the model's table is brought up to date from the stages.
        readings: what reads the sources and the stages.
        stages: how each stage was brought up to date, in words.
    """

    rest: Plan
    readings: dict[str, Mapping[str, str]]
    stages: tuple[str, ...]


def run_stages(
    spark: SparkSession,
    staged: Staged,
    request: Request,
    readings: Readings,
    *,
    commits: bool,
) -> Chain:
    """Write each stage from the changes of what it reads, and plan the model's table over them.

    Args:
        spark: the session.
        staged: the query in stages.
        request: what the plan of the model's table is made from.
        readings: what reads the sources, for many histories.
        commits: as in `written`.
    """
    known: dict[str, Mapping[str, str]] = {**readings}
    changed = set(request.changed)
    ways = []
    for stage in staged.stages:
        plan = None
        if reads(stage.tree, changed):
            touched = frozenset(changed & {leaf.table for leaf in leaves(stage.tree)})
            plan = stage.plan(touched, request)
            changed.add(stage.table)
        known[stage.table] = _write_stage(spark, stage, plan, known, commits=commits)
        ways.append(plan.how if plan else "unchanged")
    now = frozenset(changed & {leaf.table for leaf in leaves(staged.rest)})
    return Chain(choose_plan(staged.rest, replace(request, changed=now)), known, tuple(ways))


def lifted_plan(plan: Plan, tree: Node) -> Plan:
    """Return a plan for many histories at once.

    Args:
        plan: the plan for one history.
        tree: its query.

    Raises:
        Unsupported: if the query cannot be computed for many histories at once.
    """
    root = lifted(tree)
    request = replace(
        plan.request, key=(*plan.request.key, HISTORY), types={**plan.request.types, HISTORY: "int"}
    )
    regions = plan.regions and Regions(
        root, (*plan.columns, HISTORY), plan.regions.changed, plan.regions.joined
    )
    aggregate = plan.aggregate and aggregate_of(root, request.key, request.never_null)
    return replace(plan, root=root, request=request, regions=regions, aggregate=aggregate)


def table_of(spark: SparkSession, whole: Plan, readings: Readings) -> None:
    """Make the view of a table as the last run left it, from which `written` goes on."""
    assert whole.root is not None  # noqa: S101
    spark.sql(filled(render(whole.root, previous), readings)).createOrReplaceTempView("prove_table")


def rows_after(
    spark: SparkSession, whole: Plan, readings: Readings, *, commits: bool, name: str = "prove"
) -> AbstractContextManager[Written]:
    """Return the rows of a table after a run; a query that is computed in full gives its present rows."""
    if whole.way != "full":
        return written(spark, name, whole, readings, commits=commits)
    assert whole.root is not None  # noqa: S101
    return nullcontext(Written(filled(render(whole.root, present), readings)))


def _write_stage(
    spark: SparkSession, stage: Stage, plan: Plan | None, readings: Readings, *, commits: bool
) -> dict[str, str]:
    """Write a stage, and return what reads it."""
    unchanged = choose_plan(stage.tree, Request(stage.key, stage.types, frozenset()))
    whole = lifted_plan(plan or unchanged, stage.tree)
    views = {
        part: f"prove_{stage.table.replace('.', '_')}_{part}" for part in ("previous", "present", "changes")
    }
    table_of(spark, whole, readings)
    filler = of_no_rows(stage.tree)

    def keep(part: str, query: str, read: Callable[[Leaf], exp.Query]) -> None:
        added = filled(render(filler, read), readings) if filler else ""
        _keep(spark, views[part], f"{query} union all {added}" if added else query)

    keep("previous", "select * from prove_table", previous)
    if plan is None:
        _keep(spark, views["present"], f"select * from {views['previous']}")
    else:
        with rows_after(spark, whole, readings, commits=commits) as new:
            keep("present", new.query, present)
    columns = quoted([*stage.types, HISTORY])
    sides = (
        f"select {columns}, 1 as side from {views['present']} "
        f"union all select {columns}, -1 as side from {views['previous']}"
    )
    _keep(
        spark,
        views["changes"],
        f"select {columns}, if(side > 0, 'insert', 'delete') as _change_type, "
        "explode(sequence(1, abs(side))) as copy from "
        f"(select {columns}, sum(side) as side from ({sides}) group by {columns} having sum(side) <> 0)",
    )
    return views


def _keep(spark: SparkSession, name: str, query: str) -> None:
    """Make a view of rows that stay as they are, whatever becomes of the tables below."""
    spark.sql(query).localCheckpoint().createOrReplaceTempView(name)
