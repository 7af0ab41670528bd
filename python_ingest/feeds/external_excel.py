"""The options of a feed of Excel workbooks."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from python_ingest.feeds.strict import Strict


class ExcelOptions(Strict):
    """What of an Excel workbook lands.

    Attributes:
        sheet: the name of the sheet; None for the only one that holds something.
        header: False if the first row is a record; then the declared columns are in the sheet's order.
        skip_lines: number of rows above the header, or above the first record.
        footer: number of last rows that are not records.
        null_value: the text, or the texts, that stand for NULL.
    """

    sheet: str | None = None
    header: bool = True
    skip_lines: int = Field(default=0, ge=0)
    footer: int = Field(default=0, ge=0)
    null_value: tuple[str, ...] = ("",)

    @field_validator("null_value", mode="before")
    @classmethod
    def _as_tuple(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value
