"""What all file formats have in common."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Protocol

from pyspark.sql import functions as f

from python_ingest.bronze.columns import Target
from python_ingest.bronze.contract import Rejection
from python_ingest.feeds.source_file import SourceFile
from python_ingest.files.inspection import Content

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

MAGIC = {b"\x1f\x8b": ("gzip", "gz"), b"BZh": ("bzip2", "bz2"), b"\x28\xb5\x2f\xfd": ("zstd", "zst")}


class Format(Protocol):
    """A file format of one feed. Files of one layout are read together.

    Attributes:
        has: begins a sentence on a file's columns.
        ignores_case: whether a column may be written in other letter case than it is declared in.
        has_lines: whether the files of this feed are read by lines.
    """

    has: str
    ignores_case: bool
    has_lines: bool

    def survey(self, files: Sequence[SourceFile], targets: Sequence[Target]) -> None:
        """Read, of a whole batch at once, what the contract asks and no file's beginning tells."""

    def layout(self, content: Content, file: SourceFile) -> Hashable | Rejection:
        """Examine the beginning of a file.

        Args:
            content: what was read of it.
            file: the file.

        Returns:
            What tells how to read it, or why it cannot be this feed's.
        """

    def fields(self, layout: Hashable, file: SourceFile) -> StructType | None:
        """Return a file's columns with their types; None where the contract does not ask."""

    def rows(self, layout: Hashable, files: Sequence[SourceFile], targets: Sequence[Target]) -> DataFrame:
        """Read files of one layout.

        Returns:
            The targets, `_rescued_data`, `_corrupt_record`, `_corrupt_reason`, and what `origin` gives.
        """


class LineFormat(Format, Protocol):
    """A format whose broken records are text, which can be parsed again."""

    def names(self, layout: Hashable) -> list[str]:
        """Return the columns that a file's records have by position; none where records name them."""

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
    """Refuse a compressed file whose name does not say so: Spark would read its bytes as they are."""
    for magic, (name, suffix) in MAGIC.items():
        if content.head.startswith(magic):
            return Rejection(f"it is compressed with {name}, but its name does not end in .{suffix}")
    return None


def origin() -> list[Column]:
    """Return the file of a row, and its time, as Spark's reader knows them."""
    return [
        f.col("_metadata.file_path").alias("_uri"),
        f.col("_metadata.file_modification_time").alias("_source_modified_at"),
    ]
