"""What was read from sample files, before types are proposed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Rows = Iterator[dict[str, Any]]
Note = tuple[str, str]


@dataclass(frozen=True)
class Reading:
    """Records of sample files.

    Attributes:
        names: the fields, in the files' order.
        options: the options of the feed's block that differ from the defaults.
        records: the first records, values by field; text without surrounding blanks, None if it is empty.
        more: returns the records of all files; None if `records` are all.
        notes: what was assumed: pairs of an event and a sentence.
        padded: fields where some value has surrounding blanks.
    """

    names: list[str]
    options: dict[str, Any]
    records: list[dict[str, Any]]
    more: Callable[[], Rows] | None = None
    notes: list[Note] = field(default_factory=list)
    padded: frozenset[str] = frozenset()
