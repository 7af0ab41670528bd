"""What a user of `tidemark add` says about the files."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tidemark.base.errors import TidemarkError
from tidemark.scaffold.reading.encodings import known_encoding

ESCAPES = {r"\t": "\t", "tab": "\t", r"\x01": "\x01", "^A": "\x01", "space": " "}


@dataclass(frozen=True)
class Choices:
    """The user's answers; None means that `add` finds out.

    Attributes:
        encoding: the encoding of text files, as Python and Java know it.
        delimiter: the character between the fields of a CSV record.
        header: whether the first record of a CSV file has the names of the columns.
        columns: the names of the columns of files without a header.
        skip_lines: the number of lines before the header.
        footer: the number of lines after the last record.
        comment: the character that begins a line that is not a record.
        sheet: the sheet of an Excel workbook.
    """

    encoding: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    columns: tuple[str, ...] = ()
    skip_lines: int | None = None
    footer: int | None = None
    comment: str | None = None
    sheet: str | None = None

    def checked(self) -> Choices:
        """Return the answers with names of signs replaced, and an encoding that Python and Java know.

        Raises:
            TidemarkError: when an encoding is unknown, a sign is not one character, or answers exclude each
                other.
        """
        if self.columns and self.header:
            raise TidemarkError(
                "`--columns` and `--header` exclude each other.",
                "Give `--columns` only for files without a header.",
            )
        if len({name.lower() for name in self.columns} - {""}) < len(self.columns):
            raise TidemarkError(
                "`--columns` has an empty name, or one name twice.", "Give a unique name for each column."
            )
        return replace(
            self,
            encoding=known_encoding(self.encoding) if self.encoding else None,
            delimiter=_character("--delimiter", self.delimiter),
            comment=_character("--comment", self.comment),
            header=False if self.columns else self.header,
        )


def names_in(text: str) -> tuple[str, ...]:
    """Return the names in a list that is separated by commas."""
    return tuple(name.strip() for name in text.split(",")) if text.strip() else ()


def _character(option: str, value: str | None) -> str | None:
    sign = ESCAPES.get(value, value) if value else None
    if sign is not None and (len(sign) > 1 or sign in '"\r\n'):
        raise TidemarkError(
            f"`{option}` is {value!r}, which is not one character.",
            "Give one character, or one of the names tab, space and ^A.",
        )
    return sign
