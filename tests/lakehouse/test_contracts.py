"""Contracts that really hold on open-source Delta, and seeds that keep their values."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from python_ingest.build import Built, summarize
from tests.conftest import ROOT, latest_version

PROJECT = ROOT / "tests" / "fixtures" / "guarded"


class Guarded:
    """The fixture project on schemas of its own, with one input table."""

    def __init__(self, spark: SparkSession, prefix: str) -> None:
        self.spark = spark
        self.input = f"{prefix}_bronze.rows_in"
        self.table = f"{prefix}_silver.guarded"
        self.names = f"{prefix}_silver.names"
        spark.sql(f"create schema {prefix}_bronze")
        spark.sql(
            f"create table {self.input} (id bigint, amount int) using delta "
            "tblproperties ('delta.enableChangeDataFeed' = 'true')"
        )

    def insert(self, values: str) -> None:
        self.spark.sql(f"insert into {self.input} values {values}")

    def dbt(self, *arguments: str) -> Built:
        from dbt.cli.main import dbtRunner

        options = ["--project-dir", str(PROJECT), "--profiles-dir", str(ROOT)]
        outcome = dbtRunner().invoke(["--log-level", "none", *arguments, *options])
        assert outcome.exception is None
        return summarize(outcome.result.results)  # type: ignore[union-attr]

    def rows(self) -> list[tuple[int, int]]:
        return sorted(tuple(row) for row in self.spark.table(self.table).collect())


@pytest.fixture
def guarded(spark: SparkSession, prefix: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Guarded]:
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    yield Guarded(spark, prefix)
    os.chdir(ROOT)


@pytest.mark.R1
def test_a_violated_contract_stops_the_run_and_leaves_the_table_as_it_was(guarded: Guarded) -> None:
    """R1.4: on the first run no table is left behind; on a later one no row is."""
    guarded.insert("(null, 1)")
    first = guarded.dbt("run")
    assert [name for name, _ in first.failed] == ["guarded"]
    assert "CHECK constraint id_not_null" in first.failed[0][1]
    assert "at org.apache" not in first.failed[0][1]
    assert not guarded.spark.catalog.tableExists(guarded.table)

    guarded.spark.sql(f"delete from {guarded.input}")
    guarded.insert("(1, 5)")
    assert not guarded.dbt("run").failed
    version = latest_version(guarded.spark, guarded.table)
    guarded.insert("(2, 6), (3, -1)")
    later = guarded.dbt("run")
    assert "CHECK constraint amount_positive" in later.failed[0][1]
    assert guarded.rows() == [(1, 5)]
    assert latest_version(guarded.spark, guarded.table) == version

    guarded.spark.sql(f"update {guarded.input} set amount = 7 where id = 3")
    assert not guarded.dbt("run").failed
    assert guarded.rows() == [(1, 5), (2, 6), (3, 7)]


@pytest.mark.R1
def test_descriptions_are_kept_and_written_once(guarded: Guarded) -> None:
    """Quotes, backslashes and percent signs in a description; no commit where nothing changed."""
    guarded.insert("(1, 5)")
    guarded.dbt("run")
    version = latest_version(guarded.spark, guarded.table)
    guarded.insert("(1, 5)")
    guarded.dbt("run")
    assert latest_version(guarded.spark, guarded.table) == version


@pytest.mark.R1
def test_a_seed_keeps_nulls_apostrophes_and_backslashes(guarded: Guarded) -> None:
    """R1.5: stock dbt-spark makes NULL the text None, breaks on O'Brien, and rewrites on every run."""
    assert not guarded.dbt("seed").failed
    version = latest_version(guarded.spark, guarded.names)
    rows = sorted(tuple(row) for row in guarded.spark.table(guarded.names).collect())
    assert rows == [
        (1, "O'Brien", "back\\slash"),
        (2, 'Zoë, "Z"', None),
        (3, "None", None),
    ]
    assert not guarded.dbt("seed").failed
    assert latest_version(guarded.spark, guarded.names) == version


def test_the_fixture_uses_the_real_macros() -> None:
    """The fixture project has no macros of its own."""
    assert not list(Path(PROJECT).glob("macros/*"))
