"""The fixture project: the real macros, on tables that a test may treat badly."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

from python_ingest.build import Built, summarize
from tests.conftest import ROOT

PROJECT = ROOT / "tests" / "fixtures" / "guarded"


class Guarded:
    """The fixture project on schemas of its own, with one input table."""

    def __init__(self, spark: SparkSession, prefix: str) -> None:
        self.spark = spark
        self.sent = 0
        self.input = f"{prefix}_bronze.rows_in"
        self.table = f"{prefix}_silver.guarded"
        self.totals = f"{prefix}_silver.totals"
        self.checkpoints = f"{prefix}_ops.checkpoints"
        self.names = f"{prefix}_silver.names"
        spark.sql(f"create schema {prefix}_bronze")
        spark.sql(
            f"create table {self.input} (id bigint, amount int, sent int) using delta "
            "tblproperties ('delta.enableChangeDataFeed' = 'true')"
        )

    def insert(self, values: str) -> None:
        """Append rows `(id, amount)`, all sent later than those before."""
        self.sent += 1
        self.spark.sql(f"insert into {self.input} select *, {self.sent} from values {values}")

    def dbt(self, *arguments: str) -> Built:
        options = ["--project-dir", str(PROJECT), "--profiles-dir", str(ROOT)]
        outcome = dbtRunner().invoke(["--log-level", "none", *arguments, *options])
        assert outcome.exception is None
        return summarize(outcome.result.results)  # type: ignore[union-attr]

    def rows(self) -> list[tuple[Any, ...]]:
        return sorted(tuple(row) for row in self.spark.table(self.table).collect())

    def total_rows(self) -> list[tuple[Any, ...]]:
        return sorted(tuple(row) for row in self.spark.table(self.totals).collect())


@pytest.fixture
def guarded(spark: SparkSession, prefix: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Guarded]:
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    yield Guarded(spark, prefix)
    os.chdir(ROOT)
