"""The files and versions of a table, from its log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tidemark.base.clock import utc_time
from tidemark.lake.delta_statements import log_of
from tidemark.lake.table_format import DELTA, snapshots_of, table_exists, table_format

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Files:
    """The files of a table's present version.

    Attributes:
        exists: whether there is a table.
        number, bytes: of the files.
        after: returns the times of the versions after one, newest first; of all known ones if that is gone.
    """

    exists: bool = False
    number: int = 0
    bytes: int = 0
    after: Callable[[int], Sequence[datetime]] = lambda version: []


def files_of(spark: SparkSession, table: str) -> Files:
    """Return the files of a table.

    Args:
        spark: the session.
        table: `schema.name`.
    """
    if not table_exists(spark, table):
        return Files()
    if table_format(spark) == DELTA:
        return _of_delta(spark, table)
    return _of_iceberg(spark, table)


def _of_delta(spark: SparkSession, table: str) -> Files:
    log = log_of(spark, table)
    state = log.state()

    def after(version: int) -> list[datetime]:
        commits = log.commits(log.version - version)
        return [commit["timestamp"].replace(tzinfo=UTC) for commit in commits]

    return Files(True, state["files"], state["bytes"], after)


def _of_iceberg(spark: SparkSession, table: str) -> Files:
    snapshots = snapshots_of(spark, table)
    summary = snapshots[0]["summary"] if snapshots else {}

    def after(version: int) -> list[datetime]:
        found = []
        for snapshot in snapshots:
            if snapshot["snapshot_id"] == version:
                break
            found.append(utc_time(snapshot["at"]))
        return found

    number, size = (int(summary.get(name, 0)) for name in ("total-data-files", "total-files-size"))
    return Files(True, number, size, after)
