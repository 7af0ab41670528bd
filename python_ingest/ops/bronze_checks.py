"""The table `ops.bronze_checks`: comparisons of bronze with what landed, lost rows, and decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from pyspark.sql.functions import expr

from python_ingest.ops.batch import RETRACTED
from python_ingest.ops.feed_table import FeedTable
from tidemark.base.output import count_of, first_of
from tidemark.lake.table_format import table_exists

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = """
    feed string comment 'Name of the feed',
    table_id string comment 'Id of the bronze table',
    version bigint comment 'Its version or snapshot when its rows were counted',
    cause string comment 'Why they were counted',
    decision string comment 'complete: nothing was gone; landed_again; compared: with the source; accepted',
    lost array<struct<path: string, batch_id: bigint, landed: bigint, found: bigint>>
        comment 'What was gone: rows landed and rows found; the path is null for a whole batch',
    recorded_at timestamp comment 'When it was decided',
    _sequence bigint comment 'Grows with each write to this feed'
"""
Decision = Literal["complete", "landed_again", "compared", "accepted"]
SETTLED = "decision in ('accepted', 'compared')"  # later checks do not report these lost rows again


@dataclass(frozen=True)
class Lost:
    """Rows that landed but are missing from bronze.

    Attributes:
        path: the file, relative to the feed's location; None for a complete batch.
        batch_id: the batch in which they landed.
        landed: number of rows that landed.
        found: number of these rows in bronze.
    """

    path: str | None
    batch_id: int
    landed: int
    found: int

    @property
    def rows(self) -> int:
        return self.landed - self.found


@dataclass(frozen=True)
class Settled:
    """The result of a check of bronze, and the decision.

    Attributes:
        table: `schema.name`.
        cause: why bronze was checked.
        decision: what was decided.
        lost: the lost rows.
        version: bronze's version when its rows were last counted.
    """

    table: str
    cause: str
    decision: Decision
    lost: tuple[Lost, ...]
    version: int

    @property
    def message(self) -> str:
        """The result and the decision, in one sentence."""
        if not self.lost:
            return f"{self.table} was changed ({self.cause}); all landed rows are still there"
        ends = {
            "landed_again": "landed again",
            "compared": "compared all rows of the source and landed again those that it still has",
            "accepted": "accepted (`on_lost_rows: accept`)",
        }
        return f"{missing_rows_text(self.table, self.lost)} ({self.cause}): {ends[self.decision]}"


def missing_rows_text(table: str, lost: Sequence[Lost]) -> str:
    """Return how many rows are missing, and from which files."""
    names = [
        f"the retracted rows of batch {one.batch_id}"
        if one.path == RETRACTED
        else one.path or f"batch {one.batch_id}"
        for one in lost
    ]
    number = sum(one.rows for one in lost)
    return f"{table} is missing {count_of(number, 'landed row')}, from {first_of(names)}"


class BronzeChecks(FeedTable):
    """The checks of one feed's bronze table.

    Args:
        spark: the session.
        schema: the schema of the state tables.
        feed: the feed's name.
    """

    def __init__(self, spark: SparkSession, schema: str, feed: str) -> None:
        super().__init__(spark, schema, feed, "bronze_checks", COLUMNS)

    def version(self, table_id: str) -> int | None:
        """Return the version of a table at which its rows were last counted; None if they never were."""
        if not table_exists(self._spark, self._table):
            return None
        last: Any = self._rows().selectExpr("max_by(struct(table_id, version), _sequence) as last").first()
        return last["last"]["version"] if last["last"] and last["last"]["table_id"] == table_id else None

    def settled(self) -> DataFrame | None:
        """Return the losses that were settled (`batch_id`, `path`, `found`), or None if there is no table."""
        if not table_exists(self._spark, self._table):
            return None
        lost = self._rows().where(SETTLED).selectExpr("_sequence", "inline(lost)")
        return lost.groupBy("batch_id", "path").agg(expr("max_by(found, _sequence) as found"))

    def record(self, table_id: str, settled: Settled, at: datetime) -> None:
        """Record a check of a table, made at a time (UTC)."""
        self._create()
        last: Any = self._rows().selectExpr("coalesce(max(_sequence), 0) as sequence").first()
        lost = [asdict(one) for one in settled.lost]
        row = (table_id, settled.version, settled.cause, settled.decision, lost)
        self._add([(*row, at, last["sequence"] + 1)])
