"""The table that a run writes, the rows that it brings, and what the run does with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemark.engine.writing.sql_parts import escaped
from tidemark.engine.writing.values import Values

CHANGING = "__tidemark_outcome in ('inserted', 'updated', 'deleted')"


class Refused(Exception):
    """A run that must not write; the message says why, and what to do."""


@dataclass(frozen=True)
class Target:
    """The table to be written.

    Attributes:
        name: the model's name, for messages.
        relation: the table in statements.
        types: the types of the columns by name.
        keys: the columns of the key; empty if rows may repeat.
        present: what reads the table at its current version; empty if there is no table yet.
        assertions: conditions (SQL) that each written row must meet beyond what the format checks, with the
            message for a row that does not.
        partitions: the columns of `partition_by`.
        prune_by, prune_expression: the setting `meta.prune_by`: its column, and the expression that computes
            the column from the key; each may be empty.
        overwrites: whether the model replaces partitions as a whole (`insert_overwrite`).
        keeps_rows: whether rows stay that the query no longer returns.
        is_embedded: whether no other process writes here.
        apart: a column of the key. Rows with different values of it belong to independent tables, which one
            statement writes: the histories of `tidemark prove`. Empty in a run.
    """

    name: str
    relation: str
    types: Mapping[str, str]
    keys: tuple[str, ...]
    present: str = ""
    assertions: Mapping[str, str] = field(default_factory=dict)
    partitions: tuple[str, ...] = ()
    prune_by: str = ""
    prune_expression: str = ""
    overwrites: bool = False
    keeps_rows: bool = False
    is_embedded: bool = True
    apart: str = ""

    @property
    def values(self) -> dict[str, str]:
        """The types of the columns that are not in the key."""
        return {name: kind for name, kind in self.types.items() if name not in self.keys}

    def rows_hold(self, unless: str = "") -> str:
        """Return the condition that stops a statement at a row that the table must not hold; or nothing.

        Args:
            unless: a condition for rows that are not checked. Spark may compute the check before another
                condition that leaves these rows out.
        """
        checks = []
        for condition, message in self.assertions.items():
            holds = f"{unless} or ({condition})" if unless else f"({condition})"
            checks.append(f"assert_true({holds}, '{escaped(f'{self.name}: {message}')}') is null")
        return " and ".join(checks)


@dataclass(frozen=True)
class Batch:
    """The rows of one run.

    Attributes:
        sql: their query.
        flag: the column that flags keys or partitions to be deleted, or empty.
        flags_new: whether `__tidemark_is_new` tells rows whose key had no row before.
        newest_by: the columns that order the versions of a key.
        inserts_only: whether a present row is never changed.
        retracts: whether `_is_retracted` tells rows that replace the present row however old they are.
        counts_versions: whether `_versions` is the number of landed rows that a row stands for.
    """

    sql: str
    flag: str = ""
    flags_new: bool = False
    newest_by: tuple[str, ...] = ()
    inserts_only: bool = False
    retracts: bool = False
    counts_versions: bool = False

    @property
    def stays(self) -> str:
        """The condition on rows that are not flagged."""
        return f"not {self.flag}" if self.flag else "true"


@dataclass(frozen=True)
class Audit:
    """What an audit reads before the statement runs.

    Attributes:
        gained: the rows that the table gains.
        whole: the table as it will be.
        batch: what is kept for a failed audit.
    """

    gained: str
    whole: str
    batch: str


@dataclass(frozen=True)
class Change:
    """What a run does with a table.

    Attributes:
        counts: the number of rows by outcome; empty if only the commit tells it.
        statement: the statement to be committed; empty if nothing differs.
        audit: what an audit reads.
        views: the cached views to be dropped after the statement, by their names within the model.
        pruned: the values of the column by which the statement skips files; None if it reads all.
        once_a_key: whether the written rows have been found to have one row of each key.
    """

    counts: Mapping[str, int | None] = field(default_factory=dict)
    statement: str = ""
    audit: Audit | None = None
    views: tuple[str, ...] = ()
    pruned: Values | None = None
    once_a_key: bool = False

    def written(self, commit: Any = None) -> dict[str, Any]:
        """Return what the run reports.

        Args:
            commit: the commit of the statement, with its `rows` and `deleted` rows; None if there was none.
        """
        if commit is None:
            return dict(self.counts)
        counts = self.counts or {"inserted": commit.rows, "deleted": commit.deleted}
        return {**counts, "commit": commit, **({"once_a_key": True} if self.once_a_key else {})}
