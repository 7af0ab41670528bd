"""Examining files before a batch is planned: which to land, which to set aside, and why."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from python_ingest.contents import GROWING, Content, Contents
from python_ingest.declarations import Feed
from python_ingest.errors import LandingError
from python_ingest.formats.base import Format, Rejection
from python_ingest.manifest import Batch, Candidate, Manifest, Noted, PlannedFile
from python_ingest.storage import SourceFile, Storage

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
        known: listed files that had been landed before and have not changed.
        rejected: paths of files set aside, with the reason.
        ignored: paths of landed files that have other bytes now, under `on_change: ignore`.
        unsettled: paths of files that grew while they were looked at, left for the next run.
        resumed: number of the batch that an earlier run had planned and this one finished.
    """

    feed: str
    files: int = 0
    rows: int = 0
    known: int = 0
    rejected: dict[str, str] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    unsettled: list[str] = field(default_factory=list)
    resumed: int | None = None


@dataclass(frozen=True)
class Examined:
    """A file that can be landed: how to read it, and what the manifest will say of it."""

    file: SourceFile
    layout: Hashable
    plan: PlannedFile


class Examiner:
    """Looks into the files of one feed.

    Args:
        feed: the declaration.
        storage: where the files are.
        contents: reads them.
        reader: reads their format.
        manifest: where the outcome is recorded.
    """

    def __init__(
        self, feed: Feed, storage: Storage, contents: Contents, reader: Format, manifest: Manifest
    ) -> None:
        self._feed = feed
        self._contents = contents
        self._storage = storage
        self._reader = reader
        self._manifest = manifest

    def examine(self, candidates: Sequence[Candidate], outcome: Landed, now: datetime) -> list[Examined]:
        """Choose the files to land; record the others in the manifest and in the outcome.

        Raises:
            LandingError: when a landed file has changed, under `on_change: error`.
        """
        broken = {c.file.path: str(c.rejected_reason) for c in candidates if _is_known_as_broken(c)}
        outcome.rejected |= broken
        candidates = [candidate for candidate in candidates if candidate.file.path not in broken]
        contents = self._contents.read([candidate.file for candidate in candidates])
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
                layout = self._layout(content, file)
                if not isinstance(layout, Rejection):
                    accepted.append(Examined(file, layout, plan))
                    continue
                outcome.rejected[file.path] = layout.reason
                if layout.reason != candidate.rejected_reason:
                    noted.append(Noted(plan, "rejected", layout.reason))
        self._manifest.note(noted, now)
        return accepted

    def unchanged(self, batch: Batch, listing: DataFrame) -> list[Examined] | None:
        """Return a planned batch's files as they are now, or None when one is not as it was planned."""
        by_path = self._storage.find(listing, [planned.path for planned in batch.files])
        if len(by_path) < len(batch.files):
            return None
        contents = self._contents.read(list(by_path.values()))
        found = []
        for planned in batch.files:
            file, content = by_path[planned.path], contents[planned.path]
            layout = self._layout(content, file)
            if content.checksum != planned.checksum or isinstance(layout, Rejection):
                return None
            found.append(Examined(file, layout, planned))
        return found

    def _layout(self, content: Content, file: SourceFile) -> Hashable | Rejection:
        if content.error:
            return Rejection(f"cannot be read: {content.error}")
        return self._reader.layout(content, file)

    def _ignores(self, file: SourceFile) -> bool:
        """Return whether a changed file is left alone, by the feed's `on_change`."""
        if self._feed.external.on_change == "error":
            raise LandingError(
                f"Feed '{self._feed.name}': {file.path} has other bytes than those that were landed.",
                f"Restore the file, or set `on_change` to reland or ignore in {self._feed.declared_in}.",
            )
        return self._feed.external.on_change == "ignore"


def _is_known_as_broken(candidate: Candidate) -> bool:
    """Return whether reading this very file failed before: it is tried again when it changes."""
    return candidate.is_same and (candidate.rejected_reason or "").startswith(BROKEN)
