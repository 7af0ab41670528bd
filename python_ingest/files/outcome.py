"""The outcome of one landing of files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from python_ingest.bronze.outcome import Note, OutcomeOfColumns, note, rescued_notes
from python_ingest.bronze.rescued import Rescued
from python_ingest.feeds.declarations import Feed, FileFeed
from python_ingest.files.grain import FileGrain, notes
from python_ingest.ops.left_out import LeftOut
from tidemark.base.output import count_of


@dataclass
class LandedFiles(OutcomeOfColumns):
    """The outcome of one landing of files.

    Attributes:
        files: files landed now.
        rows: rows landed now.
        known: listed files that landed before and have not changed.
        rejected: paths of files set aside, with the reason.
        ignored: paths of landed files whose content has changed, under `on_change: ignore`.
        unsettled: paths of files that grew during the inspection; the next run lands them.
        broken: rows landed now whose record could not be read; they are in `ops.rejected_records`.
        erased: those of them that are rows of erased persons, without their content.
        rescued: values and fields landed now that are in no column but in `_rescued_data`.
        replayed: rejected records landed now.
        waiting: rejected records that were tried again and still cannot be read.
        left_out: files below the location that match no pattern.
        grain: files with several records of one key, or with records without a key.
        removed: paths of landed files that are gone; their keys were retracted now.
        retracted: keys retracted now, of files that are gone and of rows that changed files no longer have.
    """

    files: int = 0
    rows: int = 0
    known: int = 0
    rejected: dict[str, str] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    unsettled: list[str] = field(default_factory=list)
    broken: int = 0
    erased: int = 0
    rescued: Rescued = field(default_factory=Rescued)
    replayed: int = 0
    waiting: int = 0
    left_out: LeftOut = field(default_factory=LeftOut)
    grain: list[FileGrain] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    retracted: int = 0

    @property
    def rows_landed(self) -> int:
        """The number of rows, with those of rejected records that landed now."""
        return self.rows + self.replayed

    @property
    def message(self) -> str:
        """What has landed, in one line."""
        numbers = (
            (self.files, f"{count_of(self.files, 'file')} landed, {count_of(self.rows, 'row')}"),
            (self.replayed, f"{count_of(self.replayed, 'rejected record')} landed"),
            (self.removed, f"{count_of(len(self.removed), 'file')} removed"),
            (self.waiting, f"{count_of(self.waiting, 'record')} still rejected"),
        )
        parts = [text for number, text in numbers if number]
        parts = parts or ([] if self.resumed else ["nothing new"])
        known = [f"{count_of(self.known, 'file')} known"] if self.known else []
        return self.with_resumed([*parts, *known])

    @property
    def facts(self) -> dict[str, Any]:
        """The numbers of files and rows."""
        replay = {"replayed": self.replayed, "waiting": self.waiting}
        return {"files": self.files, "rows": self.rows, "known": self.known, **replay}

    def notes(self, feed: Feed) -> Iterator[Note]:
        """Yield the broken, rescued, erased and retracted rows, and the files that did not land."""
        yield from self._broken_rows()
        yield from self._files_left()
        for path in self.removed:
            yield note("removed", f"{path}: gone from the location; its keys are retracted", path=path)
        if self.retracted:
            message = f"{count_of(self.retracted, 'key')} of rows that are gone or have changed"
            yield note("retracted", message, keys=self.retracted)
        if isinstance(feed, FileFeed):
            for event, message in notes(feed, self.grain):
                yield note(event, message)

    def _broken_rows(self) -> Iterator[Note]:
        if broken := self.broken - self.erased:
            message = f"{count_of(broken, 'record')} cannot be read: see ops.rejected_records"
            yield note("broken", message, records=broken)
        yield from rescued_notes(self.rescued, "record")
        if self.erased:
            rows = count_of(self.erased, "row")
            message = f"{rows} of erased persons landed without content: see ops.erasures"
            yield note("erased", message, rows=self.erased)

    def _files_left(self) -> Iterator[Note]:
        for path, reason in self.rejected.items():
            yield note("set aside", f"{path}: {reason}", path=path)
        for path in self.ignored:
            yield note("ignored", f"{path}: changed after it was landed", path=path)
        if self.left_out.files:
            yield note("left out", self.left_out.message, **asdict(self.left_out))
        for path in self.unsettled:
            yield note("left for the next run", f"{path}: still being written", path=path)
