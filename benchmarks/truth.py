"""Recompute the tables from bronze with plain SQL, and count the rows that differ in a project's tables."""

from __future__ import annotations

from pyspark.sql import SparkSession

from benchmarks.orders import Orders

ORDERS = ("order_id", "customer_id", "order_date", "quantity", "amount", "updated_at")
DAILY = ("order_date", "orders", "customers", "quantity", "amount")
CUSTOMERS = ("customer_id", "orders", "quantity", "amount", "first_order_date", "last_order_date")
TABLES = ("silver.orders", "gold.daily_sales", "gold.customer_sales")


def differing_rows(orders: Orders, prefix: str) -> int:
    """Count the extra and missing rows of a project's tables.

    The gold tables are recomputed from silver, and silver is compared with bronze.

    Args:
        orders: the bronze table.
        prefix: the project's schema prefix.
    """
    silver = f"{prefix}_silver.orders"
    newest = f"""
        select {", ".join(ORDERS)}
        from (
            select
                *,
                row_number() over (partition by order_id order by updated_at desc) as newest_rank
            from {orders.table}
        )
        where newest_rank = 1
    """
    daily = f"""
        select
            order_date, count(*) as orders, count(distinct customer_id) as customers,
            sum(quantity) as quantity, sum(amount) as amount
        from {silver}
        group by order_date
    """
    customers = f"""
        select
            customer_id, count(*) as orders, sum(quantity) as quantity, sum(amount) as amount,
            min(order_date) as first_order_date, max(order_date) as last_order_date
        from {silver}
        group by customer_id
    """
    return sum(
        _differing(orders.spark, truth, table, columns)
        for truth, table, columns in (
            (newest, silver, ORDERS),
            (daily, f"{prefix}_gold.daily_sales", DAILY),
            (customers, f"{prefix}_gold.customer_sales", CUSTOMERS),
        )
    )


def _differing(spark: SparkSession, truth: str, table: str, columns: tuple[str, ...]) -> int:
    """Count the rows of each side that the other side does not have; each row counts +1 or -1."""
    listed = ", ".join(columns)
    counted = spark.sql(
        f"""
        select coalesce(sum(abs(balance)), 0)
        from (
            select {listed}, sum(side) as balance
            from (
                select {listed}, 1 as side from ({truth})
                union all
                select {listed}, -1 as side from {table}
            )
            group by {listed}
        )
        """
    ).collect()
    return int(counted[0][0])
