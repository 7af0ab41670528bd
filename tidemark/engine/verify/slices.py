"""Parts of tables for proofs that do not compare all rows: a row's slice follows from the hash of its key.

Slices are proved in turns, the one with the oldest proof first, so that in time each row is proved. As a hash
chooses the rows, a slice is a random sample: after n rows without a difference, the share of rows that differ
is below 3 / n with a probability of 95 % (the rule of three: Hanley and Lippman-Hand, JAMA 249, 1983).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.base.errors import TidemarkError
from tidemark.engine.verify.sides import Columns

SLICES = 100
SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%")
TIME = re.compile(r"(\d+)\s*([smh]?)")
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True)
class Slice:
    """A part of a table: `number` is from 0 to SLICES - 1."""

    table: str
    number: int


@dataclass(frozen=True)
class Proved:
    """The newest comparison of a slice.

    Attributes:
        at: when it began, in microseconds since 1970.
        rows: how many rows a slice had then, on average over those that were compared with it.
        differs: whether rows of these slices differed.
    """

    at: int
    rows: float = 0.0
    differs: bool = False


@dataclass(frozen=True)
class Slices:
    """Some slices of a table, as the `Part` of it that is compared."""

    numbers: Sequence[int]

    @property
    def words(self) -> str:
        return f"in {len(self.numbers)} of {SLICES} slices"

    @property
    def facts(self) -> dict[str, Any]:
        return {"slices": list(self.numbers)}

    def condition(self, columns: Columns, key: Sequence[str]) -> str:
        """Return SQL for their rows, by the hash of the key's values in a comparable form."""
        chosen = ", ".join(map(str, sorted(self.numbers)))
        return f"pmod(xxhash64({', '.join(columns.keys_of(key))}), {SLICES}) in ({chosen})"


def share_of(text: str) -> int:
    """Return how many slices of each table a share such as `5%` means, at least one.

    Raises:
        TidemarkError: if the text is no share of more than 0 and at most 100 %.
    """
    found = SHARE.fullmatch(text.strip())
    if not found or not 0 < float(found[1]) <= SLICES:
        raise TidemarkError(f"--sample {text} is no share of a table.", "Write a percentage, such as 5%.")
    return math.ceil(float(found[1]) * SLICES / 100)


def seconds_of(text: str) -> int:
    """Return the seconds of a time such as `60s`, `10m` or `1h`.

    Raises:
        TidemarkError: if the text is no time above 0.
    """
    found = TIME.fullmatch(text.strip())
    if not found or not int(found[1]):
        raise TidemarkError(f"--budget {text} is no time.", "Write seconds, minutes or hours: 60s, 10m, 1h.")
    return int(found[1]) * SECONDS[found[2]]


def oldest_first(table: str, proved: Mapping[Slice, Proved]) -> list[int]:
    """Return the numbers of a table's slices: never proved, then those with the oldest proof.

    Args:
        table: `schema.name`.
        proved: the newest comparison of each slice.
    """
    return sorted(range(SLICES), key=lambda number: (_time(proved, Slice(table, number)), number))


def turns(tables: Sequence[str], proved: Mapping[Slice, Proved]) -> list[str]:
    """Return tables in the order in which a budget is spent: the one with the oldest slice first.

    Args:
        tables: in the order of a run.
        proved: as in `oldest_first`.
    """
    oldest = {one: min(_time(proved, Slice(one, number)) for number in range(SLICES)) for one in tables}
    return sorted(tables, key=lambda one: oldest[one])


def _time(proved: Mapping[Slice, Proved], one: Slice) -> int:
    """Return when a slice was last compared, in microseconds since 1970; 0 for never."""
    return proved[one].at if one in proved else 0


def ruled_out(rows: int) -> str:
    """Return in words which share of wrong rows a sample without a difference rules out; empty for none."""
    if rows < 3:  # the rule of three
        return ""
    return f"with 95 % probability, fewer than 1 row in {rows // 3:,} differs"
