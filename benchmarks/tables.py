"""Landing from PostgreSQL: a first load compared with a plain copy, and increments at several table sizes."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

import psycopg
from pyspark.sql import SparkSession

from benchmarks.pairs import BATCH, MEGABYTE, STATE, compared, console, feed_of
from benchmarks.report import markdown_table, spread
from dev.servers.postgresql import Postgres
from python_ingest.feeds.declarations import TableFeed
from python_ingest.postgresql.landing import TableLander
from python_ingest.postgresql.reading import FETCH_ROWS, PART_ROWS, Reading
from python_ingest.postgresql.source import Source
from python_ingest.postgresql.window import Window
from tidemark.base.connections import connection
from tidemark.base.databases import jdbc

CHANGED = 10_000
WINDOW = "1 day"
ORDERS = {
    "order_id": "bigint", "customer_id": "bigint", "product_name": "string", "quantity": "int",
    "price": "decimal(10,2)", "order_date": "date", "address": "string", "note": "string",
    "updated_at": "timestamp",
}  # fmt: skip
CREATE = (  # a year of orders; the newest is an hour old
    "create table {0} as select i as order_id, i * 7919 % 1000003 as customer_id, "
    "'Product ' || i % 1000 as product_name, (i % 50)::int as quantity, "
    "(i % 100000 / 100.0)::numeric(10,2) as price, "
    "date '2025-01-01' + (i * 365 / {1})::int as order_date, 'Street ' || i % 900 || ', Bonn' as address, "
    "md5(i::text) || md5((i + 1)::text) as note, "
    "clock_timestamp() - interval '1 hour' - interval '365 days' * (({1} - i)::float8 / {1}) as updated_at "
    "from generate_series(1::bigint, {1}) as i",
    "alter table {0} set (autovacuum_enabled = off), add primary key (order_id)",
    "create index on {0} (updated_at)",
    "vacuum analyze {0}",
)
CHANGE = (  # rows throughout the table; they become the newest
    "update {0} set quantity = quantity + 1, updated_at = clock_timestamp() - interval '1 minute' "
    "where order_id % {1} = {2}"
)
STEPS = {
    **STATE,
    "columns of the source": (Reading, "resolve"),
    "rows without cursor": (Window, "without_cursor"),
    "ends of slices": (Window, "_at"),
    "rows of slices, and their keys": (Source, "extent"),
    **BATCH,
}


def first_load(spark: SparkSession, server: Postgres, rows: int, repetitions: int) -> list[str]:
    """Compare the first load of a table with a plain copy, and return the report's lines."""
    with server.connect("shop") as shop:
        _make(shop, "orders", rows)
        found: Any = shop.execute("select sum(octet_length(o::text)) from orders as o").fetchone()
    url, properties = jdbc(connection("shop", "postgresql"))
    properties["fetchsize"] = FETCH_ROWS
    parts = max(1, min(2 * spark.sparkContext.defaultParallelism, rows // PART_ROWS))

    def plain() -> None:
        read = spark.read.jdbc(url, "orders", "order_id", 1, rows + 1, parts, properties=properties)
        read.write.format("delta").saveAsTable("plain.copied")

    def ours(name: str) -> None:
        _land(spark, _feed(name, "orders", "all"))

    pairs = compared(spark, f"table_{rows}", plain, ours, steps=STEPS, repetitions=repetitions)
    with server.connect("shop") as shop:
        shop.execute("drop table orders")
    size = int(found[0]) / MEGABYTE
    return [
        "## PostgreSQL, a first load",
        "",
        f"{len(ORDERS)} columns; MB are those of the rows as PostgreSQL writes them as text. The plain copy",
        f"is `spark.read.jdbc` by {parts} ranges of the key, with the same fetchsize of {FETCH_ROWS}, and",
        "`saveAsTable`.",
        "",
        *pairs.report(f"{rows:,} rows, {size:,.0f} MB", "MB/s", size),
    ]


def increments(spark: SparkSession, server: Postgres, sizes: Sequence[int], repetitions: int) -> list[str]:
    """Land the same increment in tables of several sizes, and return the report's lines."""
    seconds: dict[tuple[int, int], list[float]] = {}
    plans: list[list[str]] = []
    with server.connect("shop") as shop:
        for size in sizes:
            _make(shop, f"orders_{size}", size)
            _land(spark, _feed(f"grown_{size}", f"orders_{size}", WINDOW))
        for number in range(repetitions + 1):
            for size in sizes:
                feed = _feed(f"grown_{size}", f"orders_{size}", WINDOW)
                _change(shop, f"orders_{size}", size, number)
                if number == repetitions:  # not measured, because plans are logged
                    queries = _explained(shop, server, partial(_land, spark, feed))
                    plans += [[f"{size:,}", *query] for query in queries]
                    continue
                for new in (CHANGED, 0):
                    started = time.monotonic()
                    landed = _land(spark, feed)
                    seconds.setdefault((size, new), []).append(time.monotonic() - started)
                    if landed != new:
                        raise AssertionError(f"{landed} rows of {size} landed, not {new}")
                shown = [f"{seconds[size, new][-1]:.1f} s" for new in (CHANGED, 0)]
                console.print(f"  {size:,}: increment {shown[0]}, nothing new {shown[1]}")
    growth = median(seconds[sizes[-1], CHANGED]) / median(seconds[sizes[0], CHANGED])
    scanned = sorted({plan[0] for plan in plans if "Seq Scan" in plan[2]})
    return [
        "## PostgreSQL, an increment",
        "",
        f"{CHANGED:,} rows all over the table changed; `updated_at` is indexed. Of the history the first",
        "landing took the newest day (`first_window`): what counts is to find the increment among all rows.",
        "",
        *markdown_table(
            ["rows of the table", "increment s", "nothing new s"],
            [[f"{n:,}", spread(seconds[n, CHANGED]), spread(seconds[n, 0])] for n in sizes],
        ),
        "",
        f"Asked: it does not grow with the table. Measured: {growth:.2f} times the seconds at "
        f"{sizes[-1] / sizes[0]:g} times the rows.",
        f"Tables that a query read whole, by rows: {', '.join(scanned) or 'none'}.",
        "",
        "Queries of one more landing of each, their plans as `auto_explain` logged them:",
        "",
        *markdown_table(["rows", "ms", "plan", "query"], plans),
    ]


def _feed(name: str, table: str, first_window: str) -> TableFeed:
    block = {"connector": "postgresql", "connection": "shop", "key": "order_id", "cursor": "updated_at"}
    feed: TableFeed = feed_of(name, ORDERS, table=f"public.{table}", first_window=first_window, **block)
    return feed


def _make(shop: psycopg.Connection[Any], table: str, rows: int) -> None:
    for statement in CREATE:
        shop.execute(statement.format(table, rows).encode())


def _change(shop: psycopg.Connection[Any], table: str, rows: int, number: int) -> None:
    spacing = max(1, rows // CHANGED)
    shop.execute(CHANGE.format(table, spacing, number % spacing).encode())


def _land(spark: SparkSession, feed: TableFeed) -> int:
    return TableLander(spark, feed, f"{feed.name}_ops").land().rows


def _explained(
    shop: psycopg.Connection[Any], server: Postgres, work: Callable[[], object]
) -> list[list[str]]:
    """Return the milliseconds, plan and beginning of each query on the shop's tables while `work` runs."""
    settings = {"session_preload_libraries": "auto_explain"}
    settings |= {"auto_explain.log_min_duration": "0", "auto_explain.log_format": "json"}
    settings["auto_explain.log_analyze"] = "on"  # shows which nodes were never executed
    for name, value in settings.items():
        shop.execute(f"alter database shop set {name} = '{value}'".encode())
    log = server.folder / "log"
    before = log.stat().st_size
    work()
    shop.execute("alter database shop reset all")
    found = []
    logged = log.read_bytes()[before:].decode()
    for milliseconds, text in re.findall(r"duration: ([\d.]+) ms  plan:\n((?:\t.*\n)+)", logged):
        plan = json.loads(text)
        nodes = _nodes(plan["Plan"])
        if any(table.startswith("orders_") for _, table in nodes):
            query = re.sub(r"\s+|cast\(|\"", " ", plan["Query Text"])
            shown = " < ".join(name for name, _ in nodes)
            found.append([f"{float(milliseconds):.1f}", shown, f"`{' '.join(query.split())[:60]}`"])
    return found


def _nodes(plan: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the executed nodes of a plan, each with its table."""
    if not plan["Actual Loops"]:
        return []
    name = " ".join(filter(None, (plan["Node Type"], plan.get("Index Name"))))
    inner = [node for part in plan.get("Plans", ()) for node in _nodes(part)]
    return [(name, plan.get("Relation Name", "")), *inner]
