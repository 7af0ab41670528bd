"""The versions of a Delta table and of an Iceberg table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from tidemark.lake.delta_log import DeltaLog, has_jvm
from tidemark.lake.delta_statements import log_of
from tidemark.lake.table_format import (
    CLUSTERED,
    DELTA,
    ICEBERG,
    iceberg_call,
    loaded_iceberg,
    snapshots_of,
    table_format,
)
from tidemark.lake.versions import Versions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SIGNED = "spark.databricks.delta.commitInfo.userMetadata"
BY_UNDO = "tidemark undo "  # not the signature of runs: until an undo is recorded, a run corrects the table
SEED = "tidemark.checksum"  # a seed is written only if its file has another one


@contextmanager
def signed(spark: SparkSession, by: str) -> Iterator[None]:
    """Name who makes the Delta commits of a block, in their `userMetadata`."""
    spark.conf.set(SIGNED, by)
    try:
        yield
    finally:
        spark.conf.unset(SIGNED)


class DeltaVersions(Versions):
    """The versions of a Delta table."""

    @property
    def present(self) -> int:
        """The present version."""
        return self._log.version

    def identity_at(self, version: int) -> str:
        """Return the table's id at a version, which another table has not; empty if it is not known.

        It is not known if the log is cut off, and for a session without a JVM.
        """
        try:
            return self._log.identity_at(version) if has_jvm(self._spark) else ""
        except Py4JJavaError:
            return ""

    def at(self, time: int) -> int | None:
        """Return the version at a time, in microseconds since 1970; None if the history has none."""
        history = self._spark.sql(f"describe history {self._table}")
        newest: Any = history.where(f"unix_micros(timestamp) <= {time}").selectExpr("max(version)").first()
        return None if newest[0] is None else int(newest[0])

    def precedes(self, version: int, other: int) -> bool:
        """Return whether a version is another one, or came before it."""
        return version <= other

    def why_expired(self, version: int) -> str | None:
        """Return why a version cannot be read: its files, or the log of the version, are deleted.

        A session without a JVM does not see files that are deleted; the query then fails.
        """
        if version == self.present:
            return None
        try:
            needed = set(self._at(version).inputFiles()) - set(self._spark.table(self._table).inputFiles())
        except (PySparkException, Py4JJavaError):
            return f"its log no longer has version {version}"
        gone = sum(not self._log.has_file(file) for file in sorted(needed)) if has_jvm(self._spark) else 0
        return f"{gone:,} of the files of version {version} are deleted" if gone else None

    def restore(self, version: int, undo: str) -> int:
        """Restore the table in one commit, which names the undo."""
        with signed(self._spark, f"{BY_UNDO}{undo}"):
            self._spark.sql(f"restore table {self._table} to version as of {version}")
        return DeltaLog(self._spark, self._table).version

    def drop(self) -> None:
        """Drop the table."""
        self._spark.sql(f"drop table if exists {self._table}")

    def _line(self) -> Iterator[tuple[int, bool]]:
        for version in range(self.present, -1, -1):
            yield version, self._commit(version)[0]

    def _is_restored(self, at: int, version: int) -> bool:
        return self._is_of_undo(at) and str(self._parameters(at).get("version")) == str(version)

    def _is_of_undo(self, at: int) -> bool:
        commit_info = self._commit(at)[1]
        return commit_info.get("operation") == "RESTORE" and (
            commit_info.get("userMetadata") or ""
        ).startswith(BY_UNDO)

    def _parameters(self, at: int) -> dict[str, Any]:
        return self._commit(at)[1].get("operationParameters") or {}

    def _commit(self, version: int) -> tuple[bool, dict[str, Any]]:
        if version not in self._read:
            self._read[version] = self._log.commit(version)
        return self._read[version]

    @cached_property
    def _read(self) -> dict[int, tuple[bool, dict[str, Any]]]:
        return {}

    @cached_property
    def _log(self) -> DeltaLog:
        return log_of(self._spark, self._table)

    def _at(self, version: int) -> DataFrame:
        return self._spark.sql(f"select * from {self._table} version as of {version}")


class IcebergVersions(Versions):
    """The snapshots of an Iceberg table. A rollback makes an earlier one current again."""

    @property
    def present(self) -> int:
        """The present snapshot; 0 for a table that was never written."""
        return self._snapshots[0][0] if self._snapshots else 0

    def identity_at(self, version: int) -> str:
        """Return `iceberg`: snapshots have ids that are unique by themselves."""
        return "iceberg"

    def precedes(self, version: int, other: int) -> bool:
        """Return whether a snapshot is another one, or one of its ancestors."""
        at: int | None = other
        while at is not None and at != version:
            at = self._parents.get(at)
        return version in (at, 0)

    def at(self, time: int) -> int | None:
        """Return the snapshot at a time, in microseconds since 1970; None if the history has none."""
        history = self._spark.table(f"{self._table}.history").where(f"unix_micros(made_current_at) <= {time}")
        newest: Any = history.selectExpr("max_by(snapshot_id, made_current_at)").first()
        return None if newest[0] is None else int(newest[0])

    def why_expired(self, version: int) -> str | None:
        """Return why a snapshot cannot be read: it is expired."""
        return None if version in (0, *self._parents) else f"snapshot {version} is expired"

    def why_lost(self, version: int) -> str | None:
        """Return why the table cannot be set back: the snapshot is expired, or had other columns."""
        if version not in self._parents:
            return f"snapshot {version} is expired"
        then = self._spark.sql(f"select * from {self._table} version as of {version}")
        if then.dtypes != self._spark.table(self._table).dtypes:
            return f"snapshot {version} had other columns, and a rollback does not bring them back"
        return None

    def restore(self, version: int, undo: str) -> int:
        """Make the snapshot the present one."""
        for name in (SEED, CLUSTERED):  # a rollback keeps properties
            if self._properties.containsKey(name):
                self._spark.sql(f"alter table {self._table} unset tblproperties ('{name}')")
        present = f"snapshot_id => {version}"
        self._spark.sql(iceberg_call(self._spark, "set_current_snapshot", self._table, present))
        return version

    def drop(self) -> None:
        """Drop the table and its files."""
        self._spark.sql(f"drop table if exists {self._table} purge")

    def _line(self) -> Iterator[tuple[int, bool]]:
        yield from self._snapshots

    def _is_restored(self, at: int, version: int) -> bool:
        return at == version

    @cached_property
    def _snapshots(self) -> list[tuple[int, bool]]:
        line = snapshots_of(self._spark, self._table)
        return [(snapshot["snapshot_id"], snapshot["operation"] == "replace") for snapshot in line]

    @cached_property
    def _parents(self) -> dict[int, int | None]:
        rows = self._spark.table(f"{self._table}.snapshots").select("snapshot_id", "parent_id").collect()
        return {row["snapshot_id"]: row["parent_id"] for row in rows}

    @property
    def _properties(self) -> Any:
        return loaded_iceberg(self._spark, self._table).properties()


def versions_of(spark: SparkSession, table: str) -> Versions:
    """Return the versions of a table that exists.

    Args:
        spark: a session with a JVM.
        table: `schema.name`.
    """
    kind = DeltaVersions if table_format(spark) == DELTA else IcebergVersions
    return kind(spark, table)


def reading_at(spark: SparkSession, table: str, version: int) -> str:
    """Return SQL that reads a version of a table.

    Args:
        spark: the session.
        table: `schema.name`.
        version: the version; 0 on Iceberg is a table without a snapshot.
    """
    if version == 0 and table_format(spark) == ICEBERG:
        return f"(select * from {table} where false)"
    return f"{table} version as of {version}"
