"""The interface of all file formats, and functions that they share."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Protocol

from pyspark.sql import functions as f

from python_ingest.bronze.columns import Target
from python_ingest.bronze.contract import Rejection
from python_ingest.feeds.source_file import SourceFile
from python_ingest.files.content import Content

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

MAGIC = {
    b"\x1f\x8b": ("gzip", "gz"),
    b"BZh": ("bzip2", "bz2"),
    b"\x28\xb5\x2f\xfd": ("zstd", "zst"),
    b"\xfd7zXZ\x00": ("xz", "xz"),
}
ARCHIVES = {  # by the place of a mark in the file: what it is, and the command that unpacks it
    (0, b"PK\x03\x04"): ("a zip archive without the ending .zip, or a workbook", "unzip"),
    (0, b"7z\xbc\xaf\x27\x1c"): ("a 7z archive", "7z x"),
    (0, b"Rar!\x1a\x07"): ("a RAR archive", "unrar x"),
    (257, b"ustar"): ("a tar archive", "tar -xf"),
}


class Format(Protocol):
    """A file format of one feed. Files with the same layout are read together.

    Attributes:
        has: the start of a sentence about a file's columns.
        ignores_case: whether the letter case of column names may differ from the declaration.
        has_lines: whether the files of this feed are read line by line.
    """

    has: str
    ignores_case: bool
    has_lines: bool

    def survey(self, files: Sequence[SourceFile], targets: Sequence[Target]) -> None:
        """Read, for all files of a batch together, what the contract needs beyond the first bytes."""

    def layout(self, content: Content, file: SourceFile) -> Hashable | Rejection:
        """Examine the first bytes of a file.

        Args:
            content: what was read from the file.
            file: the file.

        Returns:
            How to read the file, or why it cannot belong to this feed.
        """

    def fields(self, layout: Hashable, file: SourceFile) -> StructType | None:
        """Return a file's columns with their types; None if the contract does not need them."""

    def rows(self, layout: Hashable, files: Sequence[SourceFile], targets: Sequence[Target]) -> DataFrame:
        """Read files of one layout.

        Returns:
            The targets, `_rescued_data`, `_corrupt_record`, `_corrupt_reason`, and the columns of `origin`.
        """


class LineFormat(Format, Protocol):
    """A format whose broken records are text that can be parsed again."""

    def names(self, layout: Hashable) -> list[str]:
        """Return the columns that a file's records have by position; empty if records name their fields."""

    def parse(self, names: Sequence[str], lines: DataFrame, targets: Sequence[Target]) -> DataFrame:
        """Parse records.

        Args:
            names: from `names`.
            lines: `_line`, `_is_legible`, and columns that are passed on.
            targets: the bronze table's columns.

        Returns:
            The target columns, `_rescued_data`, `_corrupt_record`, `_corrupt_reason`, and those passed on.
        """


def compression(content: Content) -> Rejection | None:
    """Reject archives, and compressed files without the matching suffix: they would not be unpacked."""
    for (start, mark), (kind, command) in ARCHIVES.items():
        if content.head[start:].startswith(mark):
            return Rejection(f"it is {kind}: unpack it with `{command} FILE`")
    for magic, (name, suffix) in MAGIC.items():
        if content.head.startswith(magic):
            return Rejection(f"it is compressed with {name}, but its name does not end in .{suffix}")
    return None


def origin() -> list[Column]:
    """Return the columns with the file of a row and its time, from Spark's reader."""
    return [
        f.col("_metadata.file_path").alias("_uri"),
        f.col("_metadata.file_modification_time").alias("_source_modified_at"),
    ]
