"""The table `ops.proofs`: which parts of which tables were compared with a rebuild, and what differed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tidemark.engine.verify.slices import SLICES, Proved, Slice
from tidemark.lake.table_format import table_exists, table_format

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RECENT = timedelta(days=7)
VERSIONS = {  # lakes of before have the table without them
    "version": "bigint comment 'The version of the table that was compared'",
    "read": "map<string, bigint> comment 'The versions of its sources that it was made from'",
    "query": "string comment 'SHA-256 of its query and of the ids of the tables'",
}
COLUMNS = f"""
    model string comment 'The table, as schema.name',
    slices array<int> comment 'The compared slices of a hundred, by the hash of the key; none: changed keys',
    proved_at timestamp comment 'When the comparison began',
    compared bigint comment 'Rows of the table in this part of it',
    differing bigint comment 'Rows that differ from the rebuild',
    seconds double comment 'Run time of the comparison',
    {", ".join(f"{name} {what}" for name, what in VERSIONS.items())}
"""


@dataclass(frozen=True)
class Base:
    """A state of a table in which every row was proved.

    Attributes:
        version: the version of the table.
        read: by `schema.name`, the versions of its sources.
        query: a fingerprint of its query and of the tables' ids.
    """

    version: int
    read: Mapping[str, int]
    query: str


@dataclass(frozen=True)
class Proof:
    """A comparison of a part of a table.

    Attributes:
        table: `schema.name`.
        numbers: the slices; empty for the keys that runs touched since the last proof.
        at: when it began.
        rows: rows of the table in this part.
        differing: rows that differ.
        seconds: its run time.
        state: the versions that were compared; None if they are not known.
    """

    table: str
    numbers: Sequence[int]
    at: datetime
    rows: int
    differing: int
    seconds: float
    state: Base | None = None


@dataclass(frozen=True)
class OfKeys:
    """When changed keys of a table were last compared, in microseconds since 1970; 0 for never.

    Attributes:
        clean: without a difference: then every row was proved, by this proof and those before it.
        wrong: with one.
    """

    clean: int = 0
    wrong: int = 0


class Proofs:
    """The recorded proofs.

    Args:
        spark: the session.
        ops_schema: the schema of the state tables.
    """

    def __init__(self, spark: SparkSession, ops_schema: str) -> None:
        self._spark, self._table = spark, f"{ops_schema}.proofs"

    def newest(self) -> dict[Slice, Proved]:
        """Return the newest comparison of each slice."""
        found = self._rows(
            "select model, slice, unix_micros(newest.proved_at) as at, newest.rows, newest.differs from ("
            "select model, slice, max_by(one, proved_at) as newest from ("
            "select model, proved_at, explode(slices) as slice, struct("
            f"proved_at, compared / size(slices) as rows, differing > 0 as differs) as one from {self._table}"
            ") group by model, slice)"
        )
        return {
            Slice(row["model"], row["slice"]): Proved(row["at"], row["rows"], row["differs"]) for row in found
        }

    def share(self, tables: Iterable[str], now: datetime) -> Share | None:
        """Return how much of some tables was proved within RECENT; None if no part of any table ever was."""
        proved = self.newest()
        return share_proved(sorted(tables), proved, now, self.of_keys()) if proved else None

    def of_keys(self) -> dict[str, OfKeys]:
        """Return when changed keys of each table were last compared."""
        found = self._rows(
            "select model, coalesce(max(at) filter (where differing = 0), 0) as clean, "
            "coalesce(max(at) filter (where differing > 0), 0) as wrong from "
            f"(select *, unix_micros(proved_at) as at from {self._table} where size(slices) = 0) "
            "group by model"
        )
        return {row["model"]: OfKeys(row["clean"], row["wrong"]) for row in found}

    def bases(self) -> dict[str, Base]:
        """Return the newest state of each table in which every row was proved, if there is one.

        All slices were compared at it or after it, or the changed keys since an earlier such state.
        """
        if not table_exists(self._spark, self._table) or set(VERSIONS) - set(
            self._spark.table(self._table).columns
        ):
            return {}
        found = self._spark.sql(
            "with proofs as (select *, struct(proved_at, version, map_entries(read) as read, query) as state "
            f"from {self._table}), "
            "newest as (select model, slice, max_by(struct(state, differing), proved_at) as one from "
            "(select *, explode(slices) as slice from proofs) group by model, slice), "
            "states as (select model, min(one.state) as state from newest group by model having "
            f"count(*) = {SLICES} and max(one.differing) = 0 and count(one.state.version) = {SLICES} "
            "and count(distinct one.state.query) = 1 "
            "union all select model, state from proofs "
            "where size(slices) = 0 and differing = 0 and version is not null) "
            "select model, max_by(state, state.proved_at) as state from states group by model"
        )
        states = {row["model"]: row["state"] for row in found.collect()}
        return {
            table: Base(state["version"], {one["key"]: one["value"] for one in state["read"]}, state["query"])
            for table, state in states.items()
        }

    def _rows(self, statement: str) -> list[Any]:
        """Return the rows of a query on the table; none if no proof was ever recorded."""
        return self._spark.sql(statement).collect() if table_exists(self._spark, self._table) else []

    def add(self, proof: Proof) -> None:
        """Record a comparison, in one commit."""
        self._create()
        numbers = ", ".join(map(str, proof.numbers))
        at = proof.at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        state = "null, null, null"
        if proof.state is not None:
            read = ", ".join(f"'{name}', {version}L" for name, version in proof.state.read.items())
            read = f"cast(map({read}) as map<string, bigint>)"
            state = f"{proof.state.version}, {read}, '{proof.state.query}'"
        self._spark.sql(
            f"insert into {self._table} "
            "(model, slices, proved_at, compared, differing, seconds, version, read, query) "
            f"values ('{proof.table}', cast(array({numbers}) as array<int>), timestamp '{at}Z', "
            f"{proof.rows}, {proof.differing}, {proof.seconds:.3f}D, {state})"
        )

    def _create(self) -> None:
        self._spark.sql(
            f"create table if not exists {self._table} ({COLUMNS}) using {table_format(self._spark)}"
        )
        present = self._spark.table(self._table).columns
        missing = [f"{name} {what}" for name, what in VERSIONS.items() if name not in present]
        if missing:
            self._spark.sql(f"alter table {self._table} add columns ({', '.join(missing)})")


@dataclass(frozen=True)
class Share:
    """How much of some tables was proved within RECENT.

    Attributes:
        slices: by table, how many of its slices were; those in which rows differed are not.
        rows: the rows of these slices.
        of_rows: the rows of the tables, as far as slices of them were ever compared.
        differing: the tables of which rows differed at the newest comparison.
    """

    slices: Mapping[str, int]
    rows: int = 0
    of_rows: int = 0
    differing: Sequence[str] = ()

    @property
    def percent(self) -> float:
        """The share of the rows, rounded down to a tenth of a percent."""
        return self.rows * 1000 // self.of_rows / 10 if self.of_rows else 0.0


def share_proved(
    tables: Sequence[str],
    proved: Mapping[Slice, Proved],
    now: datetime,
    of_keys: Mapping[str, OfKeys] | None = None,
) -> Share:
    """Return how much of some tables was proved within RECENT.

    Args:
        tables: `schema.name` of each.
        proved: the newest comparison of each slice.
        now: the present time.
        of_keys: by table, when changed keys were compared.
    """
    first = (now - RECENT).timestamp() * 1_000_000
    slices, rows, of_rows, differing = dict[str, int](), 0.0, 0.0, list[str]()
    for table in tables:
        known = [
            one for one in (proved.get(Slice(table, number)) for number in range(SLICES)) if one is not None
        ]
        recent = [one for one in known if one.at >= first and not one.differs]
        slices[table] = len(recent)
        rows += sum(one.rows for one in recent)
        of_rows += sum(one.rows for one in known) * SLICES / len(known) if known else 0.0
        if _differs(known, (of_keys or {}).get(table, OfKeys())):
            differing.append(table)
    return Share(slices, round(rows), max(round(of_rows), round(rows)), differing)


def _differs(known: Sequence[Proved], of_keys: OfKeys) -> bool:
    """Return whether a difference was found that no later proof says is gone."""
    if any(one.differs and one.at > of_keys.clean for one in known):
        return True
    is_whole = len(known) == SLICES and not any(one.differs for one in known)
    clean = max(of_keys.clean, min(one.at for one in known) if is_whole else 0)
    return of_keys.wrong > clean
