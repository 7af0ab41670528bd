"""The versions of one table: what the commits after a version did, and setting the table back to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Versions(ABC):
    """The versions of one table, as of the first access.

    Args:
        spark: a session with a JVM.
        table: `schema.name`, a table that exists.
    """

    def __init__(self, spark: SparkSession, table: str) -> None:
        self._spark, self._table = spark, table

    @property
    @abstractmethod
    def present(self) -> int:
        """The present version."""

    @abstractmethod
    def identity_at(self, version: int) -> str:
        """Return the id that the engine's macros see at a version."""

    @abstractmethod
    def precedes(self, version: int, other: int) -> bool:
        """Return whether a version is another one, or came before it."""

    @abstractmethod
    def at(self, time: int) -> int | None:
        """Return the version at a time, in microseconds since 1970; None if the history has none."""

    @abstractmethod
    def why_expired(self, version: int) -> str | None:
        """Return why a version cannot be read any more, or None."""

    def why_lost(self, version: int) -> str | None:
        """Return why the table cannot be set back to a version, or None."""
        return self.why_expired(version)

    @abstractmethod
    def restore(self, version: int, undo: str) -> int:
        """Set the table back to a version; return the version that it then has.

        Args:
            version: the version.
            undo: the id of this undo.
        """

    @abstractmethod
    def drop(self) -> None:
        """Drop the table."""

    @abstractmethod
    def _line(self) -> Iterator[tuple[int, bool]]:
        """Yield the versions, newest first, and whether the commit of each has changed no row."""

    @abstractmethod
    def _is_restored(self, at: int, version: int) -> bool:
        """Return whether `at` is a version at which an undo set the table back to `version`."""

    def same_rows(self, version: int, other: int) -> bool:
        """Return whether no commit after a version, up to a later one, has changed rows."""
        is_within = version == other
        if is_within:
            return True
        for at, keeps_rows in self._line():
            is_within = is_within or at == other
            if at == version:
                return is_within
            if is_within and not keeps_rows:
                return False
        return False

    def is_back_at(self, version: int) -> bool:
        """Return whether the table has the rows of a version, because an undo has restored them."""
        for at, keeps_rows in self._line():
            if at == version or self._is_restored(at, version):
                return True
            if not keeps_rows:
                return False
        return False

    def has_unknown_commit(self, since: Collection[int | None], known: Mapping[int, int | None]) -> bool:
        """Return whether a commit that is of no recorded run has changed rows.

        Args:
            since: versions; commits after the newest of them count.
            known: the versions that recorded runs have left, each with the version before the run.
        """
        skipped_to: int | None = None
        is_known = False
        for at, keeps_rows in self._line():
            if at in since:
                return False
            if is_known and at != skipped_to:
                continue
            is_known = at in known
            if is_known:
                skipped_to = known[at]
            elif not keeps_rows and not self._is_of_undo(at):
                return True
        return False

    def _is_of_undo(self, at: int) -> bool:
        return False
