"""Errors that a user can act on."""

from __future__ import annotations


class TidemarkError(Exception):
    """Root of all expected failures: says what happened, where, and what to do.

    Args:
        what: what happened and where, one sentence.
        fix: what to do about it, one sentence.

    Attributes:
        exit_code: with which the command ends.
    """

    exit_code = 1

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(f"{what}\n  → {fix}")
        self.what = what
        self.fix = fix


class DeclarationError(TidemarkError):
    """A feed is declared wrongly; names the file, the feed and the key."""

    def __init__(self, file: str, feed: str, key: str, problem: str, fix: str) -> None:
        super().__init__(f"{file}: feed '{feed}': {key}: {problem}", fix)
        self.file = file
        self.feed = feed
        self.key = key


class LakeBusyError(TidemarkError):
    """Another process holds the lake."""


class LandingError(TidemarkError):
    """A feed cannot be landed."""


class SparkLostError(LandingError):
    """The JVM in which Spark runs has ended: this process can do nothing more."""


class DbtError(TidemarkError):
    """A dbt command failed."""


class VerificationError(TidemarkError):
    """A table is not what a rebuild would give."""


class UnprovenError(TidemarkError):
    """No table differs from its rebuild, but some cannot be compared with one."""

    exit_code = 3
