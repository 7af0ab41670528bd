"""Fixture projects: the real macros, on tables that a test may treat badly."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from dbt.cli.main import dbtRunner
from dbt.contracts.graph.manifest import Manifest
from dbt.parser.manifest import extended_mashumaro_encoder, extended_mashumuro_decoder
from pyspark.sql import SparkSession

from tests.conftest import ROOT
from tidemark.engine.checkpoints.state import State
from tidemark.engine.project.build import Built, summarize

FIXTURES = ROOT / "tests" / "fixtures"
_parsed: dict[tuple[str, str | None], tuple[bytes, bytes]] = {}  # the prefix and dbt's manifest, packed


class FixtureProject:
    """A small dbt project of tests/fixtures on schemas of its own; its models are in the silver schema.

    dbt parses each fixture once for each target; another test gets the same manifest with its own prefix.
    A copy that a test edits is parsed by each command.
    """

    def __init__(self, spark: SparkSession, name: str, prefix: str) -> None:
        self.spark = spark
        self.prefix = prefix
        self.folder = FIXTURES / name
        spark.sql(f"create schema {prefix}_bronze")

    def create_source(self, name: str, columns: str) -> str:
        table = f"{self.prefix}_bronze.{name}"
        self.spark.sql(f"create table {table} ({columns}) {self._with_changes()}")
        return table

    def replace_source(self, table: str, query: str) -> None:
        """Put another table in the place of a source."""
        self.spark.sql(f"create or replace table {table} {self._with_changes()} as {query}")

    def own_copy(self, folder: Path) -> Path:
        """Let the project be a copy that the test may edit; return the folder of its models."""
        copy = folder / self.folder.name
        shutil.copytree(self.folder, copy, ignore=shutil.ignore_patterns("target", "logs"))
        self.folder = copy
        project = copy / "dbt_project.yml"
        project.write_text(project.read_text().replace("../../..", str(ROOT)))
        return copy / "models"

    def _with_changes(self) -> str:
        if self.spark.conf.get("spark.sql.sources.default") == "iceberg":
            return ""
        return "using delta tblproperties ('delta.enableChangeDataFeed' = 'true')"

    def dbt(self, *arguments: str) -> Built:
        return summarize(self.invoke(*arguments).results)

    def invoke(self, *arguments: str) -> Any:
        """Run a dbt command; return its result."""
        manifest = self.manifest() if self.folder.parent == FIXTURES else None
        return self._invoke(manifest, *arguments)

    def _invoke(self, manifest: Manifest | None, *arguments: str) -> Any:
        options = ["--project-dir", str(self.folder), "--profiles-dir", str(ROOT)]
        outcome = dbtRunner(manifest).invoke(["--log-level", "none", "--no-write-json", *arguments, *options])
        os.chdir(ROOT)
        assert outcome.exception is None
        return outcome.result

    def manifest(self) -> Manifest:
        """dbt's manifest of the fixture, not of a copy that the test has edited."""
        key = (self.folder.name, os.environ.get("DBT_TARGET"))
        prefix = self.prefix.encode()
        if key not in _parsed:
            parsed: Manifest = self._invoke(None, "parse")
            _parsed[key] = prefix, parsed.to_msgpack(extended_mashumaro_encoder)
        first, packed = _parsed[key]
        assert len(first) == len(prefix), "packed texts carry their length"
        manifest: Manifest = Manifest.from_msgpack(
            packed.replace(first, prefix), decoder=extended_mashumuro_decoder
        )
        manifest.build_flat_graph()
        return manifest

    def manifest_of_copy(self) -> Manifest:
        """dbt's manifest of a copy that the test has edited."""
        manifest: Manifest = self._invoke(None, "parse")
        return manifest

    def run(self, *models: str) -> str:
        """Run models; return the message of the first that fails, or nothing."""
        failed = self.dbt("run", "--select", *models).failed
        return failed[0][1] if failed else ""

    def messages(self, *models: str, options: tuple[str, ...] = ()) -> dict[str, str]:
        """Run models, all of which must succeed; return what each wrote, in words."""
        built = self.dbt("run", "--select", *models, *options)
        assert built.failed == []
        return {table.table.removeprefix(f"{self.prefix}_silver."): table.message for table in built.tables}

    def last_run(self, model: str) -> Any:
        """The newest row of ops.model_runs of a model."""
        runs = self.spark.table(f"{self.prefix}_ops.model_runs").where(f"model = '{self.table(model)}'")
        return runs.orderBy("started_at", ascending=False).first()

    def forget_last_run(self) -> None:
        """Take its checkpoints back, as if it had been killed before they were written."""
        runs = f"{self.prefix}_ops.runs"
        last: Any = self.spark.table(runs).selectExpr("max_by(invocation_id, started_at)").first()
        self.spark.sql(f"delete from {runs} where invocation_id = '{last[0]}'")

    @property
    def state(self) -> State:
        """The recorded runs and checkpoints."""
        return State(self.spark, f"{self.prefix}_ops")

    def readers(self, table: str) -> dict[str, int]:
        """The version up to which each model has read a table."""
        return self.state.versions_read().get(table, {})

    def checkpoint(self, model: str) -> Any:
        """The newest checkpoint of a model with one source."""
        known = self.spark.table(f"{self.prefix}_ops.checkpoints").where(f"model = '{self.table(model)}'")
        return known.orderBy("sequence", ascending=False).first()

    def rows(self, model: str) -> list[tuple[Any, ...]]:
        """The model's rows, in their order as text."""
        return sorted((tuple(row) for row in self.spark.table(self.table(model)).collect()), key=str)

    def table(self, model: str) -> str:
        return f"{self.prefix}_silver.{model}"


class Guarded(FixtureProject):
    """The project `guarded` with its input table, into which rows `(id, amount)` are sent."""

    def __init__(self, spark: SparkSession, prefix: str) -> None:
        super().__init__(spark, "guarded", prefix)
        self._sent = 0
        self.input = self.create_source("rows_in", "id bigint, amount int, sent int")

    def insert(self, values: str) -> None:
        """Append rows `(id, amount)`, all sent later than those before."""
        self._sent += 1
        self.spark.sql(f"insert into {self.input} select *, {self._sent} from values {values}")


@pytest.fixture
def guarded(spark: SparkSession, prefix: str, table_format: str, monkeypatch: pytest.MonkeyPatch) -> Guarded:
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    return Guarded(spark, prefix)


@pytest.fixture
def cases(
    spark: SparkSession, prefix: str, table_format: str, monkeypatch: pytest.MonkeyPatch
) -> FixtureProject:
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    return FixtureProject(spark, "cases", prefix)
