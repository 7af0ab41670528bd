"""The first line of a CSV file, parsed into columns."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Header:
    """What the header of a file contains.

    Attributes:
        names: its columns, in the file's order.
        encoding: the encoding, as Python names it.
        line: the header's text, if no other line equals it; then lines can be read as plain text.
    """

    names: tuple[str, ...]
    encoding: str
    line: str | None = None

    @property
    def charset(self) -> str:
        """The encoding as Java names it."""
        return re.sub(r"^(utf-\d\d)-", r"\1", self.encoding)

    @property
    def is_wide(self) -> bool:
        """True if a line break takes more than one byte, so that Spark cannot split the file into lines."""
        return "\n".encode(self.encoding) != b"\n"


def header_of(layout: Hashable) -> Header:
    assert isinstance(layout, Header)  # noqa: S101  # `layout` returns only headers
    return layout


def numbered(names: Sequence[str]) -> list[str]:
    return [f"c{position}" for position in range(len(names))]
