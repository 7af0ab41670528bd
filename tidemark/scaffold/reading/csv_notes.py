"""The options of a CSV feed, and what `add` says about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.scaffold.reading.csv_records import QUOTE, Form, Record
from tidemark.scaffold.reading.layout import NOT_KNOWN, Layout
from tidemark.scaffold.reading.reading import Note
from tidemark.scaffold.reading.texts import FileText, counted

RECOGNIZED = ("utf-8", "utf-16", "utf-32")  # by landing, too: the last two by their byte order mark
NAMES = {"\t": "a tab", " ": "a blank", "\x01": "^A", "\x1f": "^_"}


@dataclass(frozen=True)
class Dialect:
    """How the files of a feed are written.

    Attributes:
        codec: the encoding, as Python's codec.
        form: how a record is written.
        comment: begins lines that are not records.
        layout: where the header and the records are.
    """

    codec: str
    form: Form
    comment: str | None = None
    layout: Layout = NOT_KNOWN


def shown(sign: str) -> str:
    """Return a delimiter as people write it."""
    return NAMES.get(sign, f"`{sign}`")


def options_of(text: FileText, dialect: Dialect) -> dict[str, object]:
    """Return the options of the feed that differ from the defaults."""
    layout = dialect.layout
    options = {
        "delimiter": dialect.form.delimiter if dialect.form.delimiter != "," else None,
        "encoding": text.encoding if text.encoding not in RECOGNIZED else None,
        "escape": dialect.form.escape if dialect.form.escape != QUOTE else None,
        "comment": dialect.comment,
        "skip_lines": layout.skip_lines or None,
        "footer": layout.footer or None,
        "header": False if layout.names is None else None,
    }
    return {name: value for name, value in options.items() if value is not None}


def notes_of(
    texts: Sequence[FileText], dialect: Dialect, names: Sequence[str], parsed: Sequence[Sequence[Record]]
) -> list[Note]:
    """Return what was assumed, and which records and files landing will reject."""
    layout = dialect.layout
    notes = []
    if dialect.form.delimiter != "," and len(names) > 1:
        notes.append(("delimiter", f"{shown(dialect.form.delimiter)}; use `--delimiter` for another"))
    if dialect.form.escape != QUOTE:
        notes.append(("escape", f"`{dialect.form.escape}` before a quote in a quoted field"))
    if dialect.comment:
        notes.append(("comment", f"lines that begin with `{dialect.comment}` are not records"))
    if any(record.has_line_break and record.fields for records in parsed for record in records):
        notes.append(("line breaks", "some quoted values have them"))
    if layout.skip_lines:
        what = f"{counted(layout.skip_lines, 'line')} before the {'header' if layout.names else 'records'}"
        notes.append(("skipped", f"{what}; use `--skip-lines` for another number"))
    if layout.footer:
        what = f"{counted(layout.footer, 'last line')} with totals or remarks"
        notes.append(("footer", f"{what}; use `--footer 0` to keep them as records"))
    if layout.names is None:
        notes.append(("header", f"none; the columns are {', '.join(names)}"))
    if any("\r" in t.text and "\n" not in t.text for t in texts):
        notes.append(("line ends", "carriage returns, as on old Macs"))
    bodies = [record for records in parsed for record in records[layout.start : len(records) - layout.footer]]
    if broken := sum(r.width != len(names) or "\x00" in r.text for r in bodies):
        notes.append(
            ("broken", f"{broken:,} of {len(bodies):,} records cannot be read; landing rejects them")
        )
    for text, records in zip(texts, parsed, strict=True):
        header = records[layout.start - 1] if layout.names and len(records) >= layout.start > 0 else None
        found = [name.strip() for name in (header.fields if header else None) or names]
        if lacks := [n for n in names if n.lower() not in {f.lower() for f in found}]:
            notes.append(("left out", f"{text.name}: its header lacks {', '.join(lacks)}"))
    return notes
