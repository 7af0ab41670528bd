"""A session for queries of few rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

SETTINGS = ("spark.sql.shuffle.partitions", "spark.sql.ansi.enabled")


@pytest.fixture
def few_partitions(spark: SparkSession) -> Iterator[SparkSession]:
    before = {name: str(spark.conf.get(name)) for name in SETTINGS}
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    yield spark
    for name, value in before.items():
        spark.conf.set(name, value)
