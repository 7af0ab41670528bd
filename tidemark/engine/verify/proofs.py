"""The table `ops.proofs`: which slices of which tables were compared with a rebuild, and what differed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tidemark.engine.verify.slices import SLICES, Slice
from tidemark.lake.table_format import table_exists, table_format

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RECENT = timedelta(days=7)
COLUMNS = """
    model string comment 'The table, as schema.name',
    slices array<int> comment 'The compared slices of a hundred, by the hash of the key',
    proved_at timestamp comment 'When the comparison began',
    compared bigint comment 'Rows of the table in these slices',
    differing bigint comment 'Rows that differ from the rebuild',
    seconds double comment 'Run time of the comparison'
"""


@dataclass(frozen=True)
class Proof:
    """A comparison of some slices of a table.

    Attributes:
        table: `schema.name`.
        numbers: the slices.
        at: when it began.
        rows: rows of the table in these slices.
        differing: rows that differ.
        seconds: its run time.
    """

    table: str
    numbers: Sequence[int]
    at: datetime
    rows: int
    differing: int
    seconds: float


class Proofs:
    """The recorded proofs.

    Args:
        spark: the session.
        ops_schema: the schema of the state tables.
    """

    def __init__(self, spark: SparkSession, ops_schema: str) -> None:
        self._spark, self._table = spark, f"{ops_schema}.proofs"

    def newest(self) -> dict[Slice, int]:
        """Return when each slice was last compared, in microseconds since 1970."""
        if not table_exists(self._spark, self._table):
            return {}
        found = self._spark.sql(
            "select model, slice, max(unix_micros(proved_at)) as at from ("
            f"select model, explode(slices) as slice, proved_at from {self._table}) group by model, slice"
        )
        return {Slice(row["model"], row["slice"]): row["at"] for row in found.collect()}

    def add(self, proof: Proof) -> None:
        """Record a comparison, in one commit."""
        self._spark.sql(
            f"create table if not exists {self._table} ({COLUMNS}) using {table_format(self._spark)}"
        )
        numbers = ", ".join(map(str, proof.numbers))
        at = proof.at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        self._spark.sql(
            f"insert into {self._table} values ('{proof.table}', array({numbers}), "
            f"timestamp '{at}Z', {proof.rows}, {proof.differing}, {proof.seconds:.3f}D)"
        )


def recent(table: str, proved: Mapping[Slice, int], now: datetime) -> int:
    """Return how many slices of a table were compared within RECENT.

    Args:
        table: `schema.name`.
        proved: when slices were last compared, in microseconds since 1970.
        now: the present time.
    """
    first = (now - RECENT).timestamp() * 1_000_000
    return sum(proved.get(Slice(table, number), 0) >= first for number in range(SLICES))
