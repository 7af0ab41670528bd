"""Errors that a user can act on."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class TidemarkError(Exception):
    """Base class of all expected errors: what happened, where, and what to do.

    Args:
        what: what happened and where, one sentence.
        fix: what to do about it, one sentence.

    Attributes:
        exit_code: the exit code of the command.
    """

    exit_code = 1

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(f"{what}\n  → {fix}")
        self.what = what
        self.fix = fix


class DeclarationError(TidemarkError):
    """The declaration of a feed is wrong; the message names the file, the feed and the key."""

    def __init__(self, file: str, feed: str, key: str, problem: str, fix: str) -> None:
        super().__init__(f"{file}: feed '{feed}': {key}: {problem}", fix)
        self.file = file
        self.feed = feed
        self.key = key


class LakeBusyError(TidemarkError):
    """Another process holds the lake."""


class LandingError(TidemarkError):
    """A feed cannot be landed."""


class PackedError(Exception):
    """Why a file cannot be unpacked or converted: the end of a sentence about it."""


class SparkLostError(LandingError):
    """Spark's JVM has ended, so this process cannot continue."""


class DbtError(TidemarkError):
    """A dbt command failed."""


class VerificationError(TidemarkError):
    """A table differs from its rebuild."""


class UnprovenError(TidemarkError):
    """No table differs from its rebuild, but some tables cannot be compared."""

    exit_code = 3


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question that begins a fix, such as `Did you mean 'orders'? `; empty if no name is similar.

    Args:
        name: the name that is not known, perhaps mistyped.
        known: the names that are.
    """
    similar = " or ".join(f"'{one}'" for one in get_close_matches(name, known, n=2))
    return f"Did you mean {similar}? " if similar else ""
