"""Read sample files in Excel's formats: the sheet, its header, its records as text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook

from python_ingest.files.workbooks import text_of
from tidemark.base.errors import TidemarkError
from tidemark.scaffold.reading.choices import Choices
from tidemark.scaffold.reading.csv_records import Record
from tidemark.scaffold.reading.layout import Layout, layout_of
from tidemark.scaffold.reading.reading import Note, Reading, Rows
from tidemark.scaffold.reading.texts import counted


def read_excel(files: Sequence[Path], all_files: Sequence[Path], choices: Choices) -> Reading:
    """Read the beginnings of Excel workbooks.

    Args:
        files: the files to look at.
        all_files: all files of the feed, for `Reading.more`.
        choices: what the user says about the files.

    Raises:
        TidemarkError: when a file cannot be read, or it is not certain where its records are.
    """
    sheet, notes = _sheet(files[0], choices)
    layouts, rows = [], []
    for file in files:
        records = _records(file, sheet, has_names=choices.header is not False)
        width = records[0].width if records else 0
        layout = layout_of(file.name, records, width, choices, ends=True)
        names = list(layout.names or choices.columns or (f"column_{n}" for n in range(1, width + 1)))
        rows += _rows(records, layout, names)
        layouts.append((layout, names))
    layout, names = layouts[0]
    if not rows:
        raise TidemarkError(
            f"{files[0].name} has a header, but no records.", "Give a file with some records."
        )
    if any((one.skip_lines, one.footer) != (layout.skip_lines, layout.footer) for one, _ in layouts):
        raise TidemarkError(
            "The workbooks have different numbers of rows before the header or after the last record.",
            "Put those of each kind into a folder of their own, or give `--skip-lines N` and `--footer N`.",
        )
    rows = [row for row in rows if set(names) <= set(row)]
    options, message = _options(sheet, layout, names)
    notes += message
    padded = frozenset(
        name for row in rows for name, value in row.items() if value and value != value.strip()
    )
    stripped = [{name: (row[name] or "").strip() or None for name in names} for row in rows]
    more = partial(_all_rows, all_files, sheet, layout, names)
    return Reading(names, options, stripped, more, notes, padded)


def _options(sheet: str | None, layout: Layout, names: Sequence[str]) -> tuple[dict[str, Any], list[Note]]:
    """Return the options of the feed that differ from the defaults, and what to say about them."""
    options: dict[str, Any] = {"sheet": sheet} if sheet else {}
    notes: list[Note] = []
    for option, value in (("skip_lines", layout.skip_lines), ("footer", layout.footer)):
        if value:
            options[option] = value
            notes.append(
                (option.replace("_", " "), f"{counted(value, 'row')}; use `--{option.replace('_', '-')}`")
            )
    if layout.names is None:
        options["header"] = False
        notes.append(("header", f"none; the columns are {', '.join(names)}"))
    return options, notes


def _sheet(file: Path, choices: Choices) -> tuple[str | None, list[Note]]:
    """Return the sheet to read, or None if the workbook has only one."""
    names = _opened(file).sheet_names
    if choices.sheet:
        if choices.sheet not in names:
            raise TidemarkError(
                f"{file.name} has no sheet {choices.sheet!r}.", f"It has: {', '.join(map(repr, names))}."
            )
        return choices.sheet, []
    if len(names) < 2:
        return None, []
    first = next((name for name in names if _records(file, name)), names[0])
    others = ", ".join(name for name in names if name != first)
    return first, [("sheet", f"{first}; the workbook also has {others}: use `--sheet` for another")]


def _opened(file: Path) -> CalamineWorkbook:
    try:
        return CalamineWorkbook.from_path(str(file))
    except (CalamineError, OSError) as error:
        raise TidemarkError(
            f"{file.name} cannot be read as an Excel workbook: {str(error)[:120]}.",
            "Save it again as .xlsx, without a password.",
        ) from error


def _records(file: Path, sheet: str | None, *, has_names: bool = True) -> list[Record]:
    """Return the rows and columns with a value, as landing reads them; without names, all columns."""
    workbook = _opened(file)
    name = sheet if sheet is not None else workbook.sheet_names[0]
    if name not in workbook.sheet_names:
        raise TidemarkError(
            f"{file.name} has no sheet {name!r}.", "Put workbooks with other sheets into another folder."
        )
    cells = list(workbook.get_sheet_by_name(name).iter_rows())
    used = sorted({at for row in cells for at, value in enumerate(row) if value != ""})
    columns = used if has_names else list(range(max(used, default=-1) + 1))
    times = {at for row in cells for at, value in enumerate(row) if isinstance(value, datetime)}
    rows = [
        [text_of(row[at], is_time=at in times) if at < len(row) else "" for at in columns] for row in cells
    ]
    return [Record(number, ",".join(row), row) for number, row in enumerate(rows) if any(row)]


def _rows(records: Sequence[Record], layout: Layout, names: Sequence[str]) -> list[dict[str, str]]:
    body = records[layout.start : len(records) - layout.footer]
    return [dict(zip(names, record.fields or (), strict=False)) for record in body]


def _all_rows(files: Sequence[Path], sheet: str | None, layout: Layout, names: Sequence[str]) -> Rows:
    for file in files:
        rows = _rows(_records(file, sheet, has_names=layout.names is not None), layout, names)
        yield from ({name: (row.get(name) or "").strip() or None for name in names} for row in rows)
