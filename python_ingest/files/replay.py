"""Replay rejected records: those that can now be read land as a separate batch, exactly once.

The batch is planned in `ops.ingested_files`. Then its records are marked in `ops.rejected_records`, appended
to bronze and confirmed. If a run is killed in between, the next run confirms the batch if it is in bronze,
and removes the marks otherwise.
"""

from __future__ import annotations

from collections.abc import Hashable
from datetime import UTC, datetime
from functools import reduce
from typing import TYPE_CHECKING, cast

from pyspark.sql import functions as f

from python_ingest.bronze.rescued import counted
from python_ingest.bronze.table import BronzeTable
from python_ingest.files.formats.base import Format, LineFormat
from python_ingest.files.formats.lines import is_legible
from python_ingest.files.outcome import LandedFiles
from python_ingest.ops.batch import REPLAY, Batch, PlannedFile
from python_ingest.ops.ingested_files import IngestedFiles
from python_ingest.ops.rejected_records import REJECTED, Quarantine
from tidemark.base.clock import Clock

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FIELDS = "__tidemark_fields"


class Replayer:
    """Replays the rejected records of one feed.

    Args:
        reader: parses them according to the feed's current declaration.
        bronze: the table in which they land.
        ingested_files: the table that records the batch.
        quarantine: the table of rejected records.
        clock: returns the time that becomes `_ingested_at`.
    """

    def __init__(
        self,
        reader: Format,
        bronze: BronzeTable,
        ingested_files: IngestedFiles,
        quarantine: Quarantine,
        clock: Clock,
    ) -> None:
        self._reader = reader
        self._bronze = bronze
        self._ingested_files = ingested_files
        self._quarantine = quarantine
        self._clock = clock

    def names(self, layout: Hashable) -> list[str] | None:
        """Return the part of a file's layout that must be kept so that its records can be parsed again.

        Returns:
            None for a format without lines, whose only rejected records are those of erased persons.
        """
        return cast(LineFormat, self._reader).names(layout) if hasattr(self._reader, "names") else None

    def replay(self, outcome: LandedFiles) -> None:
        """Land the records that can now be read."""
        waiting = self._quarantine.records(None)
        if waiting is None:
            return
        keys = [*REJECTED.values()]
        read = self._parsed(waiting).groupBy(*keys).agg(f.count("_corrupt_reason").alias("broken")).collect()
        readable = [(batch, row) for batch, row, broken in read if not broken]
        outcome.waiting = len(read) - len(readable)
        if readable:
            plan = PlannedFile(REPLAY, len(readable), datetime(1970, 1, 1, tzinfo=UTC), None)
            batch = self._ingested_files.plan([plan], self._clock(), above=self._bronze.last_batch())
            self._quarantine.mark(readable, batch)
            self._land(batch, outcome)

    def finish(self, batch: Batch, outcome: LandedFiles) -> None:
        """Confirm a replay that an earlier run planned, or undo it if bronze does not have it."""
        if self._bronze.has(batch):
            self._confirm(batch, outcome)
        else:
            self._quarantine.unmark(batch)
            self._ingested_files.abandon(batch, "the replay was interrupted")

    def rows(self, batch: Batch) -> DataFrame | None:
        """Return the rows of the records that a batch replays, or None if there are none."""
        records = self._quarantine.records(batch.batch_id)
        if records is None:
            return None
        return self._parsed(records).withColumn("_row_number", f.monotonically_increasing_id())

    def _land(self, batch: Batch, outcome: LandedFiles) -> None:
        rows = self.rows(batch)
        assert rows is not None  # noqa: S101  # they were marked just now
        self._bronze.append(rows, batch)
        self._confirm(batch, outcome)

    def _confirm(self, batch: Batch, outcome: LandedFiles) -> None:
        count, rescued = counted(self._bronze.rows(batch), self._bronze.targets)
        self._ingested_files.confirm(batch, {REPLAY: count})
        outcome.replayed += count
        outcome.rescued.add(rescued)

    def _parsed(self, records: DataFrame) -> DataFrame:
        reader = cast(LineFormat, self._reader)
        lines = records.select(
            f.col("raw_record").alias("_line"),
            is_legible(f.col("raw_record")).alias("_is_legible"),
            f.col("path").alias("_source_file"),
            f.col("source_modified_at").alias("_source_modified_at"),
            *[f.col(name).alias(alias) for name, alias in REJECTED.items()],
            f.col("fields").alias(FIELDS),
        )
        kinds = [row[0] for row in records.select("fields").distinct().collect()]
        parts = [
            reader.parse(
                names,
                lines.where(f.col(FIELDS) == f.array(*map(f.lit, names)).cast("array<string>")),
                self._bronze.targets,
            ).drop(FIELDS)
            for names in kinds
        ]
        return reduce(lambda one, other: one.unionByName(other), parts)
