"""Repeatable random draws: the same seed gives the same sequence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import TypeVar

T = TypeVar("T")

_SECOND = timedelta(seconds=1)


class Rng:
    """Draws that use only `random()`, the one method whose sequence Python promises not to change."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random

    def below(self, limit: int) -> int:
        """Return a number from 0 to `limit - 1`."""
        return int(self._random() * limit)

    def one_of(self, options: Sequence[T]) -> T:
        """Return one of the options; all are equally likely."""
        return options[self.below(len(options))]

    def name(self, weights: Mapping[str, int], other_than: str = "") -> str:
        """Return one of the names; a higher weight makes a name more likely."""
        names = [name for name in weights if name != other_than for _ in range(weights[name])]
        return names[self.below(len(names))]

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """Return up to `count` different options in random order (Fisher-Yates)."""
        rest = list(options)
        for place in range(min(count, len(rest))):
            other = place + self.below(len(rest) - place)
            rest[place], rest[other] = rest[other], rest[place]
        return rest[:count]

    def moment(self, first: datetime, last: datetime) -> datetime:
        """Return a time from `first` to `last`, whole seconds after `first`."""
        return first + self.below((last - first) // _SECOND + 1) * _SECOND
