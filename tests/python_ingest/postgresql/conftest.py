"""A PostgreSQL server; each test has a database of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from pyspark.sql import SparkSession

from dev.servers.postgresql import Postgres, postgres
from python_ingest.feeds.declarations import TableFeed, feeds_of
from python_ingest.postgresql.landing import TableLander
from python_ingest.postgresql.outcome import LandedTable
from tests.conftest import latest_version

ORDERS = {
    "order_id": "bigint",
    "customer_id": "bigint",
    "product_name": "string",
    "quantity": "int",
    "price": "decimal(10,2)",
    "order_date": "date",
    "updated_at": "timestamp",
}
CREATE_ORDERS = (
    "create table orders (order_id bigint primary key, customer_id bigint, product_name text, quantity int, "
    "price numeric(10,2), order_date date, updated_at timestamptz not null)"
)


@pytest.fixture(scope="session")
def server() -> Iterator[Postgres]:
    with postgres() as started:
        yield started


@dataclass
class Source:
    """A feed `orders` from a table in a database of its own.

    Attributes:
        database: its name.
        sql: a connection to it; each statement is a transaction.
    """

    spark: SparkSession
    server: Postgres
    database: str
    sql: psycopg.Connection[Any]
    feed: TableFeed
    ops_schema: str

    def land(self, *, compares_all: bool = False) -> LandedTable:
        return TableLander(self.spark, self.feed, self.ops_schema, compares_all=compares_all).land()

    def order(
        self, order_id: int, updated_at: str, quantity: int = 1, order_date: str = "2025-01-01"
    ) -> None:
        """Insert an order, or change it."""
        self.sql.execute(
            "insert into orders values (%s, 1, 'tea', %s, 9.50, %s, %s) "
            "on conflict (order_id) do update set "
            "quantity = excluded.quantity, order_date = excluded.order_date, "
            "updated_at = excluded.updated_at",
            [order_id, quantity, order_date, updated_at],
        )

    def bronze(self, *columns: str) -> list[tuple[Any, ...]]:
        """Bronze's rows in the order of key and landing."""
        table = self.spark.table(self.feed.table).orderBy(*self.feed.external.key, "_batch_id", "_row_number")
        return [tuple(row) for row in table.selectExpr(*columns).collect()]

    def newest(self, *columns: str) -> list[tuple[Any, ...]]:
        """The newest version of each key that is not deleted, in the order of the keys."""
        keys = ", ".join(self.feed.external.key)
        ranked = self.spark.table(self.feed.table).selectExpr(
            "*",
            f"row_number() over (partition by {keys} order by _batch_id desc, _row_number desc) as newest",
        )
        newest = ranked.where("newest = 1 and not _is_deleted").orderBy(*self.feed.external.key)
        return [tuple(row) for row in newest.selectExpr(*columns).collect()]

    def there(self, *columns: str) -> list[tuple[Any, ...]]:
        """The table's rows as the database has them, in the order of the keys."""
        keys = ", ".join(self.feed.external.key)
        return self.sql.execute(f"select {', '.join(columns)} from orders order by {keys}").fetchall()

    def states(self) -> list[tuple[Any, ...]]:
        batches = self.spark.table(f"{self.ops_schema}.ingested_batches").orderBy("_sequence")
        return [tuple(row) for row in batches.select("state", "batch_id", "row_count").collect()]

    def mark(self) -> Any:
        if not self.spark.catalog.tableExists(f"{self.ops_schema}.ingested_batches"):
            return None
        landed = self.spark.table(f"{self.ops_schema}.ingested_batches").where(
            "state in ('landed', 'checked')"
        )
        row: Any = landed.orderBy("_sequence", ascending=False).first()
        return row["mark"] if row else None

    def version(self) -> int:
        return latest_version(self.spark, self.feed.table)


MakeSource = Callable[..., Source]


@pytest.fixture
def make_source(
    spark: SparkSession, server: Postgres, prefix: str, table_format: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MakeSource]:
    """Make a database and declare a feed of its table `orders`."""
    opened: list[psycopg.Connection[Any]] = []

    def make(
        *statements: str,
        columns: dict[str, str] | None = None,
        meta: dict[str, str] | None = None,
        **external: Any,
    ) -> Source:
        monkeypatch.setenv("TIDEMARK_CONNECTION_SHOP", server.create_database(f"shop_{prefix}"))
        connection = server.connect(f"shop_{prefix}")
        opened.append(connection)
        for statement in statements or (CREATE_ORDERS,):
            connection.execute(statement)
        block = {"connector": "postgresql", "connection": "shop", "key": "order_id", "cursor": "updated_at"}
        source = {} if "query" in external else {"table": "public.orders"}
        node = {
            "name": "orders",
            "schema": f"{prefix}_bronze",
            "original_file_path": "models/bronze/_bronze__sources.yml",
            "external": {**block, "first_window": "all", **source, **external},
            "columns": {name: {"name": name, "data_type": of} for name, of in (columns or ORDERS).items()},
        }
        feed = feeds_of([node])["orders"]
        assert isinstance(feed, TableFeed)
        return Source(spark, server, f"shop_{prefix}", connection, feed, f"{prefix}_ops")

    yield make
    for connection in opened:
        connection.close()
