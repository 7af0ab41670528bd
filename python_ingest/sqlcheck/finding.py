"""What is found, and what is known of the tables that a model reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """What the rules know of a table that a model reads.

    Attributes:
        grain: the columns that tell its rows apart; LANDING_ORDER for a feed's; empty if it is not known.
        only_grows: whether no row of it is ever changed or deleted.
    """

    grain: tuple[str, ...] = ()
    only_grows: bool = False


Tables = Mapping[str, Table]


@dataclass(frozen=True)
class Finding:
    """SQL that cannot give what a rebuild gives.

    Attributes:
        rule: the rule's name.
        line: in the model's file.
        said: what is wrong.
        fix: what to do instead.
    """

    rule: str
    line: int
    said: str
    fix: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.said} {self.fix} ({self.rule})"
