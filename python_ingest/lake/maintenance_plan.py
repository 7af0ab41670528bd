"""What maintenance would do to a table, without doing it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from python_ingest.lake.delta_log import DeltaLog
from python_ingest.lake.maintenance import allowing, marks_of, unread_by
from python_ingest.lake.retention import KEPT_SNAPSHOTS
from python_ingest.lake.table_format import DELTA, snapshots_of, table_format

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SMALL = {
    "delta": 2**30,
    "iceberg": 3 * 2**27,
}  # bytes below which OPTIMIZE and rewrite_data_files take a file


@dataclass(frozen=True)
class Planned:
    """What maintenance would do to a table.

    Attributes:
        table: `schema.name`.
        small_files: files that compaction would merge.
        old: files of old versions on Delta (a thousand stands for more), snapshots on Iceberg.
        unread: models that still need what would be deleted, with the version up to which they have read.
    """

    table: str
    small_files: int
    old: int
    unread: list[str] = field(default_factory=list)


def plan(spark: SparkSession, tables: Sequence[str], hours: int, ops_schema: str) -> Iterator[Planned]:
    """Yield what maintenance would do.

    Args:
        spark: the session.
        tables: `schema.name`.
        hours: how far back versions would be kept.
        ops_schema: the schema of the checkpoints.
    """
    horizon = datetime.now(timezone.utc) - timedelta(hours=hours)
    marks = marks_of(spark, ops_schema)
    for table in tables:
        unread = unread_by(spark, table, marks.get(table, {}), horizon)
        if table_format(spark) == DELTA:
            with allowing(spark):
                old = spark.sql(f"vacuum {table} retain {hours} hours dry run").count()
            small = DeltaLog(spark, table).small_files(SMALL["delta"])
        else:
            times = [snapshot["at"] / 1e6 for snapshot in snapshots_of(spark, table)[KEPT_SNAPSHOTS:]]
            old = sum(1 for at in times if at < horizon.timestamp())
            files = (
                spark.table(f"{table}.files").where(f.col("file_size_in_bytes") < SMALL["iceberg"]).count()
            )
            small = files if files > 1 else 0
        yield Planned(table, small, 0 if unread else old, unread)
