"""Commits of Delta and Iceberg tables, under common names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

# operations of Delta that change no row
HARMLESS = (
    "OPTIMIZE",
    "VACUUM START",
    "VACUUM END",
    "CLUSTER BY",
    "SET TBLPROPERTIES",
    "CHANGE COLUMN",
    "CHANGE COLUMNS",
)
BY_HAND = ("DELETE", "UPDATE", "RESTORE", "TRUNCATE")  # Delta's commits that no run makes
OF_ROWS = ("WRITE", "MERGE", "CREATE", "REPLACE", "STREAMING", "COPY", "CLONE")
OVERWRITES = ("DELETE", "RESTORE", "TRUNCATE")  # besides writes with the mode Overwrite
SIGNATURE = "tidemark"  # which runs put into their commits


@dataclass(frozen=True)
class Commit:
    """One commit of a table.

    Attributes:
        version: the version that it made; of Iceberg, the id of its snapshot.
        parent: the version before it; 0 for an Iceberg table's first snapshot.
        operation: as the table's format calls it.
        at: when it was made.
        keeps_rows: whether it changed no row, as a compaction or new properties.
        adds_rows: whether it only added rows; known of Iceberg.
        tells_net_changes: whether only the net change between versions can be read: of Iceberg.
        is_foreign: whether a writer other than a run made it.
        deletes: whether it may have deleted rows.
        removes: whether it may have deleted or replaced rows.
        rows, deleted: the number of rows written and deleted.
        bytes, files: what it wrote.
        total_bytes, total_files: what the table has with it; known of Iceberg.
        parameters: of the operation; known of Delta.
    """

    version: int
    parent: int
    operation: str
    at: Any = None
    keeps_rows: bool = False
    adds_rows: bool = False
    tells_net_changes: bool = False
    is_foreign: bool = False
    deletes: bool = False
    removes: bool = False
    rows: int = 0
    deleted: int = 0
    bytes: int = 0
    files: int = 0
    total_bytes: int = 0
    total_files: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def overwrites(self) -> bool:
        """Whether it is a Delta commit other than a MERGE that may delete rows."""
        return self.operation in OVERWRITES or self.parameters.get("mode") == "Overwrite"


def delta_commit(row: Mapping[str, Any], are_signed: bool) -> Commit:
    """Return a commit of a Delta table.

    Args:
        row: a row of `describe history`, whose maps are dictionaries.
        are_signed: whether runs sign their commits; else only a kind of commit that no run makes is foreign.
    """
    version, operation = int(row["version"]), row["operation"] or ""
    metrics: Mapping[str, Any] = row["operationMetrics"] or {}
    parameters: Mapping[str, Any] = row["operationParameters"] or {}

    def number(*names: str, default: int = 0) -> int:
        return int(next((metrics[name] for name in names if name in metrics), default))

    merged = sum(number(f"numTargetRows{what}") for what in ("Inserted", "Updated", "Deleted"))
    kind = operation.split(" ")[0]
    is_foreign = kind in BY_HAND + OF_ROWS and row["userMetadata"] != SIGNATURE
    commit = Commit(
        version,
        version - 1,
        operation,
        row["timestamp"],
        keeps_rows=operation in HARMLESS,
        is_foreign=is_foreign if are_signed else operation in BY_HAND,
        rows=merged if "numTargetRowsInserted" in metrics else number("numOutputRows"),
        deleted=number("numDeletedRows"),
        bytes=number("numTargetBytesAdded", "numOutputBytes"),
        files=number("numTargetFilesAdded", "numFiles", "numAddedFiles"),
        parameters=parameters,
    )
    # a DELETE of whole files does not say how many rows they had
    overwritten = number("numDeletedRows", default=1) if commit.overwrites else 0
    deletes = overwritten > 0 or number("numTargetRowsDeleted") > 0
    replaces = number("numTargetRowsUpdated") > 0 or kind in ("UPDATE", "REPLACE", "CLONE")
    return replace(commit, deletes=deletes, removes=deletes or replaces)


def iceberg_commits(rows: Iterable[Mapping[str, Any]], are_signed: bool) -> list[Commit]:
    """Return the commits of an Iceberg table from the current snapshot back to the oldest, newest first.

    Args:
        rows: the rows of its metadata table `snapshots`, each also with the id of the current snapshot as
            `present_id`; their summaries are dictionaries.
        are_signed: whether runs sign their commits.
    """
    snapshots = {int(row["snapshot_id"]): row for row in rows}
    at = next((int(row["present_id"]) for row in snapshots.values() if row["present_id"] is not None), None)
    commits: list[Commit] = []
    while at in snapshots:
        commits.append(_iceberg_commit(snapshots[at], are_signed))
        at = commits[-1].parent
    return commits


def _iceberg_commit(row: Mapping[str, Any], are_signed: bool) -> Commit:
    summary: Mapping[str, Any] = row["summary"] or {}
    operation = row["operation"]
    # a compaction rewrites rows that were there before
    added: Mapping[str, Any] = {} if operation == "replace" else summary
    is_foreign = operation != "replace" and summary.get("written-by") != SIGNATURE
    return Commit(
        int(row["snapshot_id"]),
        int(row["parent_id"] or 0),
        operation,
        row["committed_at"],
        keeps_rows=operation == "replace",
        adds_rows=operation == "append",
        removes=operation not in ("append", "replace"),
        tells_net_changes=True,
        is_foreign=is_foreign if are_signed else operation in ("delete", "overwrite"),
        rows=int(added.get("added-records", 0)),
        deleted=int(added.get("deleted-records", 0)),
        bytes=int(added.get("added-files-size", 0)),
        files=int(added.get("added-data-files", 0)),
        total_bytes=int(summary.get("total-files-size", 0)),
        total_files=int(summary.get("total-data-files", 0)),
    )
