"""What maintenance would do to a table, without doing it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from tidemark.base.clock import utc_now
from tidemark.lake.delta_log import DeltaLog
from tidemark.lake.retention import KEPT_SNAPSHOTS, Kept, lacking
from tidemark.lake.table_format import DELTA, ICEBERG, snapshots_of, table_format
from tidemark.maintain.clustering import NewFiles
from tidemark.maintain.clustering_by_format import clusterings_of
from tidemark.maintain.log_cleanup import old_files
from tidemark.maintain.maintenance import allowing, unread_by, vacuumed_files

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
        small_files: files that compaction would merge; 0 for a table that is clustered.
        old: files of old versions on Delta (a thousand stands for more), snapshots on Iceberg.
        unread: models that still need what would be deleted, with the version up to which they have read.
        clustered_by: the columns by which the table is clustered.
        new: the files that are not clustered yet.
        log: files of the log that only old versions need; on Iceberg, files that nothing needs.
        lacks: the properties for retention that the table does not have.
    """

    table: str
    small_files: int
    old: int
    unread: list[str] = field(default_factory=list)
    clustered_by: Sequence[str] = ()
    new: NewFiles = field(default_factory=NewFiles)
    log: int = 0
    lacks: Sequence[str] = ()


def plan(
    spark: SparkSession,
    tables: Sequence[str],
    kept: Kept,
    read: Mapping[str, Mapping[str, int]],
    clustered: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[Planned]:
    """Yield what maintenance would do.

    Args:
        spark: the session.
        tables: `schema.name`.
        kept: how long versions and logs are kept.
        read: the version up to which each model has read each table, by table and model.
        clustered: the columns by which tables are clustered.

    Raises:
        TidemarkError: if a table cannot be clustered by its columns.
    """
    horizon = utc_now() - timedelta(hours=kept.hours)
    clusterings = clusterings_of(spark, tables, clustered or {})
    for table in tables:
        unread = unread_by(spark, table, read.get(table, {}), horizon)
        clustering = clusterings.get(table)
        yield Planned(
            table,
            0 if clustering else _small_files(spark, table),
            0 if unread else _old(spark, table, kept.hours, horizon),
            unread,
            clustering.columns if clustering else (),
            clustering.new_files() if clustering else NewFiles(),
            0 if unread else old_files(spark, table, kept.log_hours),
            list(lacking(spark, table)),
        )


def _small_files(spark: SparkSession, table: str) -> int:
    """Return how many files compaction would merge."""
    if table_format(spark) == DELTA:
        files = DeltaLog(spark, table).files().where(f.col("size") < SMALL[DELTA])
        by_partition = files.groupBy(f.expr("to_json(partitionValues)")).count()
        return sum(row["count"] for row in by_partition.where("count > 1").collect())
    files = spark.table(f"{table}.files").where(f.col("file_size_in_bytes") < SMALL[ICEBERG])
    number = files.count()
    return number if number > 1 else 0


def _old(spark: SparkSession, table: str, hours: int, horizon: datetime) -> int:
    if table_format(spark) == DELTA:
        with allowing(spark):
            return vacuumed_files(spark, table, hours).count()
    times = [snapshot["at"] / 1e6 for snapshot in snapshots_of(spark, table)[KEPT_SNAPSHOTS:]]
    return sum(1 for at in times if at < horizon.timestamp())
