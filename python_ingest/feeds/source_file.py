"""A listed file of a feed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from python_ingest.feeds.paths import as_glob, as_uri
from tidemark.base.clock import utc_time


@dataclass(frozen=True)
class SourceFile:
    """A listed file.

    Attributes:
        path: relative to the feed's location, with `/` between folders.
        whole: the full path as Hadoop prints it.
        size: bytes.
        modified_at: UTC, in milliseconds.
    """

    path: str
    whole: str
    size: int
    modified_at: datetime

    @property
    def uri(self) -> str:
        """The full path as Spark shows it in `_metadata.file_path`."""
        return as_uri(self.whole)

    @property
    def glob(self) -> str:
        """The full path, escaped for Spark's readers."""
        return as_glob(self.whole)


def source_file(path: str, whole: str, size: int, modified_micros: int) -> SourceFile:
    """Return a file from a collected listing, with its time in microseconds."""
    return SourceFile(path, whole, size, utc_time(modified_micros))
