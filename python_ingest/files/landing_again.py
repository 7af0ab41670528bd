"""Land files and replayed records again if bronze lost their rows: each row comes back once.

They get the number of the batch in which they landed, not a new one. Otherwise an older file could win over
a newer one because it was read later. In bronze, the rows of each file in the batch are replaced. It does not
matter how many rows were left, and a repeated replacement changes nothing, so no plan must be finished.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from python_ingest.bronze.table import BronzeTable
from python_ingest.files.inspect_files import Examined, Examiner
from python_ingest.files.replay import Replayer
from python_ingest.ops.batch import Batch
from python_ingest.ops.bronze_checks import Lost
from python_ingest.ops.ingested_files import IngestedFiles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class LandingAgain:
    """Lands lost rows of one file feed again.

    Args:
        bronze: the table.
        ingested_files: the record of planned files.
        examiner: finds the files that have not changed.
        replayer: reads the records that were replayed.
        read: returns the rows of files.
    """

    def __init__(
        self,
        bronze: BronzeTable,
        ingested_files: IngestedFiles,
        examiner: Examiner,
        replayer: Replayer,
        read: Callable[[Sequence[Examined]], DataFrame],
    ) -> None:
        self._bronze = bronze
        self._ingested_files = ingested_files
        self._examiner = examiner
        self._replayer = replayer
        self._read = read

    def land(
        self, lost: Sequence[Lost], listing: DataFrame, evolve: Callable[[Sequence[Examined]], None]
    ) -> None:
        """Restore the rows of files that have not changed since they landed, and of replayed records.

        `ops.rejected_records` does not change: it already has the broken records of these files.

        Args:
            lost: the lost rows, in the order of batches.
            listing: all files of the feed.
            evolve: adds the columns of files to bronze.
        """
        for batch_id, group in groupby(lost, key=lambda one: one.batch_id):
            paths = {one.path for one in group}
            batch = self._ingested_files.planned(batch_id)
            if batch.is_replay:
                self._land_records(batch)
            else:
                planned = [file for file in batch.files if file.path in paths]
                files = self._examiner.as_planned(planned, listing, self._bronze.targets)
                evolve(files)
                self._land_files(batch, files)

    def _land_files(self, batch: Batch, files: Sequence[Examined]) -> None:
        if files:
            self._bronze.replace(self._read(files), batch, [examined.file.path for examined in files])

    def _land_records(self, batch: Batch) -> None:
        rows = self._replayer.rows(batch)
        if rows is not None:
            self._bronze.replace(rows, batch, [])
