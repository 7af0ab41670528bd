"""Temporary views whose rows Spark computes once, when a statement first reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from python_ingest.lake.jvm import java_class

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def create_cached_view(spark: SparkSession, name: str, sql: str) -> DataFrame:
    """Create a temporary view of a query, and return its rows: unpersist them when the view is dropped.

    `cache table` would cache the query, too. But Spark looks for the cached rows by comparing plans, and it
    loads Iceberg's tables of changes anew for each of them: it would compute the query for each statement.
    This view consists of the cached rows.

    Args:
        spark: a session with a JVM.
        name: the view's name.
        sql: its query.
    """
    rows = spark.sql(sql).persist()
    session: Any = spark._jsparkSession
    cached = session.sharedState().cacheManager().lookupCachedData(rows._jdf).get()
    datasets = java_class(spark, "org.apache.spark.sql.classic.Dataset")
    datasets.ofRows(session, cached.cachedRepresentation()).createOrReplaceTempView(name)
    return rows
