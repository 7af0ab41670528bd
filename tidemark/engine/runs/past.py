"""The lake as of a run: which version of each table the run saw, and SQL that reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from sqlglot.errors import SqlglotError

from tidemark.base.errors import TidemarkError
from tidemark.engine.checkpoints.state import State
from tidemark.engine.incremental.pinning import named_tables, pinned
from tidemark.engine.incremental.statement_catalog import catalog_of
from tidemark.engine.runs.choosing import choose_run
from tidemark.lake.delta_log import has_jvm, make_active
from tidemark.lake.table_format import iceberg_view, table_exists, table_format
from tidemark.lake.versions_by_format import reading_at, versions_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemark.lake.versions import Versions


@dataclass(frozen=True)
class Reading:
    """How a table or view is read as of a run.

    Attributes:
        sql: what stands for it in FROM.
        version: the version that is read; None for a view, which has none.
    """

    sql: str
    version: int | None


class Past:
    """The lake as of the end of a run.

    A table that the run wrote is read as the run left it, and one that its models read as they read it. For
    any other table, its history says which version it had when the run ended.

    Args:
        spark: the session.
        ops_schema: the schema of the state tables.
        name: the run, as `choose_run` has it.

    Raises:
        TidemarkError: if there is no such run.
    """

    def __init__(self, spark: SparkSession, ops_schema: str, name: str) -> None:
        self._spark = spark
        state = State(spark, ops_schema)
        self.run = choose_run(state.runs(), name)
        read = state.read_by(self.run)
        written = {each.table: (each.after, each.table_id) for each in self.run.written}
        self._seen = {**read, **written}

    def reading(self, table: str) -> Reading:
        """Return how a table or view is read; a view reads its tables as of the run.

        Args:
            table: `schema.name`.

        Raises:
            TidemarkError: if the table did not exist then, or its version is gone.
        """
        make_active(self._spark)  # dbt asks in its own threads
        view = self._view(table)
        if view is not None:
            return Reading(f"({self._pinned(table, view)})", None)
        version = self._version(table)
        return Reading(reading_at(self._spark, table, version), version)

    def _view(self, table: str) -> str | None:
        """Return the query of a view; None for a table."""
        if table_exists(self._spark, table):
            return catalog_of(self._spark).view(table)
        view = iceberg_view(self._spark, table) if has_jvm(self._spark) else None
        if view is None:
            raise TidemarkError(
                f"{table} does not exist, so it cannot be read as of the run {self.run.label}.",
                "Leave it out. A table that was dropped since then cannot be read any more; neither can a "
                "view of Iceberg on a server.",
            )
        return view

    def _pinned(self, name: str, view: str) -> str:
        """Return a view's query on tables as of the run."""
        try:
            below = named_tables(view)
        except SqlglotError:
            below = ["a table in SQL that is not understood"]
        odd = [table for table in below if table.count(".") != 1]
        if odd:
            raise TidemarkError(
                f"The view {name} reads {odd[0]}, so it cannot be read as of the run {self.run.label}.",
                "Read the tables below the view, or let it name them as schema.table.",
            )
        return pinned(view, {table: self.reading(table).sql for table in below})

    def _version(self, table: str) -> int:
        versions = versions_of(self._spark, table)
        if table in self._seen:
            version, table_id = self._seen[table]
        else:
            version, table_id = self._version_by_time(table, versions), ""
        if why := versions.why_expired(version):
            raise TidemarkError(
                f"{table} cannot be read as of the run {self.run.label}: {why}.",
                "Choose a later run. `tidemark maintain` decides how long versions are kept.",
            )
        now_there = versions.identity_at(version)
        if table_id and now_there and table_id != now_there:
            raise TidemarkError(
                f"{table} was dropped and created again since the run {self.run.label}.",
                "Choose a later run.",
            )
        return version

    def _version_by_time(self, table: str, versions: Versions) -> int:
        try:
            version = versions.at(self.run.ended)
        except PySparkException:
            raise TidemarkError(
                f"{table} has no versions, so it cannot be read as of a run.",
                f"Leave it out, or keep it as a table of the lake ({table_format(self._spark)}).",
            ) from None
        if version is None:
            raise TidemarkError(
                f"{table} did not exist at the end of the run {self.run.label}, or its history does not "
                "reach back to it.",
                "Choose a later run: `ops.runs` has all of them.",
            )
        return version
