"""The result of comparing a table, or a part of it, with its rebuild."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from tidemark.base.output import count_of
from tidemark.engine.verify.sides import Columns


class Part(Protocol):
    """A part of a table's rows, which is the same part of its rebuild's."""

    @property
    def words(self) -> str:
        """What it is, as in `148 rows in 50 of 100 slices`."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """The same for `--log-format json`."""

    def condition(self, columns: Columns, key: Sequence[str]) -> str:
        """Return SQL for its rows, over `Columns.values`.

        Args:
            columns: the columns of both sides.
            key: the columns of the model's `unique_key`.
        """


@dataclass(frozen=True)
class Difference:
    """A row that only one side has.

    Attributes:
        side: `table` for a row that a rebuild would not have, `rebuild` for one that the table lacks.
        row: the row's values by column.
        copies: how many more copies of it that side has.
    """

    side: str
    row: dict[str, Any]
    copies: int


@dataclass
class Verdict:
    """The comparison of one table.

    Attributes:
        table: `schema.name`.
        rows: rows in the table.
        differing: number of distinct rows whose count differs between the two sides.
        shown: the first of them.
        kept: rows of a table that accumulates, which the query no longer gives.
        unproven: why the table could not be compared, or None.
        seconds: run time of the comparison.
        rounded: number of rows that differ only by rounding, in sums of floating-point numbers.
        rounded_columns: the columns in which they differ.
        ordered_by_chance: functions that its query calls, whose result depends on the order of rows.
        is_outdated: whether a rebuild would give the table other columns.
        part: the part that was compared; None for all rows.
        why_all: why all rows were compared, if only a part was asked for; else empty.
    """

    table: str
    rows: int = 0
    differing: int = 0
    shown: list[Difference] = field(default_factory=list)
    kept: int = 0
    unproven: str | None = None
    seconds: float = 0.0
    rounded: int = 0
    rounded_columns: tuple[str, ...] = ()
    ordered_by_chance: tuple[str, ...] = ()
    is_outdated: bool = False
    part: Part | None = None
    why_all: str = ""

    @property
    def holds(self) -> bool:
        return self.differing == 0 and self.unproven is None

    @property
    def message(self) -> str:
        """The result in words."""
        if self.unproven:
            return self.unproven
        kept = f", {self.kept:,} kept that its query no longer gives" if self.kept else ""
        differs = "1 row differs" if self.differing == 1 else f"{self.differing:,} rows differ"
        part = f" {self.part.words}" if self.part else ""
        whole = f" ({self.why_all})" if self.why_all else ""
        message = f"{count_of(self.rows, 'row')}{part}, {differs}{kept}{whole}"
        if not self.rounded:
            return message
        differ = "differs" if self.rounded == 1 else "differ"
        only = f"{count_of(self.rounded, 'row')} {differ} only in the last digits of sums of floating-point"
        return f"{message} ({only} numbers: {', '.join(self.rounded_columns)})"

    @property
    def facts(self) -> dict[str, Any]:
        """The result for `--log-format json`."""
        rounded = {"rounded": self.rounded, "rounded_columns": self.rounded_columns} if self.rounded else {}
        part = {"rows": self.rows, **self.part.facts} if self.part else {}
        return {"differing": self.differing, **rounded, **part}


@contextmanager
def timed(verdict: Verdict) -> Iterator[Verdict]:
    """Measure the run time of a comparison."""
    started = time.monotonic()
    yield verdict
    verdict.seconds = time.monotonic() - started
