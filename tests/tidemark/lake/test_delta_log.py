"""Delta's log, read in the process, says what SQL says of a table."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tidemark.lake.delta_commit import Appended
from tidemark.lake.delta_log import LOOKED_AT, DeltaLog
from tidemark.lake.table_format import append_once

pytestmark = pytest.mark.R4
FIELDS = ("version", "operation", "operationParameters", "operationMetrics")


@pytest.fixture
def table(spark: SparkSession, prefix: str) -> str:
    """A table with a commit of each kind that a run or a user makes."""
    spark.sql(f"create schema {prefix}")
    table = f"{prefix}.things"
    spark.sql(f"create table {table} (id int, day date) using delta partitioned by (day)")
    for statement in (
        f"insert into {table} values (1, date '2025-01-01'), (2, date '2025-01-02')",
        f"insert into {table} values (3, date '2025-01-02')",
        f"merge into {table} using (select * from values (3), (4) as v (id)) as new on things.id = new.id "
        "when matched then delete when not matched then insert (id, day) values (new.id, date '2025-01-02')",
        f"update {table} set id = 5 where id = 4",
        f"alter table {table} set tblproperties ('delta.enableChangeDataFeed' = 'true', 'mine' = 'a \"b\"')",
        f"optimize {table}",
        f"delete from {table} where id = 5",
        f"insert overwrite {table} values (6, date '2025-01-03')",
        f"restore table {table} to version as of 2",
    ):
        spark.sql(statement)
    return table


@pytest.mark.core
def test_the_log_equals_describe_history(spark: SparkSession, table: str) -> None:
    """R4.2: commits with their operations and metrics, id, size and properties."""
    log = DeltaLog(spark, table)
    assert list(log.columns.items()) == spark.table(table).dtypes
    commits = log.commits(100)
    history = [row.asDict() for row in spark.sql(f"describe history {table}").collect()]
    assert len(commits) == 10
    assert [{name: commit[name] for name in FIELDS} for commit in commits] == [
        {name: row[name] for name in FIELDS} for row in history
    ]
    seconds = spark.sql(f"describe history {table}").selectExpr("unix_millis(timestamp)").collect()
    assert [(c["timestamp"] - commits[-1]["timestamp"]).total_seconds() for c in commits] == [
        (row[0] - seconds[-1][0]) / 1000 for row in seconds
    ]
    detail = spark.sql(f"describe detail {table}").first()
    assert detail is not None
    state = log.state()
    assert (state["id"], state["files"], state["bytes"], state["properties"]) == (
        detail["id"], detail["numFiles"], detail["sizeInBytes"], detail["properties"],
    )  # fmt: skip
    assert state["version"] == log.version == history[0]["version"]
    assert [commit["version"] for commit in log.commits(2)] == [9, 8]


def test_a_cleaned_log_is_read_as_far_as_it_goes(spark: SparkSession, table: str) -> None:
    """R4.2: the list ends at cleaned commits; a missing checksum does not matter."""
    detail = spark.sql(f"describe detail {table}").first()
    assert detail is not None
    log = Path(detail["location"].removeprefix("file:").replace("%20", " ")) / "_delta_log"
    (log / f"{6:020}.json").unlink()
    for checksum in log.glob(f"*{9:020}.crc"):  # a RESTORE writes none
        checksum.unlink()
    assert [commit["version"] for commit in DeltaLog(spark, table).commits(100)] == [9, 8, 7]
    assert DeltaLog(spark, table).state()["files"] == detail["numFiles"]


@pytest.mark.R1
def test_an_append_is_recognized_by_its_commit(spark: SparkSession, prefix: str) -> None:
    """R1.1: its rows and nulls; no result for another commit, or without statistics."""
    spark.sql(f"create schema {prefix}")
    table = f"{prefix}.lines"
    spark.sql(
        f"create table {table} (line string, broken string, unknown string) using delta "
        "tblproperties ('delta.dataSkippingStatsColumns' = 'broken')"
    )
    assert DeltaLog(spark, table).last_number("me") is None
    lines = spark.sql("select 'a', if(id % 4 = 0, 'b', null), null from range(0, 10, 1, 3)")
    append_once(lines.toDF("line", "broken", "unknown"), table, "me", 7)
    log = DeltaLog(spark, table)
    assert (log.last_number("me"), log.last_number("you")) == (7, None)
    assert log.appended("me", 7) == Appended(10, {"broken": 7})
    assert log.appended("me", 6) is None
    spark.sql(f"delete from {table} where broken = 'b'")
    assert (DeltaLog(spark, table).last_number("me"), DeltaLog(spark, table).appended("me", 7)) == (7, None)
    spark.sql(f"alter table {table} set tblproperties ('delta.dataSkippingNumIndexedCols' = '0')")
    spark.sql(f"alter table {table} unset tblproperties ('delta.dataSkippingStatsColumns')")
    append_once(lines.toDF("line", "broken", "unknown"), table, "me", 8)
    appended = DeltaLog(spark, table).appended("me", 8)
    assert appended is None or appended.nulls == {}
    for _ in range(LOOKED_AT):
        spark.sql(f"insert into {table} values ('a', 'b', 'c')")
    assert DeltaLog(spark, table).last_number("me") is None
