"""What is known of a file before its batch is planned."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from python_ingest.files.parts import Part

HEAD_BYTES = 65_536
MAX_LINE_BYTES = 32 * 2**20
WHOLE_BYTES = 64 * 2**20  # a task reads a CSV file up to this size as one text, if a record is not one line
GROWING = "still being written"
TOO_LONG = "it has a line of more than 32 MiB"


@dataclass(frozen=True)
class Content:
    """What was read from a file.

    Attributes:
        checksum: SHA-256 of its bytes, in hexadecimal.
        head: the first bytes, decompressed.
        error: why it cannot be read.
        size: its size in bytes, decompressed.
        first_lines: how many lines of the file equal its first line; None if they were not counted.
        open_lines: how many lines have a quoted field that they do not close; at most 1 for small files; None
            if nobody looked: then reading the file stops at the first such line.
        spared: how many bytes a text has beyond its characters; 0 if it is not UTF-8, or declared as UTF-8.
        has_odd_quotes: True if a large file with open lines has an odd number of quotes.
        parts: the files that were unpacked from it, which are read in its place; empty if it is read itself.
    """

    checksum: str | None = None
    head: bytes = b""
    error: str | None = None
    size: int = 0
    first_lines: int | None = None
    open_lines: int | None = 0
    spared: int = 0
    has_odd_quotes: bool = False
    parts: tuple[Part, ...] = ()


def first_line(head: bytes) -> str:
    """Return the first line of a text in UTF-8, without its byte order mark."""
    return re.split("\r\n|\n|\r", head.decode("utf-8-sig", "replace"), maxsplit=1)[0]
