"""Findings, and the facts about the tables that a model reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A table that a model reads, as the rules know it.

    Attributes:
        grain: the columns that identify a row; LANDING_ORDER for a feed; empty if unknown.
        texts: the columns that are declared as text.
        keys: other sets of columns that identify a row.
    """

    grain: tuple[str, ...] = ()
    texts: frozenset[str] = frozenset()
    keys: tuple[tuple[str, ...], ...] = ()


Tables = Mapping[str, Table]


@dataclass(frozen=True)
class Finding:
    """SQL whose result cannot equal a rebuild.

    Attributes:
        rule: the rule's name.
        line: the line in the model's file.
        message: the problem.
        fix: what to do instead.
    """

    rule: str
    line: int
    message: str
    fix: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message} {self.fix} ({self.rule})"
