"""Examine files before a batch is planned: which to land, which to set aside, and why."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from python_ingest.bronze.columns import Target
from python_ingest.bronze.contract import Rejection, changes, evolved_targets, judged
from python_ingest.bronze.rescued import Rescued
from python_ingest.errors import LandingError
from python_ingest.feeds.declarations import FileFeed
from python_ingest.feeds.source_file import SourceFile
from python_ingest.files.formats.base import Format
from python_ingest.files.inspection import GROWING, Content, Contents
from python_ingest.files.storage import Storage
from python_ingest.ops.batch import Batch, PlannedFile
from python_ingest.ops.bronze_checks import Settled
from python_ingest.ops.candidate import Candidate, Noted
from python_ingest.ops.ingested_files import IngestedFiles
from python_ingest.ops.schema_changes import Change

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


BROKEN = "broken: "


@dataclass
class Landed:
    """What one landing of a feed did.

    Attributes:
        feed: the feed's name.
        files: files landed now.
        rows: rows landed now.
        known: listed files that landed before and have not changed.
        rejected: paths of files set aside, with the reason.
        ignored: paths of landed files whose content has changed, under `on_change: ignore`.
        unsettled: paths of files that grew during the inspection; the next run lands them.
        broken: rows landed now whose record could not be read; they are in `ops.rejected_records`.
        erased: those of them that are rows of erased persons, without their content.
        rescued: values and fields landed now that are in no column but in `_rescued_data`.
        evolved: columns that were added to bronze now, or whose type was widened.
        missing: columns that files may lack by the contract, each with the paths of files that lack it.
        replayed: rejected records landed now.
        waiting: rejected records that were tried again and still cannot be read.
        resumed: number of the batch that an earlier run planned and this run finished.
        settled: the result of the check for rows that bronze may have lost.
    """

    feed: str
    files: int = 0
    rows: int = 0
    known: int = 0
    rejected: dict[str, str] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    unsettled: list[str] = field(default_factory=list)
    broken: int = 0
    erased: int = 0
    rescued: Rescued = field(default_factory=Rescued)
    evolved: list[str] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=dict)
    replayed: int = 0
    waiting: int = 0
    resumed: int | None = None
    settled: Settled | None = None


@dataclass(frozen=True)
class Examined:
    """A file that can be landed: its layout, its row in `ops.ingested_files`, and the changes to bronze."""

    file: SourceFile
    layout: Hashable
    plan: PlannedFile
    changes: tuple[Change, ...] = ()


class Examiner:
    """Examines the files of one feed.

    Args:
        feed: the declaration.
        storage: the location of the files.
        contents: reads checksums and first bytes.
        reader: the reader of the file format.
        ingested_files: the table that records the outcome.
    """

    def __init__(
        self,
        feed: FileFeed,
        storage: Storage,
        contents: Contents,
        reader: Format,
        ingested_files: IngestedFiles,
    ) -> None:
        self._feed = feed
        self._contents = contents
        self._storage = storage
        self._reader = reader
        self._ingested_files = ingested_files

    def examine(
        self, candidates: Sequence[Candidate], targets: Sequence[Target], outcome: Landed, now: datetime
    ) -> list[Examined]:
        """Select the files to land; record the others in `ops.ingested_files` and in the outcome.

        Args:
            candidates: the files, in the order in which they may change the columns.
            targets: bronze's columns.
            outcome: what the landing has done so far.
            now: the current time, UTC.

        Raises:
            LandingError: if a landed file has changed under `on_change: error`, or the contract demands it.
        """
        files = [candidate.file for candidate in candidates]
        contents = self._read(files)
        self._reader.survey([file for file in files if not contents[file.path].error], targets)
        accepted: list[Examined] = []
        noted: list[Noted] = []
        for candidate in candidates:
            file, content = candidate.file, contents[candidate.file.path]
            plan = PlannedFile(file.path, file.size, file.modified_at, content.checksum)
            if content.error == GROWING:
                outcome.unsettled.append(file.path)
            elif plan.checksum and plan.checksum == candidate.landed_checksum:
                noted.append(Noted(plan, "landed", None, candidate.landed_batch, candidate.landed_rows))
                outcome.known += 1
            elif candidate.landed_checksum and self._ignores(file):
                noted.append(Noted(plan, "ignored", "changed after it was landed"))
                outcome.ignored.append(file.path)
            else:
                examined = self._examined(content, file, plan, targets)
                if not isinstance(examined, Rejection):
                    targets = evolved_targets(targets, examined.changes)
                    accepted.append(examined)
                    continue
                outcome.rejected[file.path] = examined.reason
                if examined.reason != candidate.rejected_reason:
                    noted.append(Noted(plan, "rejected", examined.reason))
        self._ingested_files.note(noted, now)
        return accepted

    def unchanged(self, batch: Batch, listing: DataFrame, targets: Sequence[Target]) -> list[Examined] | None:
        """Return the files of a planned batch, or None if one of them is not as it was planned."""
        found = self.as_planned(batch.files, listing, targets)
        if len(found) < len(batch.files):
            return None
        if any(change.kind != "missing_column" for examined in found for change in examined.changes):
            return None  # bronze has not been evolved for these changes
        return found

    def as_planned(
        self, files: Sequence[PlannedFile], listing: DataFrame, targets: Sequence[Target]
    ) -> list[Examined]:
        """Return the planned files that can be landed and have the same content as when they were planned."""
        by_path = self._storage.find(listing, [planned.path for planned in files])
        contents = self._read(list(by_path.values())) if by_path else {}
        same = [p for p in files if p.path in by_path and contents[p.path].checksum == p.checksum]
        self._reader.survey([by_path[planned.path] for planned in same], targets)
        examined = (self._examined(contents[p.path], by_path[p.path], p, targets) for p in same)
        return [one for one in examined if not isinstance(one, Rejection)]

    def _read(self, files: Sequence[SourceFile]) -> dict[str, Content]:
        unsafe = {file.path: Content(error=said) for file in files if (said := self._storage.unsafe(file))}
        return unsafe | self._contents.read([file for file in files if file.path not in unsafe])

    def _examined(
        self, content: Content, file: SourceFile, plan: PlannedFile, targets: Sequence[Target]
    ) -> Examined | Rejection:
        if content.error:
            return Rejection(f"cannot be read: {content.error}")
        layout = self._reader.layout(content, file)
        if isinstance(layout, Rejection):
            return layout
        fields = self._reader.fields(layout, file)
        if fields is None:
            return Examined(file, layout, plan)
        found = changes(targets, fields, ignores_case=self._reader.ignores_case)
        judgement = judged(self._feed, file.path, found, self._reader.has)
        if isinstance(judgement, Rejection):
            return judgement
        return Examined(file, layout, plan, tuple(judgement))

    def _ignores(self, file: SourceFile) -> bool:
        """Return whether the feed's `on_change` leaves a changed file alone."""
        if self._feed.external.on_change == "error":
            raise LandingError(
                f"Feed '{self._feed.name}': {file.path} has changed since it was landed.",
                f"Restore the file, or set `on_change` to reland or ignore in {self._feed.declared_in}.",
            )
        return self._feed.external.on_change == "ignore"


def is_known_as_broken(candidate: Candidate) -> bool:
    """Return whether an earlier attempt to read this file failed; it is tried again when it changes."""
    return candidate.is_same and (candidate.rejected_reason or "").startswith(BROKEN)
