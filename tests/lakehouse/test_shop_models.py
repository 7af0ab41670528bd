"""R3: the shop's models follow a database in steps; after each, gold is what the database says itself."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import psycopg
import pytest
from pyspark.sql import SparkSession

from dev.servers.postgresql import Postgres, postgres
from dev.simulators.shop import shop_days
from dev.simulators.targets import PostgresTarget
from tests.conftest import ONLY_TABLES, Lakehouse
from tidemark.base.connections import connection
from tidemark.cli.build import build_models
from tidemark.cli.landing import land
from tidemark.engine.verify.verify import verify
from tidemark.project_with_feeds import ProjectWithFeeds

pytestmark = [pytest.mark.R2, pytest.mark.R3]
DAYS, STEP, ROWS, START = 8, 4, 100, date(2025, 3, 26)  # clocks are put forward in Berlin on 2025-03-30
FEEDS = ("customers", "orders")
TOTALS = "count(*), sum(quantity), sum(quantity * price)"
TOLD = "coalesce(to_jsonb(orders) ->> 'channel', 'unknown')"  # the column is not there from the beginning
SOUND = f"(select *, {TOLD} as told from orders where quantity > 0)"
THERE = {
    "daily_product_sales": f"select order_date, product_name, {TOTALS}, max(price) "
    f"from {SOUND} as orders group by 1, 2",
    "daily_channel_sales": f"select order_date, told, {TOTALS} from {SOUND} as orders group by 1, 2",
    "customer_orders": f"select customer_id, {TOTALS}, min(order_date), max(order_date) "
    f"from {SOUND} as orders group by 1",
    "customer_value": "select customer_id, name, cast(created_at at time zone 'UTC' as date), "
    "count(order_id), coalesce(sum(quantity * price), 0), round(avg(quantity * price), 2), "
    "min(order_date), max(order_date) "
    f"from customers left join {SOUND} as orders using (customer_id) group by 1, 2, 3",
}
MODELS = [*FEEDS, *(f"rejected_{feed}" for feed in FEEDS), "customer_history", "products", *THERE]
# What else happens before each step: two orders break a rule, then one is mended and one deleted.
BESIDES = (
    [
        f"insert into orders select {number}, customer_id, 'Lamp, oak', {quantity}, 1, '{START}', '{START}' "
        "from orders order by order_id limit 1"
        for number, quantity in ((900001, 0), (900002, -1))
    ],
    [
        "update orders set quantity = 3, updated_at = updated_at + interval '1 day' where order_id = 900001",
        "delete from orders where order_id = 900002",
    ],
)


class Shop:
    """The shop's models on schemas of their own, beside the database."""

    def __init__(self, spark: SparkSession, database: psycopg.Connection[Any], lakehouse: Lakehouse) -> None:
        self.spark, self.database, self.lakehouse = spark, database, lakehouse
        self.message: dict[str, str] = {}
        self.wrong: list[str] = []

    def build(self, *options: str) -> None:
        lakehouse = ProjectWithFeeds.load()
        land(self.spark, lakehouse, [lakehouse.feeds[name] for name in FEEDS])
        models = (f"source:bronze.{name}+" for name in FEEDS)
        built = build_models(("--select", *models, *options), lakehouse)
        assert built.warned == []
        self.message = {table.table.removeprefix("shop_"): table.message for table in built.tables}

    def differing(self, model: str) -> list[Any]:
        """The rows that gold or the database has alone."""
        there = self.database.execute(THERE[model].encode()).fetchall()
        here = [tuple(row) for row in self.lakehouse.table(f"gold.{model}").collect()]
        assert len(there) == len(here) > 0
        return sorted(set(there) ^ set(here), key=str)


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with postgres() as started:
        yield started


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, server: Postgres) -> None:
    monkeypatch.setenv("TIDEMARK_SCHEMA", "shop")
    monkeypatch.setenv("TIDEMARK_CONNECTION_SHOP", server.url("shop"))


