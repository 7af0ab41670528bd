"""Read `ops.runs` in a session, and append to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from tidemark.base.errors import TidemarkError
from tidemark.engine.checkpoints.layout import (
    CHECKPOINT,
    VIEWS,
    fields_of,
    insert_statement,
    measured_query,
    model_runs_query,
    moved_query,
    newest_query,
    opening_statements,
    refuse_newer,
)
from tidemark.engine.checkpoints.rows import STAGED, UNDO, Checkpoint, Contract, Pair, Run, Written
from tidemark.lake.table_format import table_exists, table_format
from tidemark.lake.table_locks import STATE_WAIT, locked
from tidemark.lake.tables import local_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class State:
    """The recorded runs and checkpoints of a lake; a table of an earlier version is read as it is.

    Args:
        spark: the session.
        ops_schema: the schema of the state tables.

    Raises:
        TidemarkError: if a newer version of Tidemark wrote the lake.
    """

    def __init__(self, spark: SparkSession, ops_schema: str) -> None:
        self._spark = spark
        self.table = f"{ops_schema}.runs"
        self._columns = self._look() or {}

    def rows(self) -> DataFrame | None:
        """Return all rows of `ops.runs`; None if there is no table."""
        return self._spark.table(self.table) if self._columns else None

    def runs(self) -> list[Run]:
        """Return all runs without their checkpoints, the oldest first.

        Raises:
            TidemarkError: if there are none, or all are of a version that did not record what they wrote.
        """
        if "tables_written" not in self._columns:
            raise TidemarkError(
                f"{self.table} has no run that says which versions of tables it wrote.",
                "Runs from now on do: run `dbt build` first.",
            )
        return self._runs({}, "true")

    def runs_since(self, first: Run) -> list[Run]:
        """Return a run and all later ones, with their checkpoints, the oldest first.

        Args:
            first: one of `runs`.
        """
        where = f"unix_micros(ended_at) >= {first.ended}"
        moved: dict[str, list[Checkpoint]] = {}
        for row in self._spark.sql(moved_query(self.table, self._fields, where)).collect():
            moved.setdefault(row["invocation_id"], []).append(Checkpoint.of(row.asDict()))
        return self._runs(moved, where)

    def before(
        self, first: Mapping[Pair, int], models: set[str], sources: Sequence[str]
    ) -> dict[Pair, Checkpoint]:
        """Return the checkpoints before some runs, of all readers concerned on all sources.

        Args:
            first: the lowest sequence of each checkpoint that the runs moved. An earlier one is lower.
            models: readers that are concerned, too.
            sources: tables whose readers are concerned, too.
        """
        schema = "model string, source string, first bigint"
        moved = local_rows(self._spark, schema, [(*pair, sequence) for pair, sequence in first.items()])
        known = self._spark.sql(moved_query(self.table, self._fields))
        of_sources = known.where(known.source.isin(sorted(sources))).select("model").distinct().collect()
        readers = {model for model, _ in first} | models | {row["model"] for row in of_sources}
        newest = (
            known.where(known.model.isin(sorted(readers)))
            .join(moved, on=["model", "source"], how="left")
            .where("first is null or sequence < first")
            .groupBy("model", "source")
            .agg(f.max_by(f.struct(*CHECKPOINT, "recorded_at"), "sequence").alias("newest"))
            .select("newest.*")
        )
        found = [Checkpoint.of(row.asDict()) for row in newest.collect()]
        return {each.pair: each for each in found}

    def versions_read(self) -> dict[str, dict[str, int]]:
        """Return the version up to which each model has read each table, by table and model.

        Stages are left out: a stage whose versions are gone is made anew.
        """
        found: dict[str, dict[str, int]] = {}
        for each in self.newest():
            if each.version is not None and not each.is_of_test and each.kind != STAGED:
                found.setdefault(each.source, {})[each.model] = each.version
        return found

    def newest(self, where: str = "true") -> list[Checkpoint]:
        """Return the newest checkpoint of each reader and source, also those that an undo took back.

        Args:
            where: a condition on runs.
        """
        if not self._fields:
            return []
        rows = self._spark.sql(newest_query(self.table, self._fields, where)).collect()
        return [Checkpoint.of(row.asDict()) for row in rows]

    def read_by(self, run: Run) -> dict[str, tuple[int, str | None]]:
        """Return version and id of each table as the models of a run had read it when the run ended.

        A source without a new version moves no checkpoint, so an older one may name what the run read.

        Args:
            run: one of `runs`; an undo moved checkpoints and read nothing.
        """
        if run.command == UNDO or not self._fields:
            return {}
        own = moved_query(self.table, self._fields, f"invocation_id = '{run.id}'")
        ran = {row["model"] for row in self._spark.sql(own).select("model").distinct().collect()}
        ran |= {each.table for each in run.written}
        return {
            each.source: (each.version, each.source_id)
            for each in self.newest(f"unix_micros(ended_at) <= {run.ended}")
            if each.model in ran and each.version is not None and not each.is_of_test
        }

    def contracts(self) -> dict[str, Contract]:
        """Return the contract of each model in its latest run."""
        found = sorted((each for each in self.newest() if each.kind), key=lambda each: each.recorded_at)
        return {each.model: each.contract for each in found}

    def newest_model_runs(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return the newest record of each model, by its table.

        Args:
            columns: expressions of columns of `ops.model_runs`; `at` is its time in microseconds since 1970.
        """
        if not self._columns:
            return {}
        rows = self._spark.sql(
            f"select *, unix_micros(started_at) as at from ({model_runs_query(self.table)})"
        )
        newest = f.expr(f"max_by(struct({', '.join(('at', *columns))}), at) as run")
        return {row["model"]: row["run"] for row in rows.groupBy("model").agg(newest).collect()}

    def states_of(self, model: str) -> dict[str, str]:
        """Return how each recorded run read for a model: `incremental` and so on, by the run's id.

        Args:
            model: its table.
        """
        if not self._columns:
            return {}
        rows = self._spark.sql(model_runs_query(self.table)).where(f.col("model") == model)
        return {row["invocation_id"]: row["state"] for row in rows.select("invocation_id", "state").collect()}

    def measured_runs(self, number: int) -> list[dict[str, Any]]:
        """Return the newest runs of each model that read something: the rows of `measured_query`.

        Args:
            number: how many of each model.
        """
        rows = self._spark.sql(measured_query(self.table, number)).collect() if self._columns else []
        return [row.asDict() for row in rows]

    def variables(self) -> list[dict[str, Any]]:
        """Return the variables of each run and the models whose checkpoints it moved, the oldest first.

        Returns:
            Rows with `invocation_id`, `command`, `vars` as JSON, `models` and `undone_runs`; none if no run
            had variables.
        """
        rows = self.rows()
        if rows is None or "vars" not in self._columns or rows.where("vars != '{}'").limit(1).isEmpty():
            return []
        found = rows.selectExpr(
            "invocation_id",
            "command",
            "coalesce(vars, '{}') as vars",
            "array_distinct(transform(checkpoints, checkpoint -> checkpoint.model)) as models",
            "undone_runs" if "undone_runs" in self._columns else "null as undone_runs",
            "started_at",
        )
        return [row.asDict() for row in found.orderBy("started_at").collect()]

    def ran_with(self, run: Run) -> dict[str, Any]:
        """Return what a run ran with: its commit, locks, versions, target and variables.

        Args:
            run: one of `runs`.
        """
        columns = ("git_commit", "git_is_dirty", "locks", "dbt_version", "tidemark_version", "target", "vars")
        row: Any = self._spark.table(self.table).where(f"invocation_id = '{run.id}'").select(*columns).first()
        return {**row.asDict(), "locks": row["locks"] or {}}

    def append(self, row: Mapping[str, Any]) -> None:
        """Record a run, in one commit; a table of an earlier version is brought to the present layout first.

        Args:
            row: the values by column; timestamps in ISO 8601 format.

        Raises:
            LakeBusyError: if another process holds the table for too long.
        """
        with locked(self.table, seconds=STATE_WAIT):
            views = [
                name for name in VIEWS if table_exists(self._spark, self.table.replace(".runs", f".{name}"))
            ]
            for statement in opening_statements(self.table, self._look(), views, table_format(self._spark)):
                self._spark.sql(statement)
            self._spark.sql(insert_statement(self.table, row))

    def _look(self) -> dict[str, str] | None:
        """Return the types of the table's columns; None if there is no table."""
        if not table_exists(self._spark, self.table):
            return None
        rows = self._spark.table(self.table)
        columns = {each.name: each.dataType.simpleString() for each in rows.schema}
        refuse_newer(self.table, columns, lambda: _written_by(rows))
        return columns

    @property
    def _fields(self) -> set[str]:
        return fields_of(self._columns)

    def _runs(self, moved: Mapping[str, Sequence[Checkpoint]], where: str) -> list[Run]:
        times = ("unix_micros(started_at) as started", "unix_micros(ended_at) as ended")
        columns = ("invocation_id", "command", "tables_written", "undone_runs", *times)
        found = [
            Run(
                row["invocation_id"],
                row["command"],
                row["started"],
                row["ended"],
                tuple(_written(each) for each in row["tables_written"] or ()),
                tuple(row["undone_runs"] or ()),
                tuple(moved.get(row["invocation_id"], ())),
            )
            for row in self._spark.table(self.table).where(where).selectExpr(*columns).collect()
        ]
        return sorted(found, key=lambda run: (run.ended, run.id))


def _written(row: Any) -> Written:
    return Written(row["table"], row["table_id"], row["version_before"], row["version"])


def _written_by(rows: DataFrame) -> str | None:
    """Return the version of Tidemark that wrote the newest row."""
    row: Any = rows.selectExpr("max_by(tidemark_version, started_at)").first()
    return row[0] if row else None
