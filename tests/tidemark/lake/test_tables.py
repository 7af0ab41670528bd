"""Tables that landing creates where a killed run, or a lost catalog, has left a folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tidemark.base.errors import TidemarkError
from tidemark.lake.tables import create_table

pytestmark = pytest.mark.R1


@pytest.fixture
def folder(spark: SparkSession, prefix: str) -> Path:
    """Where the table `things` of a schema of this test will be."""
    spark.sql(f"create schema {prefix}")
    return Path(spark.catalog.getDatabase(prefix).locationUri.removeprefix("file:")) / "things"


def test_a_table_missing_from_the_catalog_is_created(spark: SparkSession, prefix: str, folder: Path) -> None:
    """R1.5: committed by Delta, then killed before Spark's catalog knew of it."""
    spark.createDataFrame([], "id bigint").write.format("delta").save(str(folder))
    create_table(
        spark, f"{prefix}.things", "id bigint comment 'Its number'", {"delta.enableChangeDataFeed": "true"}
    )
    create_table(spark, f"{prefix}.things", "id bigint")
    described = spark.sql(f"describe table {prefix}.things").collect()
    assert [tuple(row) for row in described] == [("id", "bigint", "Its number")]
    spark.sql(f"insert into {prefix}.things values (1)")
    assert spark.sql(f"select id from table_changes('{prefix}.things', 1)").collect() == [(1,)]


def test_a_table_that_was_not_even_committed_is_created(
    spark: SparkSession, prefix: str, folder: Path
) -> None:
    """R1.5: killed while the log's first file was written."""
    (folder / "_delta_log").mkdir(parents=True)
    (folder / "_delta_log" / ".00000000000000000000.json.1.tmp").write_text("{", encoding="utf-8")
    create_table(spark, f"{prefix}.things", "id bigint")
    assert spark.table(f"{prefix}.things").count() == 0


def test_rows_that_the_catalog_has_lost_are_not_replaced(
    spark: SparkSession, prefix: str, folder: Path
) -> None:
    """R1.5: a lost catalog does not count as an empty lake."""
    spark.range(3).write.format("delta").save(str(folder))
    with pytest.raises(TidemarkError, match=r"no table t\d+\.things, but its folder .* contains") as caught:
        create_table(spark, f"{prefix}.things", "id bigint")
    assert "Restore the catalog" in str(caught.value)
    assert spark.read.format("delta").load(str(folder)).count() == 3
