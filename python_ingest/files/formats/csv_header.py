"""The start of a CSV file: its encoding, its header, and how to read the records below."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from rich.filesize import decimal

from python_ingest.bronze.contract import Rejection
from python_ingest.feeds.csv_grammar import BREAK
from python_ingest.feeds.external_files import CsvOptions
from python_ingest.files.content import WHOLE_BYTES, Content, first_line
from python_ingest.files.formats.csv_refusals import header_refused, names_refused, text_refused
from python_ingest.files.formats.encodings import MARKS, is_wide, mark_of, wide_encoding

OTHER_WAYS = "correct or split it, or set the option `multi_line: false` if each line is a record"
LINE = re.compile("([^\r\n]*)(?:\r\n|\r|\n|$)")
BLANK = "".join(map(chr, range(33)))  # what Spark's CSV reader takes for blank


@dataclass(frozen=True)
class Header:
    """What the header of a file contains, and how to read the records below it.

    Attributes:
        names: its columns, in the file's order.
        encoding: the encoding, as Python names it.
        line: the header's text, if no other line equals it; then lines can be read as plain text.
        dropped: the number of lines before the records, if the file is read as one text; else None.
        is_streamed: True if Spark's reader must find the records, since the file is too large for one text.
        stops_at_open: True if reading must stop at a line with an open quote, since nobody looked for one.
    """

    names: tuple[str, ...]
    encoding: str
    line: str | None = None
    dropped: int | None = None
    is_streamed: bool = False
    stops_at_open: bool = False

    @property
    def charset(self) -> str:
        """The encoding as Java names it."""
        return re.sub(r"^(utf-\d\d)-", r"\1", self.encoding)


@dataclass(frozen=True)
class Start:
    """The start of a file.

    Attributes:
        lines: the number of lines before the first record.
        text: the text from the first record on, as far as it was read.
        record: the first record; None if a quote in its first line is not closed.
    """

    lines: int
    text: str
    record: str | None


def read_header(content: Content, options: CsvOptions, declared: Sequence[str]) -> Header | Rejection:
    """Read the first bytes of a file.

    Args:
        content: what was read from the file.
        options: the options of the feed.
        declared: the declared columns, as files name them.

    Returns:
        The header and how to read the records below it, or why the file cannot be read.
    """
    mark = mark_of(content.head)
    encoding = MARKS.get(mark) or _ordered(options.encoding, content.head)
    if refused := text_refused(content, encoding, has_header=options.header):
        return Rejection(refused)
    text = codecs.getincrementaldecoder(encoding)("replace").decode(content.head[len(mark) :])
    start = _start_of(text, options)
    names = _names(start, content, encoding, options, declared)
    if isinstance(names, str):
        return Rejection(names)
    dropped = options.skip_lines
    if options.header:
        dropped = start.lines + 1 + len(BREAK.findall(start.record or ""))
    if options.footer and content.size <= len(content.head):
        rest = islice(BREAK.split(text), dropped, None)
        if sum(_is_text(line, options) for line in rest) < options.footer:
            return Rejection(f"it has fewer than {options.footer} lines that may be its `footer`")
    header = Header(names, encoding)
    if _is_by_records(content, header, options, start):
        return _as_text(content, header, options, dropped)
    header = replace(header, stops_at_open=content.open_lines is None)
    is_plain = encoding == "utf-8" and not options.comment and content.first_lines == 1
    is_plain = is_plain and options.header and first_line(content.head) == start.record
    return replace(header, line=start.record) if is_plain else header


def header_of(layout: Hashable) -> Header:
    assert isinstance(layout, Header)  # noqa: S101  # `layout` returns only headers
    return layout


def numbered(names: Sequence[str]) -> list[str]:
    return [f"c{position}" for position in range(len(names))]


def _ordered(encoding: str, head: bytes) -> str:
    """Return an encoding with its byte order, since the defaults of Python and Java differ."""
    if encoding not in ("utf-16", "utf-32"):
        return encoding
    found = wide_encoding(head)
    return found if found and found.startswith(encoding) else f"{encoding}-be"


def _start_of(text: str, options: CsvOptions) -> Start:
    """Find the first line that is neither skipped, nor blank, nor a comment."""
    for number, line in enumerate(LINE.finditer(text)):
        if number >= options.skip_lines and _is_text(line[1], options):
            rest = text[line.start() :]
            return Start(number, rest, options.grammar.first_record(rest))
    return Start(options.skip_lines, "", None)


def _is_text(line: str, options: CsvOptions) -> bool:
    return bool(line.strip(BLANK)) and not (options.comment and line.startswith(options.comment))


def _names(
    start: Start, content: Content, encoding: str, options: CsvOptions, declared: Sequence[str]
) -> tuple[str, ...] | str:
    """Return the columns of a file, or why its first record cannot be its header."""
    if not options.header:
        found = _fields(start.record or "", options)
        if [name.lower() for name in found] == [name.lower() for name in declared]:
            return "its first line is a header, and the feed has the option `header: false`"
        return tuple(declared)
    if refused := header_refused(start.text, start.record, content, encoding):
        return refused
    record = start.record or ""
    names = _fields(record, options)
    return names_refused(record, names, declared, options) or tuple(names)


def _fields(record: str, options: CsvOptions) -> list[str]:
    escape = None if options.escape == options.quote else options.escape
    reader = csv.reader(
        io.StringIO(record, newline=""),
        delimiter=options.delimiter,
        quotechar=options.quote,
        escapechar=escape if f"{escape}{options.quote}" in record else None,
        doublequote=escape is None,
    )
    return [name.strip() for name in next(reader, [])]


def _is_by_records(content: Content, header: Header, options: CsvOptions, start: Start) -> bool:
    """Return whether the file must be split into records; each line of other files is a record."""
    spans = options.header and bool(BREAK.search(start.record or ""))
    return bool(
        is_wide(header.encoding) or options.skip_lines or options.footer or content.open_lines or spans
    )


def _as_text(content: Content, header: Header, options: CsvOptions, dropped: int) -> Header | Rejection:
    """Return how to read a file whose records may not be its lines."""
    if content.size <= WHOLE_BYTES:
        return replace(header, dropped=dropped)
    size = f"it has more than {decimal(WHOLE_BYTES)}"
    if options.skip_lines or options.footer:
        return Rejection(f"{size}: split it, since `skip_lines` and `footer` are for smaller files")
    if content.has_odd_quotes and not is_wide(header.encoding):
        return Rejection(f"{size}, and a quote in it is not closed: {OTHER_WAYS}")
    return replace(header, is_streamed=True)
