"""Fixture projects: the real macros, on tables that a test may treat badly."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

from python_ingest.build import Built, summarize
from tests.conftest import ROOT


class FixtureProject:
    """A small dbt project of tests/fixtures on schemas of its own; its models are in the silver schema."""

    def __init__(self, spark: SparkSession, name: str, prefix: str) -> None:
        self.spark = spark
        self.prefix = prefix
        self._folder = ROOT / "tests" / "fixtures" / name
        spark.sql(f"create schema {prefix}_bronze")

    def create_source(self, name: str, columns: str) -> str:
        table = f"{self.prefix}_bronze.{name}"
        self.spark.sql(
            f"create table {table} ({columns}) using delta "
            "tblproperties ('delta.enableChangeDataFeed' = 'true')"
        )
        return table

    def dbt(self, *arguments: str) -> Built:
        options = ["--project-dir", str(self._folder), "--profiles-dir", str(ROOT)]
        outcome: Any = dbtRunner().invoke(["--log-level", "none", *arguments, *options])
        os.chdir(ROOT)
        assert outcome.exception is None
        return summarize(outcome.result.results)

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
def guarded(spark: SparkSession, prefix: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Guarded]:
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    yield Guarded(spark, prefix)
