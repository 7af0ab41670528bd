"""Delete what earlier versions of a table hold: data files, change feeds, logs, statistics of removed files.

It takes two steps, and all readers must run in between. `prepare` makes a version whose own commit says
nothing about rows. Once the checkpoints of all readers name this version, `purge` deletes all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tidemark.base.errors import TidemarkError
from tidemark.lake.retention import set_properties
from tidemark.lake.table_format import DELTA, table_exists, table_format
from tidemark.lake.versions_by_format import versions_of
from tidemark.maintain.delta_cut import DeltaCut
from tidemark.maintain.iceberg_purge import prepare_iceberg, purge_iceberg, removed_files
from tidemark.maintain.maintenance import expire

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MARK = "tidemark.erasure"


def prepare(spark: SparkSession, table: str, readers: Mapping[str, int], erasure_id: str) -> int:
    """Delete old files, and make a version without a trace of rows; return this version.

    Args:
        spark: the session.
        table: `schema.name`.
        readers: the version up to which each model has read the table.
        erasure_id: why; a property of the table, on Delta.

    Raises:
        TidemarkError: if a model has not read the present version yet.
    """
    if table_format(spark) != DELTA:
        return prepare_iceberg(spark, table)
    _, unread = expire(spark, table, 0, readers)
    if unread:
        raise _unread(table, unread)
    set_properties(spark, table, {MARK: erasure_id})
    return versions_of(spark, table).present


def is_prepared(spark: SparkSession, table: str, version: int) -> bool:
    """Return whether the present version is still without a trace of rows.

    Args:
        spark: the session.
        table: `schema.name`.
        version: what `prepare` returned. On Iceberg, a dbt snapshot with nothing new makes another one.
    """
    if table_format(spark) != DELTA:
        return not removed_files(spark, table)
    return versions_of(spark, table).present == version


def purge(spark: SparkSession, table: str, readers: Mapping[str, int]) -> int:
    """Delete all that is not of the present version; return the number of deleted files of logs.

    Args:
        spark: the session.
        table: `schema.name`.
        readers: the version up to which each model has read the table.

    Raises:
        TidemarkError: if a model has read another version last.
    """
    present = versions_of(spark, table).present
    late = [
        f"{model} (up to version {version})"
        for model, version in readers.items()
        if version != present and table_exists(spark, model)
    ]
    if late:
        raise _unread(table, late)
    return DeltaCut(spark, table).cut() if table_format(spark) == DELTA else purge_iceberg(spark, table)


def _unread(table: str, late: list[str]) -> TidemarkError:
    return TidemarkError(
        f"The earlier versions of {table} stay, because they have not been read yet: {'; '.join(late)}.",
        "Run these models, then the same command again, which continues.",
    )
