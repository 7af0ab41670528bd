"""Split the lines of a CSV file into records and fields by the grammar of landing (feeds/csv_grammar.py)."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

QUOTE = '"'
MOST_LINES = 1_000  # of one record: a quote that is open for longer is not closed at all
BLANKS = "".join(map(chr, range(0x21)))  # landing skips lines of these
LINE_BREAK = re.compile(r"[\r\n]")
Line = tuple[int, str]  # its number in the file, from 0, and its text with the line break


@dataclass(frozen=True)
class Form:
    """How records are written.

    Attributes:
        delimiter: separates fields.
        escape: precedes a quote in a quoted field.
    """

    delimiter: str
    escape: str = QUOTE


@dataclass(frozen=True)
class Record:
    """A record.

    Attributes:
        number: the number of its first line in the file, from 0.
        text: its lines, without the last line break.
        fields: its fields, unquoted; None if a quote is not closed.
    """

    number: int
    text: str
    fields: list[str] | None

    @property
    def width(self) -> int:
        """The number of fields; 0 if they are unknown."""
        return len(self.fields or ())

    @property
    def has_line_break(self) -> bool:
        return "\n" in self.text or "\r" in self.text


def records_in(lines: Iterable[str], form: Form) -> Iterator[Record]:
    """Yield the records, without blank lines.

    A quoted field may contain line breaks; then a delimiter or the end of the line follows its last quote. A
    quote that is not closed by these rules breaks only its own line.

    Args:
        lines: physical lines with their line breaks.
        form: how the records are written.
    """
    waiting: deque[Line] = deque()
    source = enumerate(lines)
    for number, line in _all_of(waiting, source):
        if not line.strip(BLANKS):
            continue
        fields = fields_of(line.rstrip("\r\n"), form)
        if fields is not None:
            yield Record(number, line.rstrip("\r\n"), fields)
            continue
        record, passed = _over_lines((number, line), _all_of(waiting, source), form)
        yield record
        waiting.extendleft(reversed(passed))


def _all_of(waiting: deque[Line], source: Iterator[Line]) -> Iterator[Line]:
    """Yield the lines that wait, also those that are added meanwhile, before new ones."""
    while True:
        taken = waiting.popleft() if waiting else next(source, None)
        if taken is None:
            return
        yield taken


def _over_lines(first: Line, ahead: Iterator[Line], form: Form) -> tuple[Record, list[Line]]:
    """Return the record that begins with an open quote, and the lines that are not part of it."""
    number, line = first
    passed: list[Line] = []
    parts = [line]
    for _ in range(MOST_LINES):
        taken = next(ahead, None)
        if taken is None:
            break
        passed.append(taken)
        parts.append(taken[1])
        if QUOTE not in taken[1]:
            continue
        text = "".join(parts).rstrip("\r\n")
        fields = fields_of(text, form)
        if fields:
            return Record(number, text, fields), []
        if fields is not None:
            break
    return Record(number, line.rstrip("\r\n"), None), passed


def fields_of(line: str, form: Form) -> list[str] | None:
    """Return the fields of a record.

    Args:
        line: the record.
        form: how it is written.

    Returns:
        The fields; a field with text after its closing quote is kept as it is written. None if a quote is not
        closed, and an empty list if text follows the closing quote of a field over several lines.
    """
    if QUOTE not in line:
        return line.split(form.delimiter)
    fields, start, end = [], 0, len(line)
    while True:
        close = -1
        if line.startswith(QUOTE, start):
            close = _closing(line, start + 1, form.escape)
            if close < 0:
                return None
        found = line.find(form.delimiter, max(start, close + 1))
        stop = end if found < 0 else found
        if close < 0:
            fields.append(line[start:stop])
        elif stop > close + 1 and LINE_BREAK.search(line, start, close):
            return []
        elif not line[close + 1 : stop].strip(" "):
            fields.append(line[start + 1 : close].replace(form.escape + QUOTE, QUOTE))
        else:
            fields.append(line[start:stop])
        if found < 0:
            return fields
        start = stop + 1


def _closing(line: str, start: int, escape: str) -> int:
    """Return the position of the quote that closes a field; -1 if there is none."""
    while (found := line.find(QUOTE, start)) >= 0:
        if escape == QUOTE and line.startswith(QUOTE, found + 1):
            start = found + 2
        elif escape != QUOTE and _is_escaped(line, found, escape):
            start = found + 1
        else:
            return found
    return -1


def _is_escaped(line: str, position: int, escape: str) -> bool:
    before = line[:position]
    return (len(before) - len(before.rstrip(escape))) % 2 == 1
