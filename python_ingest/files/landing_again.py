"""Landing files and replayed records again whose rows are gone from bronze: each comes back once.

They come back under the batch in which they landed, not under a new one: an older file must not win over a
newer one because it was read later. In bronze each file's rows of the batch are replaced, so that it does not
matter how many of them were left, and to replace them again changes nothing: there is no plan to finish.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from python_ingest.bronze.table import BronzeTable
from python_ingest.files.acceptance import Examined, Examiner
from python_ingest.files.replay import Replayer
from python_ingest.ops.batch import Batch
from python_ingest.ops.bronze_checks import Lost
from python_ingest.ops.ingested_files import IngestedFiles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class LandingAgain:
    """Lands lost rows of one feed of files again.

    Args:
        bronze: the table.
        ingested_files: what was planned.
        examiner: finds the files that are as they were.
        replayer: has the records that were replayed.
        read: gives the rows of files.
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
        """Bring back what can be brought back: of files that are still as they landed, and of records.

        `ops.rejected_records` stays as it is: it has the broken records of these files already.

        Args:
            lost: what is gone, in the order of batches.
            listing: all files of the feed.
            evolve: makes bronze have the columns of files.
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
