"""The severity level of a part of the lake."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Level(IntEnum):
    """A level; the highest of all parts is the lake's."""

    OK = 0
    WARNING = 1
    ERROR = 2

    def __str__(self) -> str:
        return self.name.lower()


def highest(levels: Iterable[Level]) -> Level:
    """Return the highest level; OK for none."""
    return max(levels, default=Level.OK)
