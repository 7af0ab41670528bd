"""R3: a live shop is followed for eight days; bronze, silver and gold equal the database's own answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import date
from typing import Any

import psycopg
import pytest
from pyspark.sql import SparkSession

from dev.servers.postgresql import Postgres, postgres
from dev.simulators.shop import shop_days
from dev.simulators.targets import PostgresTarget
from python_ingest.feeds.declarations import TableFeed
from python_ingest.postgresql.landing import TableLander
from python_ingest.postgresql.outcome import LandedTable
from tests.night import is_night
from tidemark.base.connections import connection
from tidemark.cli.build import DATA_ONLY, build_models
from tidemark.project_with_feeds import ProjectWithFeeds

pytestmark = [pytest.mark.R3, pytest.mark.R2]
DAYS = 20 if is_night("shop") else 8
ROWS, START = 200, date(2025, 3, 26)  # clocks are put forward in Berlin on 2025-03-30
COLUMNS = {
    "customers": "customer_id, name, email, {created_at}, {updated_at}",
    "orders": "order_id, customer_id, product_name, quantity, price, order_date, {channel}, {updated_at}",
}
TIMES = ("created_at", "updated_at")
CHANNEL = {"channel": "coalesce(channel,'unknown')"}
HERE = CHANNEL | {name: f"unix_micros({name})" for name in TIMES}
THERE = CHANNEL | {name: f"cast(extract(epoch from {name}) * 1000000 as bigint)" for name in TIMES}


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with postgres() as started:
        yield started


class Shop:
    """The shop's models on schemas of their own, beside its database."""

    def __init__(self, spark: SparkSession, prefix: str, server: Postgres) -> None:
        self.spark, self.prefix = spark, prefix
        self.database: psycopg.Connection[Any] = server.connect(f"shop_{prefix}")
        feeds = (ProjectWithFeeds.load().feeds[table] for table in COLUMNS)
        self.feeds = [feed for feed in feeds if isinstance(feed, TableFeed)]

    def land(self) -> list[LandedTable]:
        return [TableLander(self.spark, feed, f"{self.prefix}_ops").land() for feed in self.feeds]

    def build(self) -> None:
        build_models(("--select", *COLUMNS, "daily_product_sales", *DATA_ONLY))

    def differing(self, table: str) -> list[Any]:
        """The rows of one side alone: of bronze's newest, of silver, and of the database."""
        there = self.database.execute(f"select {COLUMNS[table].format(**THERE)} from {table}").fetchall()
        key, columns = COLUMNS[table].split(",")[0], COLUMNS[table].format(**HERE)
        ranked = self.spark.table(f"{self.prefix}_bronze.{table}").selectExpr(
            "*",
            f"row_number() over (partition by {key} order by _batch_id desc, _row_number desc) as newest",
        )
        bronze = ranked.where("newest = 1 and not _is_deleted").selectExpr(*_split(columns)).collect()
        silver = self.spark.table(f"{self.prefix}_silver.{table}").where("not _is_deleted")
        sides = [
            set(there),
            {tuple(r) for r in bronze},
            {tuple(r) for r in silver.selectExpr(*_split(columns)).collect()},
        ]
        assert [len(side) for side in sides] == [len(there)] * 3
        return sorted((sides[1] ^ sides[0]) | (sides[2] ^ sides[0]), key=str)


def _split(columns: str) -> list[str]:
    return [column.strip() for column in columns.split(", ")]


@pytest.fixture
def shop(spark: SparkSession, prefix: str, server: Postgres, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    monkeypatch.setenv("TIDEMARK_CONNECTION_SHOP", server.create_database(f"shop_{prefix}"))
    return Shop(spark, prefix, server)


def test_days_of_a_live_shop(shop: Shop, server: Postgres) -> None:
    """R3.1, R3.2, R3.6: late updates, deletes, ties, skewed clocks, a new column, a late commit."""
    target = PostgresTarget(connection("shop", "postgresql"))
    days = list(shop_days(START, DAYS, ROWS, 7))
    target.apply(days[0].operations)
    shop.land()
    shop.build()
    late = server.connect(f"shop_{shop.prefix}", autocommit=False)
    late.execute("update orders set quantity = 77, updated_at = updated_at where order_id in (1, 2, 3)")
    failed: list[BaseException] = []

    def live() -> None:
        try:
            for day in days[1:]:
                if day.date.toordinal() % 2 == 0:
                    landed.wait(600)  # a landing is under way now
                    landed.clear()
                if day == days[DAYS // 2]:  # when a column is added, which waits for all transactions
                    late.commit()
                target.apply([one for one in day.operations if one.key > 3 or one.table != "orders"])
        except BaseException as error:
            failed.append(error)

    landed = threading.Event()
    simulator = threading.Thread(target=live)
    simulator.start()
    landings = 0
    while simulator.is_alive():
        landed.set()
        shop.land()
        landings += 1
        if landings == 3:
            shop.build()
    simulator.join()
    assert failed == []
    assert landings >= DAYS // 4
    shop.land()
    shop.build()
    assert {table: shop.differing(table) for table in COLUMNS} == {"customers": [], "orders": []}
    there = shop.database.execute(
        "select order_date, count(*), sum(quantity), sum(quantity * price) from orders group by 1 order by 1"
    )
    gold = shop.spark.sql(
        "select order_date, sum(order_count), sum(quantity), sum(amount) "
        f"from {shop.prefix}_gold.daily_product_sales group by all order by order_date"
    )
    assert [tuple(row) for row in gold.collect()] == there.fetchall()
    assert shop.database.execute("select count(*) from orders where quantity = 77").fetchall()[0][0] > 0
    assert [outcome.rows + outcome.deleted for outcome in shop.land()] == [0, 0]
    target.close()
