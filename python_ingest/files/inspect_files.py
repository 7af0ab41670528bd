"""Examine files before a batch is planned: which to land, which to set aside, and why."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from python_ingest.bronze.columns import Target, sql_name
from python_ingest.bronze.contract import Rejection, apply_contract, changes, evolved_targets
from python_ingest.feeds.declarations import FileFeed
from python_ingest.feeds.source_file import SourceFile
from python_ingest.files.content import GROWING, Content
from python_ingest.files.formats.base import Format
from python_ingest.files.formats.csv_header import Header
from python_ingest.files.outcome import LandedFiles
from python_ingest.files.parts import Part, files_read, of_member, parts_of
from python_ingest.files.storage import Storage
from python_ingest.files.unpacking import Unpacker
from python_ingest.ops.batch import Batch, PlannedFile
from python_ingest.ops.candidate import Candidate, Noted
from python_ingest.ops.ingested_files import IngestedFiles
from python_ingest.ops.schema_changes import Change
from tidemark.base.errors import LandingError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


BROKEN = "broken: "


@dataclass(frozen=True)
class Examined:
    """A file that can be landed.

    Attributes:
        file: the file.
        reads: what is read of it, with the layout of each.
        plan: its row in `ops.ingested_files`.
        changes: the changes to bronze.
        replaces: the batch of the earlier content that it replaces; None for a new file.
    """

    file: SourceFile
    reads: tuple[tuple[Part, Hashable], ...]
    plan: PlannedFile
    changes: tuple[Change, ...] = ()
    replaces: int | None = None

    @property
    def may_stop(self) -> bool:
        """Whether reading the file fails at an open quote, since nobody has looked for one."""
        return any(isinstance(layout, Header) and layout.stops_at_open for _, layout in self.reads)


class Examiner:
    """Examines the files of one feed.

    Args:
        feed: the declaration.
        storage: the location of the files.
        contents: reads checksums and first bytes, and unpacks what Spark cannot read.
        reader: the reader of the file format.
        ingested_files: the table that records the outcome.
    """

    def __init__(
        self,
        feed: FileFeed,
        storage: Storage,
        contents: Unpacker,
        reader: Format,
        ingested_files: IngestedFiles,
    ) -> None:
        self._feed = feed
        self._contents = contents
        self._storage = storage
        self._reader = reader
        self._ingested_files = ingested_files

    def examine(
        self, candidates: Sequence[Candidate], targets: Sequence[Target], outcome: LandedFiles, now: datetime
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
        # such a file may have been rejected for its quotes: reading would find them at each landing
        again = {c.file.path for c in candidates if c.is_same and c.rejected_reason}
        contents = self._read(files, closely=again)
        self._reader.survey(files_read(files, contents), targets)
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
                    accepted.append(replace(examined, replaces=candidate.landed_batch))
                    continue
                outcome.rejected[file.path] = examined.reason
                if examined.reason != candidate.rejected_reason:
                    noted.append(Noted(plan, "rejected", examined.reason))
        self._ingested_files.note(noted, now)
        return accepted

    def examine_again(
        self, examined: Sequence[Examined], targets: Sequence[Target], outcome: LandedFiles, now: datetime
    ) -> list[Examined]:
        """Look closely at accepted files in which nobody looked for open quotes: reading has found one.

        Args:
            examined: the files.
            targets, outcome, now: see `examine`.

        Returns:
            The files that can be landed, with how to read them; the others are recorded.
        """
        unsure = [one.file for one in examined if one.may_stop]
        contents = self._read(unsure, closely={file.path for file in unsure})
        accepted: list[Examined] = []
        for one in examined:
            content = contents.get(one.file.path)
            if content is None:
                accepted.append(one)
                continue
            if content.error == GROWING or content.checksum not in (None, one.plan.checksum):
                outcome.unsettled.append(one.file.path)
                continue
            found = self._examined(content, one.file, one.plan, targets)
            if isinstance(found, Rejection):
                outcome.rejected[one.file.path] = found.reason
                self._ingested_files.note([Noted(one.plan, "rejected", found.reason)], now)
            else:
                accepted.append(replace(found, changes=one.changes, replaces=one.replaces))
        return accepted

    def unchanged(self, batch: Batch, listing: DataFrame, targets: Sequence[Target]) -> list[Examined] | None:
        """Return the files of a planned batch, or None if one of them is not as it was planned."""
        found = self.as_planned(batch.landing, listing, targets)
        if len(found) < len(batch.landing):
            return None
        if any(change.kind != "missing_column" for examined in found for change in examined.changes):
            return None  # bronze has not been evolved for these changes
        return found

    def as_planned(
        self, files: Sequence[PlannedFile], listing: DataFrame, targets: Sequence[Target]
    ) -> list[Examined]:
        """Return the planned files that can be landed and have the same content as when they were planned."""
        by_path = self._storage.find(listing, [planned.path for planned in files])
        contents = self._read(list(by_path.values()), closely=by_path) if by_path else {}
        same = [p for p in files if p.path in by_path and contents[p.path].checksum == p.checksum]
        self._reader.survey(files_read([by_path[planned.path] for planned in same], contents), targets)
        examined = (self._examined(contents[p.path], by_path[p.path], p, targets) for p in same)
        return [one for one in examined if not isinstance(one, Rejection)]

    def _read(self, files: Sequence[SourceFile], closely: Collection[str] = ()) -> dict[str, Content]:
        unsafe = {
            file.path: Content(error=message) for file in files if (message := self._storage.unsafe(file))
        }
        return unsafe | self._contents.read([file for file in files if file.path not in unsafe], closely)

    def _examined(
        self, content: Content, file: SourceFile, plan: PlannedFile, targets: Sequence[Target]
    ) -> Examined | Rejection:
        if content.error:
            return Rejection(f"cannot be read: {content.error}")
        in_path = self._columns_in_path(file, targets)
        if isinstance(in_path, Rejection):
            return in_path
        reads, found = [], [*in_path]
        for part in parts_of(file, content):
            examined = self._part(file, part, targets)
            if isinstance(examined, Rejection):
                return of_member(examined, part)
            layout, evolved = examined
            targets = evolved_targets(targets, evolved)
            found += [change for change in evolved if change not in found]
            reads.append((part, layout))
        return Examined(file, tuple(reads), plan, tuple(found))

    def _part(
        self, file: SourceFile, part: Part, targets: Sequence[Target]
    ) -> Rejection | tuple[Hashable, list[Change]]:
        """Return how to read a file, and the changes to bronze that it needs."""
        if part.content.error:
            return Rejection(f"cannot be read: {part.content.error}")
        layout = self._reader.layout(part.content, part.file)
        if isinstance(layout, Rejection):
            return layout
        fields = self._reader.fields(layout, part.file)
        if fields is None:
            return layout, []
        in_files = [target for target in targets if target.name not in self._feed.partition_names]
        found = changes(in_files, fields, ignores_case=self._reader.ignores_case)
        names = [change.field for change in found if change.kind == "new_column"]
        if twice := sorted(name for name in names if sql_name(name) in self._feed.partition_names):
            return Rejection(
                f"{self._reader.has} has the column {', '.join(twice)}, which is also the name of a folder "
                "(`partitions`): remove it from one of them"
            )
        accepted = apply_contract(self._feed, part.source, found, self._reader.has)
        return accepted if isinstance(accepted, Rejection) else (layout, accepted)

    def _columns_in_path(self, file: SourceFile, targets: Sequence[Target]) -> list[Change] | Rejection:
        """Apply the contract to columns whose folder the path lacks."""
        names = [name for name in self._feed.partition_names if f"/{name}=" not in f"/{file.path}"]
        of = {target.name: target.type for target in targets}
        lacks = [Change("missing_column", name, name, of[name], None, of[name]) for name in names]
        return apply_contract(self._feed, file.path, lacks, "its path", is_whole=False) if lacks else []

    def _ignores(self, file: SourceFile) -> bool:
        """Return whether the feed's `on_change` leaves a changed file alone."""
        if self._feed.external.on_change == "error":
            where = f"in {self._feed.declared_in}"
            choice = f"Restore the file, or set `on_change` to reland or ignore {where}."
            if not self._feed.external.key:  # then nothing tells which records the new ones replace
                choice = (
                    f"Restore the file, and put new records into a new one. Or set `on_change` {where}: "
                    "`ignore` keeps the file as it landed, `reland` lands all its records once more."
                )
            raise LandingError(
                f"Feed '{self._feed.name}': {file.path} has changed since it was landed.", choice
            )
        return self._feed.external.on_change == "ignore"


def is_known_as_broken(candidate: Candidate) -> bool:
    """Return whether an earlier attempt to read this file failed; it is tried again when it changes."""
    return candidate.is_same and (candidate.rejected_reason or "").startswith(BROKEN)
