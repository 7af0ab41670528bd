"""Why a CSV file cannot be read, from its first bytes; each reason has a sentence of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from rich.filesize import decimal

from python_ingest.feeds.csv_grammar import BREAK
from python_ingest.feeds.external_files import CsvOptions
from python_ingest.files.content import HEAD_BYTES, Content
from python_ingest.files.formats.base import compression
from python_ingest.files.formats.encodings import (
    REPLACEMENT,
    has_other_encoding,
    is_binary,
    is_wide,
    wide_encoding,
)

DELIMITERS = ",;\t|:"
DATA = re.compile(r"[-+$€£]?\d[\d.,:/TZ %+-]*")  # a number, a date or a time
STRANGER = "not a file of this feed: its header has none of the declared columns"
MAX_CHARACTERS_SHOWN = 60  # characters of a header in a reason


def text_refused(content: Content, encoding: str, *, has_header: bool) -> str | None:
    """Return why a file is not text in an encoding."""
    if not content.head:
        return "the file is empty" + ": it has no header" * has_header
    if refused := compression(content):
        return refused.reason
    return None if is_wide(encoding) else _bytes_refused(content, encoding)


def _bytes_refused(content: Content, encoding: str) -> str | None:
    if wide := wide_encoding(content.head):
        return f"it looks like {wide.upper()}: set the feed's option `encoding: {wide}`"
    if is_binary(content.head, encoding):
        return "not a CSV file: it contains NUL bytes"
    if has_other_encoding(encoding, content.spared):
        return f"it is UTF-8, not {encoding.upper()} (option `encoding`)"
    return None


def header_refused(text: str, record: str | None, content: Content, encoding: str) -> str | None:
    """Return why the first record of a file cannot be its header.

    Args:
        text: the text from this record on, as far as it was read; empty if there is none.
        record: the record; None if a quote in its first line is not closed.
        content: what was read from the file.
        encoding: the encoding of the text.
    """
    is_cut = content.size > len(content.head)
    if not text:
        lines = f"all lines in its first {decimal(HEAD_BYTES)}" if is_cut else "all its lines"
        return f"it has no header: {lines} are blank, comments or skipped"
    if is_cut and (record == text or not BREAK.search(text)):
        return f"its header is longer than {decimal(HEAD_BYTES)}"
    line = BREAK.split(text, maxsplit=1)[0] if record is None else record
    if "\x00" in line:
        return "its header contains NUL bytes"
    if REPLACEMENT in line:
        return f"the header is not {encoding.upper()} (option `encoding`): {line[:MAX_CHARACTERS_SHOWN]!r}"
    return f"a quote in its header is not closed: {line[:MAX_CHARACTERS_SHOWN]!r}" if record is None else None


def names_refused(
    record: str, names: Sequence[str], declared: Sequence[str], options: CsvOptions
) -> str | None:
    """Return why the names in a header cannot be those of columns.

    Args:
        record: the header.
        names: its fields.
        declared: the declared columns, as files name them.
        options: the options of the feed.
    """
    counts = Counter(name.lower() for name in names)
    if counts[""] > 1:
        places = ", ".join(str(place) for place, name in enumerate(names, 1) if not name)
        return f"the header has {counts['']} columns without a name: {places}"
    if twice := sorted(name for name, count in counts.items() if count > 1):
        return f"the header names {', '.join(repr(name) for name in twice)} more than once"
    wanted = {name.lower() for name in declared}
    if wanted.isdisjoint(counts):
        return STRANGER + _cause(record, names, wanted, options.delimiter)
    return None


def _cause(record: str, names: Sequence[str], wanted: set[str], delimiter: str) -> str:
    """Return what the header of a strange file looks like."""
    for other in DELIMITERS:
        found = {name.strip(" \"'").lower() for name in record.split(other)}
        if other != delimiter and not wanted.isdisjoint(found):
            return f"; {other!r} separates its columns, and the feed's option `delimiter` is {delimiter!r}"
    if len(names) == len(wanted) and any(DATA.fullmatch(name) for name in names):
        return "; it looks like a record: if it is one, set the option `header: false`"
    return ""
