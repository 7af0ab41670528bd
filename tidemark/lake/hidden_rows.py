"""Rows of this process that no query plan shows, for secrets and personal values.

A literal is part of the plan: it ends up in messages of errors, in explained plans, and in the parameters of
Delta's commits. A plan shows only the columns of these rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql.types import StructType

from tidemark.lake.jvm import java_class

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def hidden_rows(spark: SparkSession, columns: str, rows: Sequence[Sequence[str]]) -> DataFrame:
    """Return a DataFrame of texts.

    Args:
        spark: a session with a JVM.
        columns: the columns as SQL, all of type string.
        rows: their values.
    """
    from pyspark.sql import DataFrame

    gateway: Any = spark.sparkContext._gateway
    factory = java_class(spark, "org.apache.spark.sql.RowFactory")
    listed = java_class(spark, "java.util.ArrayList")()
    for row in rows:
        values = gateway.new_array(gateway.jvm.java.lang.Object, len(row))
        for position, value in enumerate(row):
            values[position] = value
        listed.add(factory.create(values))
    session: Any = spark._jsparkSession
    schema = session.parseDataType(cast(StructType, StructType.fromDDL(columns)).json())
    return DataFrame(session.createDataFrame(listed, schema), spark)
