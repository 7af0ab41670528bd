"""What the settings of the session in profiles.yml are there for."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.R2


def test_kept_rows_are_read_from_the_cache_though_their_query_has_a_with_clause(spark: SparkSession) -> None:
    """R2.1: else count and MERGE would each compute a batch anew, at twice the cost."""
    spark.sql("cache lazy table kept_rows as with numbers as (select id from range(3)) select * from numbers")
    try:
        plan = str(spark.sql("explain select * from kept_rows").head())
        assert "InMemoryRelation" in plan
    finally:
        spark.sql("drop view kept_rows")
