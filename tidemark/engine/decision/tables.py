"""What a run knows of a table: its newest version, and the commits before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidemark.engine.checkpoints.rows import Checkpoint
from tidemark.engine.decision.commits import Commit

DELTA, ICEBERG = "delta", "iceberg"


@dataclass
class TableState:
    """A table as it was when it was read last in this command.

    Attributes:
        id: another table of the same name has another id; None for a table that does not exist.
        version: the newest version; 0 for an Iceberg table that was never written.
        format: `delta` or `iceberg`.
        properties: its table properties.
        files, bytes: number and size of its files.
        commits: the newest commits, newest first: of Iceberg all, of Delta as many as were needed.
    """

    id: str | None
    version: int
    format: str = DELTA
    properties: Mapping[str, Any] = field(default_factory=dict)
    files: int = 0
    bytes: int = 0
    commits: Sequence[Commit] = ()

    def age(self, version: int) -> int | None:
        """Return the number of commits after a version; None if the table's history does not have it.

        Of Delta, a version that the log no longer has counts: `since` then returns fewer commits.
        """
        if self.format == DELTA:
            return self.version - version if version <= self.version else None
        known = [commit.version for commit in self.commits]
        if version in known:
            return known.index(version)
        return len(known) if version == 0 and self.goes_back_to_the_start(self.commits) else None

    def has(self, checkpoint: Checkpoint) -> bool:
        """Return whether it is the table that a checkpoint names, and still has the version that was read."""
        is_same = checkpoint.source_id == self.id and checkpoint.version is not None
        return is_same and self.age(checkpoint.version or 0) is not None

    def since(self, version: int) -> Sequence[Commit]:
        """Return the commits after a version, newest first; all that are known if the version is not."""
        age = self.age(version)
        return self.commits if age is None else self.commits[:age]

    def between(self, after: int, last: int) -> Sequence[Commit]:
        """Return the commits after one version up to another, newest first."""
        return self.since(after)[self.age(last) :]

    def goes_back_to_the_start(self, commits: Sequence[Commit]) -> bool:
        """Return whether commits, newest first, go back to the table's first one."""
        if self.format == DELTA:
            return bool(commits) and commits[-1].version == 0
        return not commits or commits[-1].parent == 0

    def version_range(self, after: int, last: int) -> str:
        """Return `versions 12..15` if version numbers are consecutive, else `versions after 56 up to 57`."""
        if self.format == DELTA:
            return f"versions {after + 1}..{last}"
        return f"versions after {after} up to {last}"

    def add(self, commit: Commit) -> bool:
        """Take in a commit of this command; return False if another writer came between."""
        if commit.parent != self.version:
            return False
        self.commits, self.version = [commit, *self.commits], commit.version
        return True
