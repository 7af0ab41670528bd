"""A file of a feed, as it is listed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from python_ingest.clock import utc_time
from python_ingest.feeds.paths import as_glob, as_uri


@dataclass(frozen=True)
class SourceFile:
    """A file as it is listed.

    Attributes:
        path: relative to the feed's location, `/` between folders.
        whole: the whole path as Hadoop prints it.
        size: bytes.
        modified_at: UTC, milliseconds.
    """

    path: str
    whole: str
    size: int
    modified_at: datetime

    @property
    def uri(self) -> str:
        """The whole path as Spark shows it in `_metadata.file_path`."""
        return as_uri(self.whole)

    @property
    def glob(self) -> str:
        """The whole path, escaped as Spark's readers want it."""
        return as_glob(self.whole)


def source_file(path: str, whole: str, size: int, modified_micros: int) -> SourceFile:
    """Return a file of a listing that was collected with its time in microseconds."""
    return SourceFile(path, whole, size, utc_time(modified_micros))
