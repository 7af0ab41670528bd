"""What the settings of the session in profiles.yml are there for."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tidemark.engine.adapter.connections import QuickCursor

pytestmark = [pytest.mark.R1, pytest.mark.R2]


def test_a_stack_that_overflows_in_a_task_does_not_end_spark(spark: SparkSession) -> None:
    """R1.4: the query fails, and others go on."""
    letters = spark.range(1).selectExpr("repeat('ab', 200000 + id) as letters")
    with pytest.raises(Exception, match="StackOverflowError"):
        letters.where("letters rlike '^(a|b)*$'").collect()
    assert spark.range(3).count() == 3


def test_dbt_gives_spark_the_settings_of_a_profile_once(spark: SparkSession) -> None:
    """R2.3: not before each statement; those of another target are given again."""
    name = "tidemark.test.setting"

    def seen(value: str) -> str:
        cursor = QuickCursor(server_side_parameters={name: value})
        cursor.execute(f"set {name}")
        rows = cursor.fetchall() or []
        return str(rows[0]["value"])

    try:
        assert seen("first") == "first"
        spark.conf.set(name, "by hand")
        assert seen("first") == "by hand"
        assert seen("second") == "second"
        assert seen("first") == "first"
    finally:
        spark.conf.unset(name)
        QuickCursor(server_side_parameters={}).execute("select 1")
