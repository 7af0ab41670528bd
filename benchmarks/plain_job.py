"""The three tables by a plain PySpark job, as tutorials write it: a watermark, a MERGE, all of gold anew."""

from __future__ import annotations

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

COLUMNS = ("order_id", "customer_id", "order_date", "quantity", "amount", "updated_at")


def run(spark: SparkSession, bronze: str, silver: str, gold: str) -> None:
    """Bring the three tables up to date, or create them.

    Args:
        spark: the session.
        bronze: the table of landed orders.
        silver: the schema of `orders`.
        gold: the schema of `daily_sales` and `customer_sales`.
    """
    for schema in (silver, gold):
        spark.sql(f"create schema if not exists {schema}")
    orders = f"{silver}.orders"
    landed, exists = spark.table(bronze), spark.catalog.tableExists(orders)
    if exists:
        watermark = spark.table(orders).agg(F.max("updated_at")).collect()[0][0]
        landed = landed.where(F.col("updated_at") > watermark)
        if landed.isEmpty():
            return
    newest_first = Window.partitionBy("order_id").orderBy(F.col("updated_at").desc())
    newest = landed.withColumn("rank", F.row_number().over(newest_first)).where("rank = 1").select(*COLUMNS)
    if exists:
        key = "known.order_id = new.order_id and known.order_date = new.order_date"
        merge = DeltaTable.forName(spark, orders).alias("known").merge(newest.alias("new"), key)
        merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
    else:
        _overwrite(newest, orders, "order_date")
    known = spark.table(orders)
    _overwrite(
        known.groupBy("order_date").agg(
            F.count("*").alias("orders"),
            F.countDistinct("customer_id").alias("customers"),
            F.sum("quantity").alias("quantity"),
            F.sum("amount").alias("amount"),
        ),
        f"{gold}.daily_sales",
    )
    _overwrite(
        known.groupBy("customer_id").agg(
            F.count("*").alias("orders"),
            F.sum("quantity").alias("quantity"),
            F.sum("amount").alias("amount"),
            F.min("order_date").alias("first_order_date"),
            F.max("order_date").alias("last_order_date"),
        ),
        f"{gold}.customer_sales",
    )


def _overwrite(rows: DataFrame, table: str, *partitions: str) -> None:
    writer = rows.write.format("delta").mode("overwrite").option("optimizeWrite", "true")
    writer.partitionBy(*partitions).saveAsTable(table)
