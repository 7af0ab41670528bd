"""The last step of landing a batch: its broken records are kept, its rows counted, its files recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from python_ingest.bronze.rescued import rescued_in
from python_ingest.bronze.table import BronzeTable, Counted
from python_ingest.feeds.declarations import FileFeed
from python_ingest.files.grain import Grain
from python_ingest.files.inspect_files import Examined
from python_ingest.files.outcome import LandedFiles
from python_ingest.files.replay import Replayer
from python_ingest.files.retraction import Retraction
from python_ingest.ops.batch import RETRACTED, Batch
from python_ingest.ops.ingested_files import IngestedFiles
from python_ingest.ops.rejected_records import Quarantine
from tidemark.base.errors import LandingError


class Confirmation:
    """Confirms the batches of one feed.

    Args:
        feed: the feed.
        bronze: its table.
        ingested_files: the state of its files.
        quarantine: where broken records go.
        replayer: knows the names of fields in broken records.
        grain: counts repeated keys.
        retraction: counts retracted keys.
    """

    def __init__(  # noqa: PLR0913, PLR0917  # the parts of a lander
        self,
        feed: FileFeed,
        bronze: BronzeTable,
        ingested_files: IngestedFiles,
        quarantine: Quarantine,
        replayer: Replayer,
        grain: Grain,
        retraction: Retraction,
    ) -> None:
        self._feed = feed
        self._bronze = bronze
        self._ingested_files = ingested_files
        self._quarantine = quarantine
        self._replayer = replayer
        self._grain = grain
        self._retraction = retraction

    def confirm(self, batch: Batch, files: Callable[[], Sequence[Examined]], outcome: LandedFiles) -> None:
        """Copy the broken records to `ops.rejected_records`, and record the batch as landed.

        Args:
            batch: the batch, which is in bronze.
            files: returns the examined files of the batch that still exist; it is called only if records
                are broken, because for a resumed batch it must read the files again.
            outcome: what the landing has done so far.
        """
        counted = self._bronze.counts(batch)
        files_of = batch.files_of(counted)
        unplanned = counted.keys() - files_of.keys()
        if unplanned:
            raise LandingError(
                f"{self._feed.table}, batch {batch.batch_id}: rows of files not planned: {unplanned}.",
                "Bronze was written by something other than tidemark; restore the table and land again.",
            )
        if broken := {path for path, number in counted.items() if number.broken}:
            layouts = {part.source: layout for examined in files() for part, layout in examined.reads}
            names = {
                path: self._replayer.names(layouts[path]) if path in layouts else None for path in broken
            }
            rows, table_id = self._bronze.rows(batch), self._bronze.identity()
            outcome.erased += self._quarantine.keep(rows, batch, table_id, names)
        landed = Counter[str]()
        for path, number in counted.items():
            landed[files_of[path]] += number.rows
        outcome.grain += self._grain.after(batch, sum(number.rows for number in counted.values()))
        self._ingested_files.confirm(batch, landed)
        self._retraction.count(batch, outcome)
        self._count(batch, counted, outcome)

    def _count(self, batch: Batch, counted: Mapping[str, Counted], outcome: LandedFiles) -> None:
        of_files = [number for path, number in counted.items() if path != RETRACTED]
        outcome.files += len(batch.landing)
        outcome.rows += sum(number.rows for number in of_files)
        outcome.broken += sum(number.broken for number in of_files)
        if any(number.rescued for number in of_files):
            rows = self._bronze.rows(batch).where(self._bronze.of_files)
            outcome.rescued.add(rescued_in(rows, self._bronze.targets))
