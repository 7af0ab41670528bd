"""Clean up what only old versions need of a table's log, and files that no version needs."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from tidemark.base.clock import utc_now
from tidemark.lake.delta_log import DeltaLog
from tidemark.lake.jvm import java_class
from tidemark.lake.table_format import DELTA, iceberg_call, table_format

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ORPHANED = 72  # hours: a younger file may be of a write that has not committed yet


class CleanedLog(DeltaLog):
    """The log of a Delta table, to be cleaned up."""

    def files_of_versions(self) -> DataFrame:
        """Return the files of the log that belong to a version: `version`, `name`, `at`."""
        folder = str(self._log.logPath().toString())
        files = self._spark.read.format("binaryFile").load(folder)  # contents are not read
        name = f.element_at(f.split("path", "/"), -1)
        version = f.regexp_extract(name, r"^(\d{20})\.", 1)
        return files.where(version != "").select(
            version.cast("bigint").alias("version"), name.alias("name"), f.col("modificationTime").alias("at")
        )

    def clean_up(self, hours: int) -> None:
        """Let Delta delete entries older than some hours that no younger version needs."""
        minutes = java_class(self._spark, "org.apache.spark.sql.delta.TruncationGranularity").MINUTE()
        options = java_class(
            self._spark, "scala.jdk.javaapi.OptionConverters"
        )  # Option(…) would hold an Integer
        kept = java_class(self._spark, "java.util.OptionalLong").of(hours * 3_600_000)
        self._log.cleanUpExpiredLogs(self._snapshot, self._option.empty(), options.toScala(kept), minutes)


def old_files(spark: SparkSession, table: str, hours: int) -> int:
    """Return how many files `clean_log` would delete.

    Args:
        spark: a session with a JVM.
        table: `schema.name`.
        hours: how long entries of the log are kept.
    """
    if table_format(spark) != DELTA:
        return spark.sql(_orphans(spark, table, hours, dry_run=True)).count()
    files = CleanedLog(spark, table).files_of_versions()
    return files.where(f.col("version") < _first_kept(files, hours)).count()


def clean_log(spark: SparkSession, table: str, hours: int) -> int:
    """Delete old files of a table's log; on Iceberg, all files that no snapshot and no metadata needs.

    Each version that is younger can still be read: on Delta the newest checkpoint that is older stays,
    with all commits since then. Nothing is deleted if there is no such checkpoint.

    Args:
        spark: a session with a JVM.
        table: `schema.name`.
        hours: how long entries of the log are kept. Models must have read everything older.

    Returns:
        The number of files that were deleted.
    """
    if table_format(spark) != DELTA:
        return spark.sql(_orphans(spark, table, hours, dry_run=False)).count()
    log = CleanedLog(spark, table)
    before = log.files_of_versions()
    number = before.count()
    if before.where(f.col("version") < _first_kept(before, hours)).isEmpty():
        return 0
    log.clean_up(hours)
    return number - log.files_of_versions().count()


def _first_kept(files: DataFrame, hours: int) -> int:
    """Return the version of the newest checkpoint that is old enough; 0 if there is none."""
    checkpoints = files.where(f"name like '%.checkpoint.%' and at <= timestamp '{_horizon(hours)}'")
    row: Any = checkpoints.agg(f.max("version")).first()
    return int(row[0] or 0)


def _orphans(spark: SparkSession, table: str, hours: int, *, dry_run: bool) -> str:
    older = f"older_than => timestamp '{_horizon(max(hours, ORPHANED))}'"
    return iceberg_call(spark, "remove_orphan_files", table, older, f"dry_run => {str(dry_run).lower()}")


def _horizon(hours: int) -> str:
    return f"{utc_now() - timedelta(hours=hours):%Y-%m-%d %H:%M:%S}"
