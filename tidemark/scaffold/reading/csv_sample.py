"""Read sample files in CSV: how they are written, their columns, their records."""

from __future__ import annotations

import io
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice

from python_ingest.files.formats.encodings import REPLACEMENT
from tidemark.base.errors import TidemarkError
from tidemark.scaffold.reading.choices import Choices
from tidemark.scaffold.reading.csv_dialect import (
    USUAL,
    best_shape,
    comment_of,
    doubtful_shape,
    escape_of,
    is_aligned,
    shape_of,
    words_of,
)
from tidemark.scaffold.reading.csv_notes import Dialect, notes_of, options_of, shown
from tidemark.scaffold.reading.csv_records import Form, Record, records_in
from tidemark.scaffold.reading.layout import Layout, layout_of, width_of
from tidemark.scaffold.reading.opening import BROKEN, SampleFile
from tidemark.scaffold.reading.reading import Reading, Rows
from tidemark.scaffold.reading.texts import FileText, counted, texts_of
from tidemark.scaffold.reading.unreadable import fixed_width, python_command


def read_csv(files: Sequence[SampleFile], all_files: Sequence[SampleFile], choices: Choices) -> Reading:
    """Read the beginnings of CSV files.

    Args:
        files: the files to look at.
        all_files: all files of the feed, for `Reading.more`.
        choices: what the user says about the files.

    Raises:
        TidemarkError: when the files are no CSV files of one kind, or it is not certain how to read them.
    """
    texts, notes = texts_of(files, choices.encoding)
    dialect = _dialect(texts, choices)
    parsed = [_records(text.text, dialect) for text in texts]
    width = width_of([record for records in parsed for record in records])
    layouts = [
        layout_of(text.name, records, width, choices, ends=text.is_whole)
        for text, records in zip(texts, parsed, strict=True)
        if records
    ]
    if not layouts:
        raise TidemarkError(f"{texts[0].name} has no lines.", "Give a file with a header and some records.")
    _check_alike([t for t, records in zip(texts, parsed, strict=True) if records], layouts)
    layout = _usual(layouts)
    dialect = replace(dialect, layout=layout)
    names = _names(layout, width, choices)
    rows = [row for text in texts for row in _rows(io.StringIO(text.text, newline=""), names, dialect, text)]
    if not rows:
        raise TidemarkError(
            f"{texts[0].name} has a header, but no record with {len(names)} fields.",
            "Give a file with some records, which show the types.",
        )
    options = options_of(texts[0], dialect)
    notes += notes_of(texts, dialect, names, parsed)
    padded = frozenset(name for row in rows for name, value in row.items() if value != value.strip())
    more = partial(_all_rows, all_files, names, dialect)
    return Reading(names, options, list(map(_stripped, rows)), more, notes, padded)


def _dialect(texts: Sequence[FileText], choices: Choices) -> Dialect:
    codec = texts[0].codec
    if choices.delimiter:
        delimiter = choices.delimiter
        fitting = [text.text for text in texts if delimiter in text.text]
    else:
        delimiter = _delimiter(texts)
        fitting = [text.text for text in texts]
    whole = "".join(fitting[:3])
    dialect = Dialect(codec, Form(delimiter, escape_of(whole, delimiter)), choices.comment)
    if choices.comment is None:
        records = _records(texts[0].text, dialect)
        dialect = replace(dialect, comment=comment_of(records, width_of(records)))
    return dialect


def _delimiter(texts: Sequence[FileText]) -> str:
    """Return the delimiter of most files.

    Raises:
        TidemarkError: when some files have another delimiter, or fields are separated by runs of blanks.
    """
    shapes = [best_shape(text.text) for text in texts]
    counts = Counter(shape.delimiter for shape in shapes if shape)
    if not counts:
        if any(is_aligned(text.text) for text in texts):
            raise fixed_width(texts[0].name)
        for text in texts:
            if shape := doubtful_shape(text.text):
                other = next((sign for sign in USUAL if sign not in text.text), "|")
                raise TidemarkError(
                    f"{text.name} has a few lines of {shape.width} fields with {shown(shape.delimiter)} "
                    "between them, too few to tell whether these are its records.",
                    f"Give `--delimiter '{shape.delimiter}'` if they are, or `--delimiter '{other}'` if each "
                    "line is one value.",
                )
        if (words := words_of(texts[0].text)) > 2:
            raise TidemarkError(
                f"{texts[0].name} has {words} words in each line, and no usual delimiter.",
                "Give `--delimiter space` if they are columns, or `--delimiter ,` if each line is one value.",
            )
        return next((sign for sign in USUAL if all(sign not in text.text for text in texts)), USUAL[0])
    delimiter = counts.most_common(1)[0][0]
    _check_doubled(texts[0], delimiter)
    others = {
        text.name: shape.delimiter
        for text, shape in zip(texts, shapes, strict=True)
        if shape and shape.delimiter != delimiter and shape_of(text.text, delimiter).width < 2
    }
    if others:
        name, sign = next(iter(others.items()))
        usual = next(t.name for t, s in zip(texts, shapes, strict=True) if s and s.delimiter == delimiter)
        raise TidemarkError(
            f"The files have different delimiters: {shown(delimiter)} in {usual}, {shown(sign)} in {name}.",
            "Put the files with each delimiter into a folder of their own: each folder is a feed.",
        )
    return delimiter


