"""Convert a sheet of an Excel workbook to CSV: `.xlsx`, `.xlsm`, `.xlsb`, `.xls` and `.ods`."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
    load_workbook,
)

from python_ingest.feeds.external_excel import ExcelOptions
from python_ingest.files.archives import FAULTS, Budget
from tidemark.base.errors import PackedError

EXACT_INTEGER = 2**53  # a float holds every integer up to it
TO_QUOTE = re.compile(r'[",\r\n]')
OLE = b"\xd0\xcf\x11\xe0"  # the beginning of an .xls file, and of an encrypted .xlsx file
Row = list[Any]


def convert(source: Path, target: Path, options: ExcelOptions, budget: Budget, width: int = 0) -> None:
    """Write a sheet as CSV in UTF-8, with commas and double quotes.

    Rows and columns without any value are left out; so are the first and last rows that the options name.
    A line break in a header becomes a blank.

    Args:
        source: the workbook.
        target: the CSV file.
        options: the options of the feed.
        budget: how many bytes the workbook may unpack to.
        width: number of declared columns: without a header, each row has at least so many.

    Raises:
        PackedError: why it cannot be read.
    """
    _check_size(source, budget)
    try:
        with source.open("rb") as file:
            _write(_sheet(load_workbook(file), options.sheet), target, options, width)
    except PasswordError as error:
        raise PackedError("it is encrypted: save it without a password") from error
    except CalamineError as error:
        raise PackedError(_reason(source, error)) from error


def sheet_rows(sheet: CalamineSheet, options: ExcelOptions) -> Iterator[Row]:
    """Yield the rows of a sheet that hold a value, as calamine reads them, without skipped ones."""
    rows = (row for number, row in enumerate(sheet.iter_rows()) if number >= options.skip_lines)
    waiting: list[Row] = []
    for row in rows:
        if any(value != "" for value in row):
            waiting.append(row)
            if len(waiting) > options.footer:
                yield waiting.pop(0)


def text_of(value: Any, *, is_time: bool = False) -> str:
    """Return a cell as text: ISO dates and times, numbers in full, `true` and `false`.

    Args:
        value: as calamine reads it; an empty cell and an error such as `#N/A` are empty text.
        is_time: whether to write a date as a time, because other cells of its column are times.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        is_whole = value.is_integer() and abs(value) <= EXACT_INTEGER
        return str(int(value)) if is_whole else format(Decimal(repr(value)), "f")
    if isinstance(value, timedelta):
        minutes, seconds = divmod(value.total_seconds(), 60)
        hours, minutes = divmod(int(minutes), 60)
        return f"{hours:02}:{minutes:02}:{int(seconds):02}"
    if isinstance(value, date) and not isinstance(value, datetime) and is_time:
        return datetime.combine(value, time()).isoformat()
    return value.isoformat() if isinstance(value, (date, time)) else str(value)


def _write(sheet: CalamineSheet, target: Path, options: ExcelOptions, width: int) -> None:
    used: set[int] = set()
    times: set[int] = set()
    for row in sheet_rows(sheet, options):
        used |= {position for position, value in enumerate(row) if value != ""}
        times |= {position for position, value in enumerate(row) if isinstance(value, datetime)}
    if not options.header:  # the columns have names by position
        used = set(range(max(width, max(used, default=-1) + 1)))
    with target.open("w", encoding="utf-8", newline="") as file:
        for number, row in enumerate(sheet_rows(sheet, options)):
            cells = [*row, *[""] * (width - len(row))]
            texts = [text_of(cells[position], is_time=position in times) for position in sorted(used)]
            if options.header and not number:
                texts = [" ".join(text.split()) for text in texts]
            file.write(",".join(map(_field, texts)) + "\n")


def _field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if TO_QUOTE.search(text) else text


def _sheet(workbook: CalamineWorkbook, name: str | None) -> CalamineSheet:
    names = workbook.sheet_names
    if name is not None:
        if name not in names:
            raise PackedError(f"it has no sheet '{name}' (option `sheet`); its sheets: {_listed(names)}")
        return workbook.get_sheet_by_name(name)
    shown = [
        sheet.name
        for sheet in workbook.sheets_metadata
        if sheet.typ == SheetTypeEnum.WorkSheet and sheet.visible == SheetVisibleEnum.Visible
    ]
    sheets = [workbook.get_sheet_by_name(one) for one in shown]
    filled = [sheet for sheet in sheets if sheet.height]
    if len(filled) > 1:
        raise PackedError(f"it has several sheets: set the option `sheet` to one of {_listed(shown)}")
    if not filled:
        raise PackedError("all its sheets are empty")
    return filled[0]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _check_size(source: Path, budget: Budget) -> None:
    """Refuse a workbook that unpacks to too many bytes; all kinds but .xls are zip archives."""
    if zipfile.is_zipfile(source):
        with suppress(*FAULTS), zipfile.ZipFile(source) as archive:  # calamine reports them
            budget.spend(sum(info.file_size for info in archive.infolist()))


def _reason(source: Path, error: CalamineError) -> str:
    with source.open("rb") as file:
        head = file.read(4)
    if head == OLE or head.startswith(b"PK"):
        return f"it is damaged or encrypted: save it again, without a password ({error})"
    return "it is not an Excel workbook: if it is text, set `file_format: csv`"
