"""Compact, cluster and expire tables, but never delete versions that a model still has to read."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from tidemark.base.clock import utc_now, utc_time
from tidemark.base.errors import TidemarkError, did_you_mean
from tidemark.lake.jvm import silent_console
from tidemark.lake.retention import KEPT_SNAPSHOTS, Kept, lacking, set_properties
from tidemark.lake.table_format import DELTA, iceberg_call, snapshots_of, table_exists, table_format
from tidemark.maintain.clustering import Clustering
from tidemark.maintain.log_cleanup import clean_log

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ALLOWED = {
    "vacuum.logging.enabled": "true",  # readers look for it in the history
    "vacuum.retentionWindowIgnore.enabled": "false",  # else Delta takes the table's own property instead
    "retentionDurationCheck.enabled": "false",  # fewer hours than this property are fine, too
}


@dataclass
class Maintained:
    """The result of maintenance for one table.

    Attributes:
        table: `schema.name`.
        before, after: files that were rewritten, and into how many.
        clustered_by: the columns by which they were clustered.
        deleted: files of old versions that were deleted.
        log: files of the log that were deleted.
        is_set: whether the properties for retention were set.
        unread: models that still need what would be deleted, with the version up to which they have read.
        seconds: run time.
    """

    table: str
    before: int = 0
    after: int = 0
    clustered_by: Sequence[str] = ()
    deleted: int = 0
    log: int = 0
    is_set: bool = False
    unread: list[str] = field(default_factory=list)
    seconds: float = 0.0


def chosen_tables(spark: SparkSession, known: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the named tables, or all tables that exist.

    Args:
        spark: the session.
        known: the project's tables, `schema.name`.
        names: some of them; empty for all.

    Raises:
        TidemarkError: if a name is not one of them, or its table is not built yet.
    """
    there = [table for table in known if table_exists(spark, table)]
    unknown = [name for name in names if name not in there]
    if unknown:
        raise TidemarkError(
            f"There is no table {', '.join(unknown)}.",
            f"{did_you_mean(unknown[0], there)}Choose from: {', '.join(there) or 'none yet'}.",
        )
    return list(names) or there


def maintain(
    spark: SparkSession,
    table: str,
    kept: Kept,
    readers: Mapping[str, int],
    clustering: Clustering | None = None,
) -> Maintained:
    """Cluster a table or merge its small files; delete old versions and old files of its log.

    No row changes, so that no model reads anything again. Nothing is deleted that a model has yet to read.

    Args:
        spark: a session with a JVM.
        table: `schema.name`.
        kept: how long versions and logs are kept.
        readers: the version up to which each model has read the table.
        clustering: how the table is clustered, if it is.
    """
    started = time.monotonic()
    done = Maintained(table)
    if clustering is None:
        done.before, done.after = compact(spark, table)
    elif (new := clustering.new_files()).number:
        done.before, done.after = clustering.rewrite(new)
        done.clustered_by = clustering.columns
    done.deleted, done.unread = expire(spark, table, kept.hours, readers)
    done.log = 0 if done.unread else clean_log(spark, table, kept.log_hours)
    if properties := lacking(spark, table):
        set_properties(spark, table, properties)
        done.is_set = True
    done.seconds = time.monotonic() - started
    return done


def compact(spark: SparkSession, table: str) -> tuple[int, int]:
    """Rewrite small files into fewer ones; no row changes, and no model reads anything again.

    Args:
        spark: the session.
        table: `schema.name`.

    Returns:
        The number of files that were rewritten, and into how many.
    """
    if table_format(spark) == DELTA:
        metrics = _first(spark, f"optimize {table}")["metrics"]
        return metrics["numFilesRemoved"], metrics["numFilesAdded"]
    options = "options => map('min-input-files', '2')"
    row = _first(spark, iceberg_call(spark, "rewrite_data_files", table, options))
    return row["rewritten_data_files_count"], row["added_data_files_count"]


def expire(spark: SparkSession, table: str, hours: int, readers: Mapping[str, int]) -> tuple[int, list[str]]:
    """Delete files that only versions older than `hours` need, unless a model has yet to read one of these.

    Args:
        spark: the session.
        table: `schema.name`.
        hours: how far back time travel and late readers can go afterwards.
        readers: the version up to which each model has read the table.

    Returns:
        The number of deleted files, and the models that have yet to read a version: nothing is deleted then.
    """
    horizon = utc_now() - timedelta(hours=hours)
    unread = unread_by(spark, table, readers, horizon)
    if unread:
        return 0, unread
    is_delta = table_format(spark) == DELTA
    return _vacuum(spark, table, hours) if is_delta else _drop(spark, table, horizon), []


def _vacuum(spark: SparkSession, table: str, hours: int) -> int:
    """Vacuum a table if that deletes anything."""
    with allowing(spark):
        if vacuumed_files(spark, table, hours).isEmpty():
            return 0
        spark.sql(f"vacuum {table} retain {hours} hours")
    return int(_first(spark, f"describe history {table} limit 1")["operationMetrics"]["numDeletedFiles"])


def vacuumed_files(spark: SparkSession, table: str, hours: int) -> DataFrame:
    """Return the files that VACUUM would delete, at most 1,000, within `allowing`.

    It also lists folders, such as the one of change files that is in use. To delete nothing else would make
    two commits each time.
    """
    return spark.sql(f"vacuum {table} retain {hours} hours dry run").where(r"path rlike '/[^/=]+\\.[^/=]+$'")


@contextmanager
def allowing(spark: SparkSession) -> Iterator[None]:
    """Let VACUUM keep exactly the hours that it is told, write to the history, and print nothing.

    That is safe, because no other process writes the table meanwhile, and the models' checkpoints are known.
    """
    settings = {f"spark.databricks.delta.{name}": value for name, value in ALLOWED.items()}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        with silent_console(spark):
            yield
    finally:
        for name in settings:
            spark.conf.unset(name)


def _drop(spark: SparkSession, table: str, horizon: datetime) -> int:
    limits = (f"older_than => timestamp '{horizon:%Y-%m-%d %H:%M:%S}'", f"retain_last => {KEPT_SNAPSHOTS}")
    row = _first(spark, iceberg_call(spark, "expire_snapshots", table, *limits))
    return int(row["deleted_data_files_count"])


def unread_by(spark: SparkSession, table: str, readers: Mapping[str, int], horizon: datetime) -> list[str]:
    """Return the models that have not caught up and would lose versions that they need.

    On Delta they need the commits after their version; on Iceberg they need that version itself.

    Args:
        spark: the session.
        table: `schema.name`.
        readers: the version up to which each model has read the table.
        horizon: versions that are older would be deleted.
    """
    versions = _versions(spark, table) if readers else []
    is_delta = table_format(spark) == DELTA
    needed_since = {
        version: later[1] if is_delta else at
        for (version, at), later in zip(versions[1:], versions, strict=False)
    }
    return [
        f"{model} (up to version {version})"
        for model, version in sorted(readers.items())
        if version in needed_since and needed_since[version] < horizon and table_exists(spark, model)
    ]


def _versions(spark: SparkSession, table: str) -> list[tuple[int, datetime]]:
    """Return a table's versions with the times of their commits, newest first."""
    if table_format(spark) == DELTA:
        history = spark.sql(f"describe history {table}").selectExpr("version", "unix_micros(timestamp)")
        return [(version, utc_time(at)) for version, at in sorted(history.collect(), reverse=True)]
    return [(row["snapshot_id"], utc_time(row["at"])) for row in snapshots_of(spark, table)]


def _first(spark: SparkSession, statement: str) -> Any:
    return spark.sql(statement).collect()[0]
