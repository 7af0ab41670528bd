"""Temporary views whose rows Spark computes once, when a statement first reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.lake.jvm import java_class

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_rows: dict[str, DataFrame] = {}  # of the views that exist, by name


def create_cached_view(rows: DataFrame, name: str) -> None:
    """Create a temporary view of rows, to be dropped by `drop_cached_view`.

    `cache table` would cache a query, too. But Spark looks for the cached rows by comparing plans, and it
    loads Iceberg's tables of changes anew for each of them: it would compute the query for each statement.
    In a view of uncached rows, Spark 4.1 names Iceberg's tables by references that MERGE does not resolve.
    This view consists of the cached rows.

    Args:
        rows: the rows, of a session with a JVM.
        name: the view's name.
    """
    _rows[name] = rows.persist()
    spark = rows.sparkSession
    session: Any = spark._jsparkSession
    cached = session.sharedState().cacheManager().lookupCachedData(rows._jdf).get()
    datasets = java_class(spark, "org.apache.spark.sql.classic.Dataset")
    datasets.ofRows(session, cached.cachedRepresentation()).createOrReplaceTempView(name)


def drop_cached_view(spark: SparkSession, name: str) -> None:
    """Drop a view and its cached rows; a missing view is not an error.

    Args:
        spark: the session.
        name: the view's name.
    """
    spark.catalog.dropTempView(name)
    if (rows := _rows.pop(name, None)) is not None:
        rows.unpersist()
