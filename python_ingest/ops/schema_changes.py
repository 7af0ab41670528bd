"""The table `ops.schema_changes`: how bronze tables evolved, one row per change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from pyspark.sql.types import DataType

from python_ingest.ops.feed_table import FeedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = """
    feed string comment 'Name of the feed',
    change string comment 'new_column, missing_column or type_change',
    column_name string comment 'The column in bronze',
    field string comment 'Its name in the file',
    from_type string comment 'Its type in bronze before; null for a new column',
    to_type string comment 'Its type in bronze afterwards',
    path string comment 'The first file that has the change, relative to the location of the feed',
    recorded_at timestamp comment 'When the change was recorded, just before bronze evolved'
"""
Kind = Literal["new_column", "missing_column", "type_change"]
KEY = ("change", "column_name", "to_type")


@dataclass(frozen=True)
class Change:
    """How a column of a file differs from the bronze table.

    Attributes:
        kind: what differs.
        column: its name in bronze; empty for a new column without a unique SQL name.
        field: its name in the file.
        held: its type in bronze; None for a new column.
        given: its type in the file; None for a missing column.
        becomes: its type in bronze afterwards; None if bronze cannot evolve to it.
    """

    kind: Kind
    column: str
    field: str
    held: DataType | None = None
    given: DataType | None = None
    becomes: DataType | None = None

    @property
    def message(self) -> str:
        if self.kind == "type_change" and self.held and self.given:
            return f"{self.field} is {self.given.simpleString()}, not {self.held.simpleString()}"
        return self.field


class SchemaChanges(FeedTable):
    """The changes of one feed.

    Args:
        spark: the session.
        schema: the schema of the state tables.
        feed: the feed's name.
    """

    def __init__(self, spark: SparkSession, schema: str, feed: str) -> None:
        super().__init__(spark, schema, feed, "schema_changes", COLUMNS)

    def record(self, found: Sequence[tuple[str, Change]], at: datetime) -> list[Change]:
        """Record changes that are not yet recorded, in one commit.

        Args:
            found: path and change, in the order of the files.
            at: UTC.

        Returns:
            The changes that were new.
        """
        if not found:
            return []
        self._create()
        keys = {tuple(row) for row in self._rows().select(*KEY).collect()}
        rows, new = [], []
        for path, change in found:
            from_type, to_type = (of.simpleString() if of else None for of in (change.held, change.becomes))
            if (change.kind, change.column, to_type) not in keys:
                keys.add((change.kind, change.column, to_type))
                rows.append((change.kind, change.column, change.field, from_type, to_type, path, at))
                new.append(change)
        if rows:
            self._add(rows)
        return new
