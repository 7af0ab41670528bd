"""Explain what the next run would do for each model, and why, without running anything."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tidemark.base.messages import first_sentence, sentence
from tidemark.engine.decision.costs import Usual
from tidemark.engine.decision.stages import stages_wanted
from tidemark.engine.decision.states import NOTHING_NEW
from tidemark.engine.incremental.analysis import plan_of, staged_of
from tidemark.engine.incremental.request import request_of
from tidemark.engine.incremental.session_catalog import types_of
from tidemark.engine.incremental.statement_catalog import catalog_of
from tidemark.engine.project.compiled import Compiled, Source
from tidemark.engine.project.compiled_models import compiled_models
from tidemark.engine.project.sql_header import created_for
from tidemark.lake.delta_statements import log_of
from tidemark.lake.stage_tables import stage_table
from tidemark.lake.table_format import DELTA, snapshots_of, table_exists, table_format

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REASON = re.compile(r"\((.*)\)$", re.DOTALL)  # at the end of what a model reads


@dataclass(frozen=True)
class Read:
    """What a model would read from one source.

    Attributes:
        source: `schema.name`.
        message: which versions, and why these.
        rows: rows that these versions wrote to the source, or all rows for a full scan.
        bytes: the bytes of those rows.
        is_idle: whether there is nothing to read.
    """

    source: str
    message: str
    rows: int
    bytes: int
    is_idle: bool = False


@dataclass(frozen=True)
class Cost:
    """What a plain model's way costs, beside that of a computation in full.

    Attributes:
        joined: the bytes of the tables that the changes are joined with; None where the values of the changes
            decide how much is read.
        in_full: the bytes of all tables that its query reads.
        usual: what its runs have taken.
    """

    joined: int | None
    in_full: int
    usual: Usual


@dataclass(frozen=True)
class Plan:
    """What the next run would do with one model.

    Attributes:
        table: `schema.name`.
        reads: what it would read in the current state.
        waits_for: upstream models that the same run would change first, so that it may read more.
        unproven: why nothing proves its table, so that its reads are unknown; empty if it is proven.
        failed: why it cannot be planned, or None.
        materialized: as in dbt.
        cost: what its way costs; None for a model that is not plain, and without changes.
        state: how it reads them: one of docs/incremental.md, the first that is not `nothing new`.
        why: why it reads them so, where this is not the usual.
    """

    table: str
    reads: tuple[Read, ...]
    waits_for: tuple[str, ...]
    unproven: str = ""
    failed: str | None = None
    materialized: str = "incremental"
    cost: Cost | None = None
    state: str = ""
    why: str = ""

    @property
    def idle(self) -> bool:
        return not self.unproven and self.failed is None and all(read.is_idle for read in self.reads)


def explain(
    spark: SparkSession, selection: Sequence[str], variables: Mapping[str, Any] | None = None
) -> list[Plan]:
    """Plan models without running them. A model that cannot be planned stops no other.

    Args:
        spark: the session.
        selection: dbt selectors; empty for all models but ephemeral ones, which no run executes.
        variables: values of `--vars` of the next run; None for those of the runs that built the tables.

    Returns:
        A plan for each model; models come after those that they read.
    """
    plans: dict[str, Plan] = {}
    models = compiled_models(spark, selection, "explain", variables, as_built=not variables)
    waiting = {model.table: model for model in models if selection or model.materialized != "ephemeral"}
    while waiting:
        ready = [
            model
            for model in waiting.values()
            if not waiting.keys() & {source.name for source in model.reads}
        ]
        for model in ready:
            plans[model.table] = _plan(spark, model, plans)
            del waiting[model.table]
    return list(plans.values())


def _plan(spark: SparkSession, model: Compiled, below: dict[str, Plan]) -> Plan:
    if model.hidden or model.failed is not None:
        failed = model.needs_variables or f"it does not compile: {first_sentence(model.failed or '')}"
        return Plan(model.table, (), (), failed=failed)
    try:
        with created_for(spark, model.header):
            return _planned_reads(spark, model, below)
    except Exception as error:  # one model that cannot be planned stops no other
        return Plan(model.table, (), (), failed=sentence(error))


def _planned_reads(spark: SparkSession, model: Compiled, below: dict[str, Plan]) -> Plan:
    sources = [below[source.name] for source in model.reads if source.name in below]
    waits_for = tuple(plan.table for plan in sources if not plan.idle or plan.waits_for)
    how, cost = _way(spark, model) if model.request is not None else ("", None)
    reads = tuple(_read(spark, source) for source in _planned(model, how))
    plan = Plan(model.table, reads, waits_for, model.way.why_unproven, None, model.materialized, cost)
    first = next((one for one in model.reads if one.state != NOTHING_NEW), None)
    state, why = (first.state, REASON.search(first.message)) if first else (NOTHING_NEW, None)
    return replace(plan, state=state, why=why[1] if why else "")


def _way(spark: SparkSession, model: Compiled) -> tuple[str, Cost]:
    """Return how a plain model would be brought up to date, in words, and what that costs."""
    request = request_of({**(model.request or {}), "types": types_of(spark, model.sql)})
    plan = plan_of(catalog_of(spark), model.sql, request)
    how, joined = plan.how, plan.bytes_joined
    first = stage_table(model.table, 1)
    wanted = stages_wanted(plan.way, plan.request, are_there=lambda: table_exists(spark, first))
    stages = staged_of(
        plan.root,
        plan.request,
        lambda number: stage_table(model.table, number),
        lambda sql: types_of(spark, sql),
        wanted,
    )
    how, joined = (stages.how(request), None) if stages else (how, joined)
    return how, Cost(joined, sum(request.sizes.values()), Usual(**model.took))


def _planned(model: Compiled, how: str) -> Iterator[Source]:
    """Yield what a model reads; of a plain model, how its query allows its changed sources to be read."""
    for source in model.reads:
        if not how:
            yield source
        elif how.startswith("full"):
            yield replace(source, state="full", after=None, message=f"as of version {source.last} ({how})")
        elif source.state == "incremental":
            yield replace(source, message=f"{source.message} ({how})")
        else:
            yield source


def _read(spark: SparkSession, source: Source) -> Read:
    rows, size = 0, 0
    is_idle = source.state == NOTHING_NEW
    if not is_idle and source.last is not None and table_exists(spark, source.name):
        if source.after is None:
            rows, size = spark.table(source.name).count(), _bytes(spark, source.name)
        else:
            commits = _commits(spark, source.name, source.after, source.last)
            rows, size = _total(commits, ROWS), _total(commits, BYTES)
    return Read(source.name, source.message, rows, size, is_idle)


def _commits(spark: SparkSession, table: str, after: int, last: int) -> list[Mapping[str, str]]:
    """Return the metrics of the commits after version `after` up to version `last`."""
    if table_format(spark) != DELTA:
        return [*_summaries(spark, table, after, last)]
    log = log_of(spark, table)
    commits = log.commits(log.version - after)
    return [commit["operationMetrics"] for commit in commits if commit["version"] <= last]


ROWS = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")
BYTES = ("numTargetBytesAdded", "numOutputBytes", "added-files-size")


def _total(metrics: Sequence[Mapping[str, str]], names: Sequence[str]) -> int:
    """Add up metrics of commits; a plain write has its rows as `numOutputRows`, a merge has them by kind."""
    total = 0
    for commit in metrics:
        found = [int(commit[name]) for name in names if name in commit]
        total += sum(found) if found else int(commit.get("numOutputRows", commit.get("added-records", 0)))
    return total


def _summaries(spark: SparkSession, source: str, after: int, last: int) -> list[dict[str, str]]:
    """Return the summaries of an Iceberg table's snapshots after one up to another, without compactions."""
    line = snapshots_of(spark, source)
    ids = [snapshot["snapshot_id"] for snapshot in line]
    span = line[ids.index(last) : ids.index(after) if after in ids else len(line)]
    return [snapshot["summary"] for snapshot in span if snapshot["operation"] != "replace"]


def _bytes(spark: SparkSession, source: str) -> int:
    if table_format(spark) == DELTA:
        return int(log_of(spark, source).state()["bytes"])
    newest = snapshots_of(spark, source)[:1]
    return sum(int(snapshot["summary"]["total-files-size"]) for snapshot in newest)
