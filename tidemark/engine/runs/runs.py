"""The runs that `ops.runs` records: what each wrote, and what its models and tests had read afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidemark.base.clock import utc_time
from tidemark.base.errors import TidemarkError, did_you_mean
from tidemark.engine.built_with import UNDO
from tidemark.lake.table_format import table_exists

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LAST = "last"
ID_CHARACTERS_SHOWN = 8  # characters of an id


@dataclass(frozen=True)
class Written:
    """A table that a run wrote.

    Attributes:
        table: `schema.name`.
        table_id: its id afterwards.
        before, after: its version before the run, None if there was no table, and after it.
    """

    table: str
    table_id: str
    before: int | None
    after: int


@dataclass(frozen=True)
class Mark:
    """A checkpoint: up to where a reader has read a source. Its fields are those of `ops.checkpoints`."""

    model: str
    source: str
    source_id: str | None
    version: int | None
    watermark: str | None
    table_version: int | None
    table_id: str | None
    contract: str | None
    sequence: int
    recorded_at: int = 0  # microseconds since 1970

    @property
    def is_of_test(self) -> bool:
        return self.model.startswith("test.")


@dataclass(frozen=True)
class Run:
    """A row of `ops.runs`.

    Attributes:
        id: dbt's invocation_id.
        command: `run`, `build` and so on, or `undo`.
        started, ended: in microseconds since 1970.
        written: the tables that it wrote.
        undone: for an undo, the runs that it took back.
        marks: the checkpoints that it moved, for runs that were read with them.
    """

    id: str
    command: str
    started: int
    ended: int
    written: tuple[Written, ...] = ()
    undone: tuple[str, ...] = ()
    marks: tuple[Mark, ...] = field(default=(), repr=False)

    @property
    def label(self) -> str:
        """The run in words: `3f2a91c4 (build, 2026-01-31 04:00:12)`."""
        return f"{self.id[:ID_CHARACTERS_SHOWN]} ({self.command}, {utc_time(self.started):%Y-%m-%d %H:%M:%S})"

    @property
    def models(self) -> set[str]:
        """The tables that it wrote, or whose checkpoints it moved."""
        return {mark.model for mark in self.marks if not mark.is_of_test} | {w.table for w in self.written}


def recorded_runs(spark: SparkSession, ops_schema: str) -> list[Run]:
    """Return all runs without their checkpoints, the oldest first.

    Args:
        spark: the session.
        ops_schema: the schema of the state tables.

    Raises:
        TidemarkError: if there are none, or all are of a version that did not record what they wrote.
    """
    table = f"{ops_schema}.runs"
    columns = spark.table(table).columns if table_exists(spark, table) else []
    if "tables_written" not in columns:
        raise TidemarkError(
            f"{table} has no run that says which versions of tables it wrote.",
            "Runs from now on do: run `dbt build` first.",
        )
    return _runs(spark.table(table).drop("checkpoints"))


def since(spark: SparkSession, ops_schema: str, first: Run) -> list[Run]:
    """Return a run and all later ones, with their checkpoints, the oldest first."""
    return _runs(spark.table(f"{ops_schema}.runs").where(f"unix_micros(ended_at) >= {first.ended}"))


def _runs(rows: DataFrame) -> list[Run]:
    marks = ["checkpoints"] if "checkpoints" in rows.columns else []
    columns = ("invocation_id", "command", "tables_written", "undone_runs", *marks)
    times = ("unix_micros(started_at) as started", "unix_micros(ended_at) as ended")
    found = [_run(row.asDict(recursive=True)) for row in rows.selectExpr(*columns, *times).collect()]
    return sorted(found, key=lambda run: (run.ended, run.id))


def _run(row: dict[str, Any]) -> Run:
    written = [
        Written(each["table"], each["table_id"], each["version_before"], each["version"])
        for each in row["tables_written"] or []
    ]
    marks = [Mark(**mark, recorded_at=row["started"]) for mark in row.get("checkpoints") or []]
    undone = tuple(row["undone_runs"] or ())
    return Run(
        row["invocation_id"],
        row["command"],
        row["started"],
        row["ended"],
        tuple(written),
        undone,
        tuple(marks),
    )


def undone_ids(runs: Iterable[Run]) -> set[str]:
    """Return the ids of the runs that were taken back."""
    return {name for run in runs for name in run.undone}


def choose_run(runs: Sequence[Run], name: str) -> Run:
    """Return the run with an id.

    Args:
        runs: all runs, the oldest first.
        name: the beginning of an id, or `last`: the newest run that wrote a table and was not undone.

    Raises:
        TidemarkError: if no run fits, or several do.
    """
    if name == LAST:
        undone = undone_ids(runs)
        writing = [run for run in runs if run.written and run.command != UNDO and run.id not in undone]
        if not writing:
            raise TidemarkError(
                "No recorded run has written a table.", "`select * from ops.runs` shows all runs."
            )
        return writing[-1]
    found = [run for run in runs if run.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise TidemarkError(
            f"{len(found)} runs begin with {name}: {', '.join(run.id for run in found[-5:])}.",
            "Give more characters of the id.",
        )
    newest = ", ".join(run.label for run in reversed(runs[-3:])) or "none"
    similar = did_you_mean(
        name, [LAST, *(run.id[: max(len(name), ID_CHARACTERS_SHOWN)] for run in reversed(runs))]
    )
    raise TidemarkError(
        f"No recorded run begins with {name}.",
        f"{similar}The newest are: {newest}. `ops.runs` has all of them.",
    )
