"""Which rows `tidemark plan --rows` knows, where something above a model is not known."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tidemark.engine.preview.changed import READER, REBUILT, SEED, Changed, changed_seeds
from tidemark.engine.preview.rows import Preview

pytestmark = pytest.mark.R2


def compiled(table: str, sql: str, **given: Any) -> Any:
    """A compiled model; plain, incremental and without a key unless `given` says otherwise."""
    way = SimpleNamespace(name="insert", accumulates=False, why_unproven="")
    base = {
        "failed": None,
        "needs_variables": "",
        "is_unproven": False,
        "header": "",
        "key": (),
        "materialized": "incremental",
        "way": way,
    }
    return SimpleNamespace(table=table, sql=sql, **{**base, **given})


def test_what_reads_unknown_rows_is_not_known(spark: SparkSession, prefix: str) -> None:
    """R2.5: a model that does not compile and a view that cannot be computed stop no other."""
    spark.sql(f"create schema {prefix}")
    for name in ("first", "second", "third"):
        spark.sql(f"create table {prefix}.{name} as select 1 as a")
    models = [
        compiled(f"{prefix}.broken", "", failed="no such column"),
        compiled(f"{prefix}.view", "select nothing from nowhere", materialized="view"),
        compiled(f"{prefix}.first", f"select a from {prefix}.broken"),
        compiled(f"{prefix}.second", f"select a from {prefix}.view"),
        compiled(f"{prefix}.third", "select 2 as a"),
    ]
    changes = [
        Changed(f"{prefix}.broken", REBUILT, "its SQL has changed"),
        Changed(f"{prefix}.first", READER, "", reads=(f"{prefix}.broken",)),
        Changed(f"{prefix}.second", REBUILT, "its SQL has changed"),
        Changed(f"{prefix}.third", REBUILT, "its SQL has changed"),
    ]
    found = {one.table: one for one in Preview(spark, {one.table: one for one in models}).compared(changes)}
    assert found[f"{prefix}.broken"].unknown == "it does not compile: no such column"
    assert (
        found[f"{prefix}.first"].unknown
        == f"its rows depend on those of {prefix}.broken, which are not known"
    )
    assert found[f"{prefix}.second"].unknown == f"its rows depend on {prefix}.view, which cannot be computed"
    assert found[f"{prefix}.third"].differing == 2
    spark.sql(f"drop schema {prefix} cascade")


def test_a_seed_that_cannot_be_read_stops_no_other(spark: SparkSession, tmp_path: Path) -> None:
    """R2.5: its line says which file; the next seed is compared."""
    config = SimpleNamespace(column_types={}, delimiter=",")
    (tmp_path / "good.csv").write_text("a,b\n1,x\n")
    seeds = [
        SimpleNamespace(schema="no_schema", alias=name, name=name, config=config)
        for name in ("missing", "good")
    ]
    for one in seeds:
        one.root_path, one.original_file_path = str(tmp_path), f"{one.name}.csv"
    (missing, nothing), (good, rows) = changed_seeds(spark, seeds)
    assert (missing.kind, nothing) == (SEED, None)
    assert missing.unknown.startswith("missing.csv cannot be read: ")
    assert rows is not None
    assert good.number == 1
