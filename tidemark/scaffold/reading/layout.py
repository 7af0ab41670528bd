"""Find the header of a table among its first records, and the lines around the records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.base.errors import TidemarkError
from tidemark.scaffold.reading.choices import Choices
from tidemark.scaffold.reading.csv_dialect import lines_after, lines_before
from tidemark.scaffold.reading.csv_records import Record
from tidemark.scaffold.reading.header import looks_like_names, must_be_names

MAX_CHARACTERS_SHOWN = 60  # characters of a line in a message
EVIDENCE = 500  # records that are compared with the header


@dataclass(frozen=True)
class Layout:
    """Where the records of one file are.

    Attributes:
        names: the header's names; None if the file has no header.
        start: the position of the first record after the header.
        skip_lines: the number of lines before the header, or before the first record.
        footer: the number of last lines that are not records.
    """

    names: tuple[str, ...] | None
    start: int
    skip_lines: int
    footer: int


NOT_KNOWN = Layout(None, 0, 0, 0)


def width_of(records: Sequence[Record]) -> int:
    """Return the most frequent number of fields; the larger one of equally frequent ones."""
    widths = Counter(record.width for record in records)
    return max(widths, key=lambda width: (widths[width], width), default=0)


def layout_of(file: str, records: Sequence[Record], width: int, choices: Choices, *, ends: bool) -> Layout:
    """Return where the header and the records are.

    Args:
        file: the file's name, for messages.
        records: the file's first records, without comments.
        width: the number of fields that most records have.
        choices: what the user says about the files.
        ends: whether the last one of `records` is the file's last one.

    Raises:
        TidemarkError: when the file has no records, or no header and the user does not say so.
    """
    start = _start(records, width, choices)
    body = records[start:]
    if not body:
        raise TidemarkError(
            f"{file} has no lines of text{' after the skipped ones' if records else ''}.",
            "Give a file with a header and some records.",
        )
    footer = choices.footer
    if footer is None:
        footer = lines_after(body, width) if ends else 0
    skip = choices.skip_lines
    if skip is None:
        skip = body[0].number if start else 0
    if choices.header is False:
        return Layout(None, start, skip, footer)
    rows = [list(r.fields) for r in body[1 : len(body) - footer] if r.fields and r.width == body[0].width]
    if not (choices.header and rows):
        _check_header(file, records[: len(records) - footer], start, rows)
    names = tuple(name.strip() for name in body[0].fields or ())
    _check_names(file, names, _way_out(body[0], width))
    return Layout(names, start + 1, skip, footer)


def _start(records: Sequence[Record], width: int, choices: Choices) -> int:
    if choices.skip_lines is None:
        return lines_before(records, width)
    skipped = (position for position, record in enumerate(records) if record.number >= choices.skip_lines)
    return next(skipped, len(records))


def _check_header(file: str, records: Sequence[Record], start: int, rows: Sequence[Sequence[str]]) -> None:
    """Stop if the record at `start` is not the header of the records after it, or there are none."""
    header, before = records[start], records[start - 1] if start else None
    if before and before.fields is None:
        header = before
    line = re.sub(r"[\r\n]+", " ", header.text)[:MAX_CHARACTERS_SHOWN]
    if header.fields is None:
        raise TidemarkError(
            f"{file}: a quote in the header is not closed: {line!r}.", _way_out(header, width_of(records))
        )
    if not rows and len(records) == start + 1:
        raise TidemarkError(
            f"{file} has a header, but no records.", "Give a file with some records, which show the types."
        )
    if rows and looks_like_names(header.fields, rows[:EVIDENCE]):
        if len(rows) > 1 and must_be_names(rows[0], rows[1:EVIDENCE]):
            raise TidemarkError(
                f"{file}: two records look like names: {line!r} and "
                f"{','.join(rows[0])[:MAX_CHARACTERS_SHOWN]!r}.",
                f"Give `--skip-lines {records[start + 1].number}` if the second one has the names, or "
                "`--header` if it is a record.",
            )
        return
    other = before if rows and start == 1 else header if not rows else None
    if other and other.width != (width := header.width if rows else width_of(records[start + 1 :])):
        fields = f"{other.width} {'field' if other.width == 1 else 'fields'}"
        fix = _way_out(other, width)
        if other.width == 1:
            fix += " If it is one column, give a `--delimiter` that no value has."
        raise TidemarkError(f"{file}: the header has {fields}, but the records have {width}.", fix)
    raise TidemarkError(
        f"{file} seems to have no header: its first record is {line!r}.",
        "Give `--no-header`, with `--columns a,b,c` to name the columns; or `--header` if it has the names.",
    )


def _check_names(file: str, names: Sequence[str], way_out: str) -> None:
    """Stop if a name is empty or occurs twice; landing ignores the letter case."""
    if empty := [str(number) for number, name in enumerate(names, 1) if not name]:
        raise TidemarkError(f"{file}: the header has no name for column {', '.join(empty)}.", way_out)
    counts = Counter(name.lower() for name in names)
    if twice := [name for name in names if counts[name.lower()] > 1]:
        raise TidemarkError(
            f"{file}: the header has the same name twice: {', '.join(map(repr, twice[:6]))}.", way_out
        )


def _way_out(header: Record, width: int) -> str:
    """Return the options that skip the header and name the columns."""
    names = header.fields or ()
    lines = header.number + 1 + len(header.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")) - 1
    used: list[str] = []
    for number in range(width):
        name = "_".join(names[number].split()).replace(",", "_") if number < len(names) else ""
        taken = {one.lower() for one in used}
        used.append(name if name and name.lower() not in taken else f"{name or 'column'}_{number + 1}")
    shown = ",".join(used) if width <= 30 else f"{','.join(used[:30])},…"
    return f"Name the columns: `--skip-lines {lines} --columns {shown}`."
