"""What a check finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Level(IntEnum):
    """How serious something is."""

    SKIPPED = 0
    OK = 1
    NOTE = 2
    WARNING = 3
    ERROR = 4

    @property
    def word(self) -> str:
        return "–" if self is Level.SKIPPED else self.name.lower()


@dataclass(frozen=True)
class Finding:
    """Something that should change.

    Attributes:
        level: an error if a command fails or gives wrong tables with it; a warning if it may; else a note.
        message: what is wrong and where, in sentences.
        fix: what to do about it, in sentences.
    """

    level: Level
    message: str
    fix: str


@dataclass(frozen=True)
class Checked:
    """The result of a check.

    Attributes:
        message: what was looked at, in a few words.
        findings: what was found.
        is_skipped: True if there was nothing to look at.
    """

    message: str
    findings: tuple[Finding, ...] = ()
    is_skipped: bool = False

    @property
    def worst_first(self) -> list[Finding]:
        return sorted(self.findings, key=lambda finding: -finding.level)

    @property
    def level(self) -> Level:
        worst = max((finding.level for finding in self.findings), default=Level.OK)
        return Level.SKIPPED if self.is_skipped and not self.findings else worst


def error(message: str, fix: str) -> Finding:
    """Return a finding with which a command fails."""
    return Finding(Level.ERROR, message, fix)


def warning(message: str, fix: str) -> Finding:
    """Return a finding with which a command may fail."""
    return Finding(Level.WARNING, message, fix)


def note(message: str, fix: str) -> Finding:
    """Return a finding that needs no action."""
    return Finding(Level.NOTE, message, fix)


def skipped(message: str) -> Checked:
    """Return the result of a check that had nothing to look at."""
    return Checked(message, is_skipped=True)
