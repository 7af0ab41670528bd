"""What is read for a listed file: itself, or what was unpacked from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from python_ingest.bronze.contract import Rejection
from python_ingest.feeds.paths import file_of
from python_ingest.feeds.source_file import SourceFile
from python_ingest.files.content import Content
from tidemark.base.archives import MEMBER


@dataclass(frozen=True)
class Part:
    """A file that is read for a listed file: itself, or what was unpacked from it.

    Attributes:
        file: the file that is read.
        content: what was read from it.
        source: the path of its rows in `_source_file`: of the listed file, after `!/` that of a member.
    """

    file: SourceFile
    content: Content
    source: str

    @property
    def member(self) -> str | None:
        """The path within an archive, if it is one."""
        return self.source.removeprefix(file_of(self.source)).removeprefix(MEMBER) or None


def parts_of(file: SourceFile, content: Content) -> tuple[Part, ...]:
    """Return what is read for a listed file."""
    return content.parts or (Part(file, content, file.path),)


def files_read(files: Sequence[SourceFile], contents: Mapping[str, Content]) -> list[SourceFile]:
    """Return the files that are read for listed files, without those that cannot be read."""
    sound = [file for file in files if not contents[file.path].error]
    parts = (part for file in sound for part in parts_of(file, contents[file.path]))
    return [part.file for part in parts if not part.content.error]


def of_member(rejection: Rejection, part: Part) -> Rejection:
    """Add the name of the member to the reason why an archive is set aside."""
    if part.member is None:
        return rejection
    return Rejection(
        f"its member {part.member}: {rejection.reason} (`exclude` leaves members out by their name)"
    )