def _check_doubled(text: FileText, delimiter: str) -> None:
    """Stop if fields are separated by the delimiter twice, such as `||`."""
    lines = [line for line in islice(io.StringIO(text.text), 20) if line.strip()]
    if all(line.count(delimiter) == 2 * line.count(delimiter * 2) > 0 for line in lines):
        code = f"import pandas; pandas.read_csv({text.name!r}, sep={re.escape(delimiter * 2)!r}, dtype=str, "
        code += "engine='python', keep_default_na=False).to_csv('converted.csv', index=False)"
        raise TidemarkError(
            f"{text.name} separates fields by {delimiter * 2!r}; a delimiter is one character.",
            f"Convert it (pandas): {python_command(code)}",
        )


def _records(text: str, dialect: Dialect) -> list[Record]:
    lines = io.StringIO(text, newline="")
    found = records_in(lines, dialect.form)
    return [one for one in found if not dialect.comment or not one.text.startswith(dialect.comment)]


def _check_alike(texts: Sequence[FileText], layouts: Sequence[Layout]) -> None:
    """Stop if the files of a folder need different options."""
    for kind, unit in (("skip_lines", "before the header"), ("footer", "after the last record")):
        numbers = [
            (text.name, getattr(layout, kind))
            for text, layout in zip(texts, layouts, strict=True)
            if kind == "skip_lines" or text.is_whole
        ]
        if len({number for _, number in numbers}) > 1:
            one = numbers[0]
            two = next(found for found in numbers if found[1] != one[1])
            raise TidemarkError(
                f"{one[0]} has {counted(one[1], 'line')} {unit}, {two[0]} has {two[1]}.",
                f"Put the files of each kind into a folder of their own, or give "
                f"`--{kind.replace('_', '-')} N` to insist.",
            )


def _usual(layouts: Sequence[Layout]) -> Layout:
    """Return the layout with the most frequent header; the first one of equally frequent ones."""
    headers = Counter(layout.names for layout in layouts)
    wanted = headers.most_common(1)[0][0]
    footer = max(layout.footer for layout in layouts)
    return replace(next(layout for layout in layouts if layout.names == wanted), footer=footer)


def _names(layout: Layout, width: int, choices: Choices) -> list[str]:
    if layout.names is not None:
        return list(layout.names)
    names = choices.columns or tuple(f"column_{number}" for number in range(1, width + 1))
    if len(names) != width:
        raise TidemarkError(
            f"`--columns` names {len(names)} columns, but the records have {width} fields.",
            "Name each column, in the files' order.",
        )
    return list(names)


def _rows(
    lines: Iterable[str], names: Sequence[str], dialect: Dialect, text: FileText | None = None
) -> Iterator[dict[str, str]]:
    """Yield the records that landing accepts, values by field; none if the header lacks one of the names."""
    layout = dialect.layout
    kept = islice(lines, layout.skip_lines, None)
    records: Iterator[Record] = records_in(kept, dialect.form)
    if dialect.comment:
        sign = dialect.comment
        records = (record for record in records if not record.text.startswith(sign))
    order = list(names)
    if layout.names is not None:
        spelled = {name.lower(): name for name in names}
        header = next(records, None)
        order = [spelled.get(n.strip().lower(), n.strip()) for n in (header.fields if header else None) or ()]
        if not set(names) <= set(order):
            return
    footer = layout.footer if text is None or text.is_whole else 0
    for record in _without_last(records, footer):
        if record.width == len(order) and REPLACEMENT not in record.text and "\x00" not in record.text:
            row = dict(zip(order, record.fields or (), strict=True))
            yield {name: row[name] for name in names}


def _without_last(records: Iterator[Record], number: int) -> Iterator[Record]:
    """Yield all records except the last ones."""
    held: deque[Record] = deque()
    for record in records:
        held.append(record)
        if len(held) > number:
            yield held.popleft()


def _stripped(row: dict[str, str]) -> dict[str, str | None]:
    return {name: value.strip() or None for name, value in row.items()}


def _all_rows(files: Sequence[SampleFile], names: Sequence[str], dialect: Dialect) -> Rows:
    for file in files:
        # a broken file is ignored here; landing sets it aside
        with (
            suppress(*BROKEN),
            file.open() as stream,
            io.TextIOWrapper(stream, encoding=dialect.codec, errors="replace", newline="") as lines,
        ):
            yield from map(_stripped, _rows(lines, names, dialect))
