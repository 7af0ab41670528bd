"""Read a bronze table's commits since its last landed batch, without a query or a Spark job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from tidemark.lake.delta_statements import log_of
from tidemark.lake.table_format import APPENDED, DELTA, loaded_iceberg, table_format

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOKED_AT = 100  # commits; reading one takes about 5 ms
ROWS_REMOVED = ("deleted-records", "added-position-deletes", "added-equality-deletes")


@dataclass(frozen=True)
class Commit:
    """A commit of a bronze table.

    Attributes:
        version: Delta's version or Iceberg's snapshot id.
        parent: the version before it; None for the first one.
        operation: the operation, as the format names it.
        batch_id: the batch that landing appended in this commit, or None.
        removes: whether it may have removed or changed rows.
    """

    version: int
    parent: int | None
    operation: str
    batch_id: int | None
    removes: bool


@dataclass(frozen=True)
class Doubt:
    """Why landed rows may be missing from bronze.

    Attributes:
        cause: what happened, in words.
        before: the version before that, if it is known: the one to restore.
    """

    cause: str
    before: int | None = None


def present_version(spark: SparkSession, table: str) -> int:
    """Return Delta's version or Iceberg's snapshot id; 0 for an Iceberg table without snapshots."""
    if table_format(spark) == DELTA:
        return log_of(spark, table).version
    return next((commit.version for commit in _iceberg_commits(spark, table, "")), 0)


def doubt_about(
    spark: SparkSession, table: str, writer: str, landed_batch: int, checked: Callable[[], int | None]
) -> Doubt | None:
    """Return why rows may be missing since a batch was appended; None if all commits since then keep rows.

    Args:
        spark: the session.
        table: `schema.name`.
        writer: the writer name of landing's appends.
        landed_batch: the last landed batch; 0 if none has landed, though one may await confirmation.
        checked: returns the version at which rows were last counted; it is called only if needed.
    """
    commits: list[Commit] = []
    is_whole = False  # whether the commits reach back to the batch, or to the version that was checked
    found = _delta_commits if table_format(spark) == DELTA else _iceberg_commits
    for commit in islice(found(spark, table, writer), LOOKED_AT):
        if commit.batch_id == landed_batch:
            is_whole = True
            break
        commits.append(commit)
    is_whole = is_whole or not landed_batch
    if is_whole and not any(commit.removes for commit in commits):
        return None
    version, newest = checked(), commits[0].version if commits else 0
    if version == newest:
        return None
    for position, commit in enumerate(commits):
        if commit.version == version:
            is_whole, commits = True, commits[:position]
            break
    return _doubt(commits, landed_batch, is_whole=is_whole)


def _doubt(commits: Sequence[Commit], landed_batch: int, *, is_whole: bool) -> Doubt | None:
    """Return why the commits raise doubt; the newest commit comes first."""
    removing = [commit for commit in commits if commit.removes]
    if removing:
        first = removing[-1]
        more = f", and {len(removing) - 1} more such commits" if len(removing) > 1 else ""
        return Doubt(f"{first.operation} at version {first.version}{more}", first.parent)
    if is_whole:
        return None
    if not commits or commits[-1].parent is None:
        return Doubt(f"the table was recreated or rolled back: it has no commit of batch {landed_batch}")
    return Doubt(f"its log no longer has the commit of batch {landed_batch}")


def _delta_commits(spark: SparkSession, table: str, writer: str) -> Iterator[Commit]:
    log = log_of(spark, table)
    for version in range(log.version, -1, -1):
        written = log.written(version, writer)
        if written is None:
            return
        parent = version - 1 if version else None
        yield Commit(version, parent, written.operation, written.number, written.removes)


def _iceberg_commits(spark: SparkSession, table: str, writer: str) -> Iterator[Commit]:
    loaded = loaded_iceberg(spark, table)
    snapshot: Any = loaded.currentSnapshot()
    while snapshot is not None:
        summary, parent = snapshot.summary(), snapshot.parentId()
        name, _, number = (summary.get(APPENDED) or "").rpartition(" ")
        keeps_rows = snapshot.operation() in ("append", "replace")
        removes = not keeps_rows and any(summary.get(key) for key in ROWS_REMOVED)
        batch_id = int(number) if name == writer and number else None
        yield Commit(snapshot.snapshotId(), parent, snapshot.operation().upper(), batch_id, removes)
        snapshot = loaded.snapshot(parent) if parent is not None else None