@pytest.fixture(scope="module")
def shop(spark: SparkSession, server: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Eight days, landed and built every four of them; `wrong` is what differed after each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEMARK_SCHEMA", "shop")
        patch.setenv("TIDEMARK_CONNECTION_SHOP", server.create_database("shop"))
        database = server.connect("shop")
        shop = Shop(spark, database, Lakehouse(spark, tmp_path_factory.mktemp("raw"), "shop"))
        days = list(shop_days(START, DAYS, ROWS, 5))
        with PostgresTarget(connection("shop", "postgresql")) as target:
            for number, besides in enumerate(BESIDES):
                for day in days[number * STEP :][:STEP]:
                    target.apply(day.operations)
                for statement in besides:
                    database.execute(statement.encode())
                shop.build(*([] if besides is BESIDES[-1] else ONLY_TABLES))
                for model in THERE:
                    shop.wrong += [f"step {number}, {model}: {row}" for row in shop.differing(model)]
        yield shop
        database.close()


def test_gold_equals_the_query_in_the_database(shop: Shop) -> None:
    """R3.1, R2.2: with late updates, deletes, a new column, other customers' names; after every step."""
    assert shop.wrong == []
    kept = shop.lakehouse.table("silver.orders").where("_is_deleted").count()
    assert kept >= DAYS // 2


def test_an_order_that_breaks_a_rule_waits_for_its_correction(shop: Shop) -> None:
    """R3.1: it is set aside with the reason; corrected it counts, and deleted it stays away."""
    rejected = shop.lakehouse.table("silver.rejected_orders").selectExpr(
        "get_json_object(raw_record, '$.order_id')", "rejection_reason"
    )
    reason = "quantity is not positive"
    assert sorted(map(tuple, rejected.collect())) == [("900001", reason), ("900002", reason)]
    orders = (
        shop.lakehouse.table("silver.orders").where("order_id > 900000").select("quantity", "_is_deleted")
    )
    assert sorted(map(tuple, orders.collect())) == [(-1, True), (3, False)]


def test_snapshots_and_the_history_keep_what_was(shop: Shop) -> None:
    """R2.2: slowly changing dimensions: each state that a run found, each version that was read."""
    snapshot = shop.lakehouse.table("snapshots.customers_snapshot")
    there = shop.database.execute("select customer_id, name, email from customers").fetchall()
    current = snapshot.where("dbt_valid_to is null").select("customer_id", "name", "email").collect()
    assert sorted(map(tuple, current)) == sorted(there)
    living = {row[0] for row in there}
    ended = {
        row["customer_id"]
        for row in snapshot.groupBy("customer_id").agg({"dbt_valid_to": "count", "*": "count"}).collect()
        if row["count(dbt_valid_to)"] == row["count(1)"]
    }
    assert ended, "customers were deleted"
    assert ended & living == set()
    states = [(row["customer_id"], row["name"], row["email"]) for row in snapshot.collect()]
    history = shop.lakehouse.table("silver.customer_history").where("not is_deleted")
    versions = [(row["customer_id"], row["name"], row["email"]) for row in history.collect()]
    assert set(states) <= set(versions)
    assert len(states) > len(living) + len(ended), "customers were changed"
    gone = shop.lakehouse.table("silver.customer_history").where("is_current and is_deleted")
    assert {row["customer_id"] for row in gone.collect()} >= ended
    prices = shop.lakehouse.table("snapshots.products_snapshot")
    assert prices.groupBy("product_name").count().where("count > 1").count() > 0
    assert prices.where("dbt_valid_to < dbt_valid_from").count() == 0
    present = prices.where("dbt_valid_to is null").select("product_name", "price").collect()
    products = shop.lakehouse.table("gold.products").select("product_name", "price").collect()
    assert sorted(present) == sorted(products), "one open row each"


@pytest.mark.usefixtures("here")
def test_shop_tables_equal_a_rebuild(shop: Shop) -> None:
    """R2.2: after all steps every table is what bronze gives anew."""
    verdicts = list(verify(shop.spark, MODELS))
    assert [verdict.table for verdict in verdicts if not verdict.holds] == []
    assert len(verdicts) == len(MODELS)


@pytest.mark.usefixtures("here")
def test_a_late_update_touches_its_day_alone(shop: Shop) -> None:
    """R3.1: one that does not move updated_at, of a recent order; then nothing new writes nothing."""
    shop.database.execute(
        b"update orders set quantity = quantity + 1 where order_id = (select max(order_id) from orders "
        b"where order_id < 900000 and order_date < (select max(order_date) from orders))"
    )
    shop.build()
    models = {name: message for name, message in shop.message.items() if not name.startswith("snapshots.")}
    assert {name: message for name, message in models.items() if message != "no change"} == {
        "silver.orders": "1 updated",
        "gold.daily_product_sales": "1 updated",
        "gold.products": "1 updated",
        "gold.daily_channel_sales": "1 updated",
        "gold.customer_orders": "1 updated",
        "gold.customer_value": "1 updated",
    }
    assert [shop.differing(model) for model in THERE] == [[]] * len(THERE)
    before = shop.lakehouse.versions("bronze", "silver", "gold", "snapshots")
    shop.build()
    assert shop.lakehouse.versions("bronze", "silver", "gold", "snapshots") == before
