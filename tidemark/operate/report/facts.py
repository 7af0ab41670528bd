"""What a report tells. Times are UTC. Names and reasons come from files, so they are not trusted."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from tidemark.engine.verify.proofs import Share
from tidemark.operate.report.periods import Periods
from tidemark.operate.status.freshness import Limits
from tidemark.operate.status.level import Level

OUTCOMES = ("inserted", "updated", "deleted", "unchanged", "superseded", "rejected")
CHANGES = OUTCOMES[:3]
REJECTED = "rejected_"  # before the name of a silver model, the model of the rows that it rejects


@dataclass(frozen=True)
class Run:
    """A dbt command that read or failed: a row of `ops.runs`."""

    invocation_id: str
    command: str
    started_at: datetime
    ended_at: datetime
    succeeded: bool
    models_written: int
    models_failed: int
    models_skipped: int
    tests_failed: int

    @property
    def seconds(self) -> float:
        return (self.ended_at - self.started_at).total_seconds()


@dataclass(frozen=True)
class ModelPeriod:
    """The runs of one model that started in one period: sums over `ops.model_runs`.

    Attributes:
        model: `schema.name`.
        period: number of the period.
        runs, failed: runs that read something or failed, and how many of them failed.
        seconds, longest: run time of all runs, and of the longest.
        rows_read: rows read from its sources.
        rows: rows of each outcome in OUTCOMES; rejected are those of the runs that are compared.
        unaccounted: rows read minus rows with an outcome, over the runs that are compared: those with which
            its `rejected_*` model read the same versions.
        uncompared: the same difference over the other runs, without rejected rows.
        last_at, last_status, last_message: of the newest run.
    """

    model: str
    period: int
    runs: int
    failed: int
    seconds: float
    longest: float
    rows_read: int
    rows: dict[str, int]
    unaccounted: int
    uncompared: int
    last_at: datetime
    last_status: str
    last_message: str | None


@dataclass(frozen=True)
class Landing:
    """What landed of one feed in one period: rows in state `landed` of the two tables of landings."""

    feed: str
    period: int
    rows: int
    files: int


@dataclass(frozen=True)
class Lateness:
    """How late a feed landed: the time of the landing minus the source's time, in seconds.

    Attributes:
        landings: number of files, or of batches of a table or topic, that were measured.
        least, median, high, most: minimum, median, 90th percentile (both approximate), maximum.
    """

    landings: int
    least: float
    median: float
    high: float
    most: float


@dataclass(frozen=True)
class Feed:
    """A declared feed.

    Attributes:
        table: its bronze table, `schema.name`.
        kind: csv, json, avro, parquet, postgresql or kafka.
        limits: its limits of freshness.
        rows: rows that have ever landed.
        landed_at: its newest landing; None if it never landed.
        lateness: over the report's time; None if nothing landed in it.
    """

    name: str
    table: str
    kind: str
    limits: Limits
    rows: int = 0
    landed_at: datetime | None = None
    lateness: Lateness | None = None

    def age(self, now: datetime) -> timedelta | None:
        """Return the time since the newest landing; None if the feed never landed."""
        return now - self.landed_at if self.landed_at else None

    def state(self, now: datetime) -> str:
        """Return how fresh the feed is, in words."""
        age = self.age(now)
        if age is None:
            return "never landed"
        return {Level.OK: "fresh", Level.WARNING: "late", Level.ERROR: "stale"}[self.limits.level(age)]


@dataclass(frozen=True)
class Rejection:
    """Files, records or rows that were set aside for one reason and are so now.

    Attributes:
        kind: file: not landed; record: in bronze as text, in `ops.rejected_records`; row: broke a rule of
            silver.
        place: the feed; for rows the `rejected_*` table.
        number: how many.
        replayed: how many of these records have landed after all.
        example: one of the files.
    """

    kind: Literal["file", "record", "row"]
    place: str
    reason: str
    number: int
    replayed: int = 0
    example: str | None = None


@dataclass(frozen=True)
class Size:
    """The files of a table's newest version."""

    table: str
    files: int
    bytes: int


@dataclass(frozen=True)
class SchemaChange:
    """A row of `ops.schema_changes`."""

    recorded_at: datetime
    feed: str
    change: str
    column: str
    from_type: str | None
    to_type: str | None
    path: str | None


@dataclass(frozen=True)
class LostRows:
    """Rows that landed and were missing from bronze: a row of `ops.bronze_checks`."""

    recorded_at: datetime
    feed: str
    decision: str
    cause: str
    rows: int


@dataclass(frozen=True)
class Report:
    """All that the page shows.

    Attributes:
        project, lake: their names.
        made_at: the time of the report.
        periods: the report's time; runs and landings before it are left out.
        runs: newest first.
        run_count: their number, also of those that are left out because they are too many.
        models: number of models in the project.
        feeds: by name.
        unfinished: feeds with a planned batch that has not landed: a landing was interrupted.
        lineage: link to the lineage site from the page; None if there is none.
        ids: dbt's unique id of each table of the project.
        keys: the columns of the key of each built table that has one.
        proved: how much of the tables was proved within seven days; None if no part ever was.
    """

    project: str
    lake: str
    made_at: datetime
    periods: Periods
    runs: tuple[Run, ...] = ()
    run_count: int = 0
    models: int = 0
    feeds: tuple[Feed, ...] = ()
    unfinished: tuple[str, ...] = ()
    landings: tuple[Landing, ...] = ()
    model_periods: tuple[ModelPeriod, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    sizes: tuple[Size, ...] = ()
    schema_changes: tuple[SchemaChange, ...] = ()
    schema_change_count: int = 0
    lost_rows: tuple[LostRows, ...] = ()
    lineage: str | None = None
    ids: dict[str, str] = field(default_factory=dict)
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    proved: Share | None = None

    @property
    def silver(self) -> set[str]:
        """The models with a `rejected_*` model beside them."""
        known = {*self.ids, *(one.model for one in self.model_periods)}
        return {
            f"{schema}.{name.removeprefix(REJECTED)}"
            for schema, _, name in (table.partition(".") for table in known)
            if name.startswith(REJECTED) and f"{schema}.{name.removeprefix(REJECTED)}" in known
        }

    @property
    def is_empty(self) -> bool:
        """Whether the lake has neither a landing nor a run."""
        return not (self.runs or self.sizes or any(feed.landed_at for feed in self.feeds) or self.rejections)
