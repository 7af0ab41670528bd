"""The header of a CSV file, checked against the feed's declaration before anything is read."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from python_ingest.declarations import CsvOptions, Feed


@dataclass(frozen=True)
class Header:
    """The names of a file's columns, in the file's order."""

    names: tuple[str, ...]

    def position(self, column: str) -> int:
        """Return where the declared column stands in the file, letter case aside."""
        return [name.lower() for name in self.names].index(column)


@dataclass(frozen=True)
class Rejection:
    """Why a whole file is set aside."""

    reason: str


def check_header(head: bytes, feed: Feed) -> Header | Rejection:
    """Read a header and compare it with the declared columns.

    Columns may come in any order and letter case, and there may be more than are declared (they are
    kept in `_rescued_data`). A file without one of the declared columns is not this feed's.

    Args:
        head: the first bytes of the file.
        feed: the feed that the file should belong to.

    Returns:
        The header, or the reason why the file cannot be landed.
    """
    if not head:
        return Rejection("the file is empty: it has no header")
    if b"\x00" in head:
        return Rejection("not a CSV file: it holds NUL bytes")
    try:
        line = _first_line(head).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Rejection(f"the header is not UTF-8 (byte {error.start})")
    names = _fields(line, feed.external.options)
    return _compared(names, feed.column_names)


def _first_line(head: bytes) -> bytes:
    return head.replace(b"\r", b"\n").split(b"\n", 1)[0]


def _fields(line: str, options: CsvOptions) -> list[str]:
    reader = csv.reader(io.StringIO(line), delimiter=options.delimiter, quotechar=options.quote, strict=False)
    return [name.strip() for name in next(reader, [])]


def _compared(names: Sequence[str], declared: Sequence[str]) -> Header | Rejection:
    folded = [name.lower() for name in names]
    missing = [column for column in declared if column not in folded]
    if len(missing) == len(declared):
        return Rejection("not a file of this feed: its header has none of the declared columns")
    if missing:
        return Rejection(f"the header lacks {', '.join(missing)}")
    twice = sorted({name for name in folded if folded.count(name) > 1})
    if twice:
        return Rejection(f"the header names {', '.join(repr(name) for name in twice)} more than once")
    return Header(tuple(names))
