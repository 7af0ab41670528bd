"""What all file formats have in common."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pyspark.sql import functions as f

from python_ingest.contents import Content
from python_ingest.storage import SourceFile

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

REPLACEMENT = "\ufffd"  # what a decoder writes in place of bytes that are not of the encoding
MAGIC = {b"\x1f\x8b": ("gzip", "gz"), b"BZh": ("bzip2", "bz2"), b"\x28\xb5\x2f\xfd": ("zstd", "zst")}


@dataclass(frozen=True)
class Rejection:
    """Why a whole file is set aside."""

    reason: str


class Format(Protocol):
    """A file format of one feed. Files of one layout are read together."""

    def layout(self, content: Content, file: SourceFile) -> Hashable | Rejection:
        """Examine the beginning of a file.

        Args:
            content: what was read of it.
            file: the file.

        Returns:
            What tells how to read it, or why it cannot be this feed's.
        """

    def rows(self, layout: Hashable, files: Sequence[SourceFile]) -> DataFrame:
        """Read files of one layout.

        Returns:
            The declared columns, `_rescued_data`, `_corrupt_record`, and what `origin` gives.
        """


def lacking(declared: Sequence[str], present: Sequence[str], has: str, lacks: str) -> Rejection | None:
    """Refuse a file without one of the declared columns; `has` and `lacks` begin the sentence."""
    missing = [field for field in declared if field not in present]
    if len(missing) == len(declared):
        return Rejection(f"not a file of this feed: {has} none of the declared columns")
    return Rejection(f"{lacks} {', '.join(missing)}") if missing else None


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
