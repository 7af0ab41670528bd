"""The table `ops.erasures`: whose rows were erased, as keyed hashes, and what was done. No personal data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from python_ingest.ops.feed_table import FeedTable
from tidemark.base.errors import TidemarkError
from tidemark.lake.keyed_hash import KeyedHash
from tidemark.lake.table_format import table_exists

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ERASURE_KEY = "TIDEMARK_ERASURE_KEY"
REASON = "erased"  # of a rejected record
COLUMNS = """
    feed string comment 'Name of the feed',
    erasure_id string comment 'Id of the erasure: the same key of a person has the same id',
    state string comment 'started: its rows no longer land; finished: all steps are done',
    key_columns array<string> comment 'The columns of the key',
    value_hashes array<string> comment 'HMAC-SHA256 of the value of each column, with TIDEMARK_ERASURE_KEY',
    secret_check string comment 'HMAC-SHA256 of a fixed text, to recognize another secret',
    bronze_version bigint comment 'The version of bronze before the first step',
    counts array<struct<table: string, rows: bigint>> comment 'Rows erased in each table',
    hits bigint comment 'Places in which the proof found the person; null until finished',
    files_searched bigint comment 'Files that the proof searched',
    recorded_at timestamp comment 'When it was recorded'
"""
State = Literal["started", "finished"]


@dataclass(frozen=True)
class Erased:
    """A person whose rows must not land again.

    Attributes:
        erasure_id: the id.
        columns: the columns of the key.
        hashes: the hash of each column's value.
        bronze_version: the version of bronze before the first step.
        is_finished: whether an erasure of this person ran to its end.
    """

    erasure_id: str
    columns: tuple[str, ...]
    hashes: tuple[str, ...]
    bronze_version: int
    is_finished: bool


@dataclass(frozen=True)
class Result:
    """What an erasure did.

    Attributes:
        counts: the erased rows of each table.
        hits: the number of places in which the proof found the person.
        files: the number of files that it searched.
    """

    counts: Mapping[str, int]
    hits: int
    files: int


def tombstone(erasure_id: str) -> str:
    """Return what an erased row has instead of a record that could not be read."""
    return f"{REASON}: {erasure_id}"


class Erasures(FeedTable):
    """The erasures in one feed.

    Args:
        spark: the session.
        schema: the schema of the state tables.
        feed: the feed's name.
    """

    def __init__(self, spark: SparkSession, schema: str, feed: str) -> None:
        super().__init__(spark, schema, feed, "erasures", COLUMNS)
        self._hash: KeyedHash | None = None

    @property
    def hash(self) -> KeyedHash:
        """Hashes with the secret of the environment.

        Raises:
            TidemarkError: if it is not set.
        """
        if self._hash is None:
            use = f"Feed '{self._feed}' with its erased persons"
            self._hash = KeyedHash(ERASURE_KEY, use)
        return self._hash

    def message(self, column: str, value: str) -> str:
        """Return the text that is hashed for a value of a column."""
        return f"{self.message_prefix(column)}{value}"

    def message_prefix(self, column: str) -> str:
        return f"{self._feed}\x1f{column}\x1f"

    def erased(self) -> list[Erased]:
        """Return the persons; without the table, this is one question to the catalog.

        Raises:
            TidemarkError: if the secret is not that of the earlier erasures.
        """
        if not table_exists(self._spark, self._table):
            return []
        columns = ("erasure_id", "key_columns", "value_hashes", "bronze_version", "state", "secret_check")
        rows = self._rows().select(*columns).orderBy("recorded_at").collect()
        if any(row["secret_check"] != self._secret_check for row in rows):
            raise TidemarkError(
                f"{ERASURE_KEY} is not the secret with which rows of feed '{self._feed}' were erased.",
                f"Set {ERASURE_KEY} to the earlier secret. With another one, erased rows would land again.",
            )
        finished = {row["erasure_id"] for row in rows if row["state"] == "finished"}
        found: dict[str, Erased] = {}
        for row in rows:
            key = (tuple(row["key_columns"]), tuple(row["value_hashes"]), row["bronze_version"])
            if row["state"] == "started":  # the newest: a finished erasure may have been started again
                found[row["erasure_id"]] = Erased(row["erasure_id"], *key, row["erasure_id"] in finished)
        return list(found.values())

    def record(self, erased: Erased, state: State, at: datetime, result: Result | None = None) -> None:
        """Add a record of an erasure.

        Args:
            erased: the person.
            state: what is recorded.
            at: the time, UTC.
            result: what was done, once it is finished.
        """
        self._create()
        counts: list[Any] = [
            {"table": name, "rows": n} for name, n in (result.counts if result else {}).items()
        ]
        found = (result.hits, result.files) if result else (None, None)
        key = (list(erased.columns), list(erased.hashes), self._secret_check, erased.bronze_version)
        self._add([(erased.erasure_id, state, *key, counts, *found, at)])

    @property
    def _secret_check(self) -> str:
        return self.hash.of("tidemark erasures")
