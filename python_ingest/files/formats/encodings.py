"""Detect the encoding of a file from its first bytes, and whether the file is text."""

from __future__ import annotations

import codecs
import re

REPLACEMENT = "\ufffd"  # a decoder writes it in place of invalid bytes
MARKS = {  # byte order marks; UTF-32's come first, because one of them begins like one of UTF-16's
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
ZEROS = {  # which of four bytes are zero in a text of mostly Latin letters
    (False, True, False, True): "utf-16-le",
    (True, False, True, False): "utf-16-be",
    (False, True, True, True): "utf-32-le",
    (True, True, True, False): "utf-32-be",
}
BY_CHANCE = 4  # bytes; two words of Chinese in GBK rarely spare so many
START_BYTES = 1024  # enough for zero bytes to show an encoding


def mark_of(head: bytes) -> bytes:
    """Return the byte order mark at the start of a file, or empty bytes."""
    return next((mark for mark in MARKS if head.startswith(mark)), b"")


def wide_encoding(head: bytes) -> str | None:
    """Detect UTF-16 or UTF-32 from the byte order mark or the zero bytes.

    Args:
        head: the file's first bytes.

    Returns:
        The encoding as Python names it, or None for any other text.
    """
    if mark := mark_of(head):
        return MARKS[mark] if mark != codecs.BOM_UTF8 else None
    parts = (head[first:START_BYTES:4] for first in range(4))
    one, two, three, four = (part.count(0) * 2 > len(part) for part in parts)
    return ZEROS.get((one, two, three, four))


def is_binary(head: bytes, encoding: str = "utf-8") -> bool:
    """Return whether a file is not text: it has NUL bytes, and its first line is not valid in the encoding.

    Args:
        head: the file's first bytes.
        encoding: an encoding in which a line break is the byte 10.
    """
    first = re.split(b"[\r\n]", head, maxsplit=1)[0]
    return b"\x00" in head and REPLACEMENT in codecs.getincrementaldecoder(encoding)("replace").decode(first)


def is_wide(encoding: str) -> bool:
    """Return whether a line break takes more than one byte, so that Spark cannot split files into lines."""
    return "\n".encode(encoding) != b"\n"


def has_other_encoding(encoding: str, spared: int) -> bool:
    """Return whether a file in UTF-8 would be read as other text.

    Bytes of a language with thousands of characters may look like a character of UTF-8 by chance.

    Args:
        encoding: the declared encoding.
        spared: how many bytes the file has beyond its characters; 0 if it is not UTF-8.
    """
    has_one_byte_each = len(bytes(range(128, 256)).decode(encoding, "replace")) == 128
    return encoding != "utf-8" and spared >= (1 if has_one_byte_each else BY_CHANCE)
