"""The checkpoints of before some runs, fitted to tables that were set back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from tidemark.base.errors import TidemarkError
from tidemark.engine.built_with import UNDO
from tidemark.engine.runs.plan import Plan
from tidemark.engine.runs.runs import Mark, Run, undone_ids
from tidemark.lake.tables import local_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOINED = "joined "  # before the id of a table that is read by a plain ref()
Pair = tuple[str, str]  # a model or test, and a source


@dataclass(frozen=True)
class Restored:
    """A table that was set back.

    Attributes:
        before: the version to which it was set back.
        table_id: its id at this version.
        undone: its version until then.
        version, now_id: its version and its id afterwards, with the same rows.
        same_rows: whether no commit after a version, up to a later one, changed rows.
    """

    before: int
    table_id: str
    undone: int
    version: int
    now_id: str
    same_rows: Callable[[int, int], bool]

    def has_rows_of(self, version: int | None, table_id: str | None) -> bool:
        """Return whether the table now has the rows of a version."""
        return version is not None and table_id == self.table_id and self.same_rows(version, self.before)


def marks_before(spark: SparkSession, ops_schema: str, plan: Plan) -> dict[Pair, Mark]:
    """Return the checkpoints before the runs of a plan: of all models and tests concerned, on all sources.

    A checkpoint's sequence grows each time it moves: the one before has a lower sequence than the runs'.
    """
    first = _first_sequences(plan)
    moved = local_rows(
        spark,
        "model string, source string, first bigint",
        [(*pair, sequence) for pair, sequence in first.items()],
    )
    marks = (
        spark.table(f"{ops_schema}.runs")
        .select(f.unix_micros("started_at").alias("recorded_at"), f.explode("checkpoints").alias("mark"))
        .select("recorded_at", "mark.*")
    )
    of_tables = marks.where(f.col("source").isin(sorted(plan.before))).select("model").distinct()
    readers = {model for model, _ in first} | plan.models | {row["model"] for row in of_tables.collect()}
    concerned = marks.where(f.col("model").isin(sorted(readers)))
    newest = f.max_by(f.struct(*(field.name for field in fields(Mark))), "sequence").alias("newest")
    found = (
        concerned.join(moved, on=["model", "source"], how="left")
        .where("first is null or sequence < first")
        .groupBy("model", "source")
        .agg(newest)
        .select("newest.*")
    )
    return {(row["model"], row["source"]): Mark(**row.asDict()) for row in found.collect()}


def marks_after(
    plan: Plan, runs: Sequence[Run], before: Mapping[Pair, Mark], restored: Mapping[str, Restored]
) -> list[Mark]:
    """Return the checkpoints to record once all tables are set back.

    They are those of before. Where they name a version of a table that was restored, they name the version
    that has the same rows now, so that the next run goes on from it. A checkpoint that the runs made first
    is recorded without values, as one that does not exist. The checkpoints of a test that has passed since
    stay: they are true, and what was restored is a change for it.

    Args:
        plan: the runs that are taken back.
        runs: these and all later runs, undos included.
        before: the checkpoints of before.
        restored: the tables that were set back and still exist.
    """
    moved = _first_sequences(plan)
    last = _last_sequences(runs)
    passed_since = _tests_of_others(plan, runs)
    found = []
    for pair in sorted({*moved, *before}):
        model, source = pair
        mark = before.get(pair)
        is_of_test = model.startswith("test.")
        if is_of_test and model in passed_since and pair in moved:
            continue
        sequence = max(last.get(pair, 0), mark.sequence if mark else 0) + 1
        if mark is None or mark.source_id is None:
            new = Mark(model, source, None, None, None, None, None, None, sequence)
        else:
            newest = mark if is_of_test else _newest(model, before)
            new = _fitted(mark, newest, restored)
        is_changed = mark is None or (mark.version, mark.source_id) != (new.version, new.source_id)
        if pair in moved or model in restored or is_changed:
            found.append(replace(new, sequence=sequence))
    return found


def refuse_other_contracts(plan: Plan, before: Mapping[Pair, Mark]) -> None:
    """Stop on Iceberg if a table had other constraints: a rollback does not bring properties back.

    The first part of a checkpoint's `contract` is a fingerprint of columns, constraints and descriptions.
    """
    for mark in (mark for run in plan.runs for mark in run.marks if mark.model in plan.before):
        then = before.get((mark.model, mark.source))
        contracts = [each.contract.partition(".")[0] for each in (then, mark) if each and each.contract]
        if len(set(contracts)) > 1:
            raise TidemarkError(
                f"{mark.model} had another contract before the run, and Iceberg does not keep contracts.",
                f"Change it back, and run `dbt run --full-refresh --select {mark.model.partition('.')[2]}`.",
            )


def _fitted(mark: Mark, newest: Mark, restored: Mapping[str, Restored]) -> Mark:
    """Return a checkpoint that names the present versions of restored tables."""
    version, source_id = mark.version, mark.source_id or ""
    source = restored.get(mark.source)
    prefix = JOINED if source_id.startswith(JOINED) else ""
    if source and source.has_rows_of(version, source_id.removeprefix(JOINED)):
        version, source_id = source.version, f"{prefix}{source.now_id}"
    table_version, table_id = newest.table_version, newest.table_id
    own = restored.get(mark.model)
    if own and own.has_rows_of(table_version, table_id):
        table_version, table_id = own.version, own.now_id
    return replace(mark, version=version, source_id=source_id, table_version=table_version, table_id=table_id)


def _newest(model: str, before: Mapping[Pair, Mark]) -> Mark:
    """Return the checkpoint that says how the model's last run left its table, as `newest_mark` does."""
    own = [mark for (reader, _), mark in before.items() if reader == model and mark.source_id is not None]
    return max(own, key=lambda mark: (mark.recorded_at, mark.table_version or 0))


def _first_sequences(plan: Plan) -> dict[Pair, int]:
    """Return the lowest sequence of each checkpoint that the runs moved."""
    found: dict[Pair, int] = {}
    for mark in (mark for run in plan.runs for mark in run.marks):
        pair = (mark.model, mark.source)
        found[pair] = min(mark.sequence, found.get(pair, mark.sequence))
    return found


def _last_sequences(runs: Sequence[Run]) -> dict[Pair, int]:
    found: dict[Pair, int] = {}
    for mark in (mark for run in runs for mark in run.marks):
        pair = (mark.model, mark.source)
        found[pair] = max(mark.sequence, found.get(pair, 0))
    return found


def _tests_of_others(plan: Plan, runs: Sequence[Run]) -> set[str]:
    """Return the tests that passed in later runs which are not taken back."""
    undone = undone_ids(runs)
    others = [run for run in runs if run not in plan.runs and run.command != UNDO and run.id not in undone]
    return {mark.model for run in others for mark in run.marks if mark.is_of_test}
