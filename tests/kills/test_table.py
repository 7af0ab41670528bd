"""R3.2: landings from PostgreSQL are killed; each version of a row is in bronze once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from dev.servers.postgresql import Postgres, postgres
from tests.kills.chain import QUICK
from tests.kills.points import BRONZE, Point
from tests.kills.reader import Reader
from tests.night import is_night

pytestmark = pytest.mark.R3
PATIENCE = 600
BATCHES = "python_ingest.ops.ingested_batches:Batches."
POINTS = (
    Point("planned", "after", call=BATCHES + "plan", nightly=True),
    Point("half written", "writing", call=BRONZE + "append", table="bronze.orders", nightly=True),
    Point("written but not confirmed", "before", call=BATCHES + "confirm"),
)
LAND = "from tidemark.cli.land import land; land(['orders']);"
KILLED = (
    "from pathlib import Path; from tests.kills.killed_run import plant; from tests.kills.points import *;"
    "plant({!r}, Path({!r}));"
)
ORDERS = (
    "create table orders (order_id bigint primary key, customer_id bigint, product_name text, quantity int, "
    "price numeric(10,2), order_date date, updated_at timestamptz not null, channel text)",
    "insert into orders select i, i % 7, 'tea', 1, i / 100.0, '2025-01-01', "
    "'2025-01-01'::timestamptz + i / 500 * interval '1 second' from generate_series(1, 10000) as i",
)
CHANGE = (
    "update orders set quantity = quantity + 1, updated_at = '2025-02-01'::timestamptz + "
    "quantity * interval '1 day' where order_id % 3 = 0"
)
HERE = "unix_micros(newest.updated_at)"
THERE = "order_id, quantity, price, cast(extract(epoch from updated_at) * 1000000 as bigint)"


@pytest.fixture
def server() -> Iterator[Postgres]:
    with postgres() as started:
        yield started


def test_killed_landings_of_a_table(spark: SparkSession, server: Postgres, tmp_path: Path) -> None:
    """R3.2: after each kill the rows change; the last landing has them as the database does."""
    url = server.create_database("shop")
    reader = Reader(tmp_path, **QUICK, TIDEMARK_CONNECTION_SHOP=url)
    with server.connect("shop") as shop:
        for statement in ORDERS:
            shop.execute(statement.encode())
        points = [point for point in POINTS if is_night("kill points") or not point.nightly]
        for point in points:
            process = reader.start(KILLED.format(point, str(tmp_path / "reached")) + LAND)
            output, _ = process.communicate(timeout=PATIENCE)
            assert process.returncode == -signal.SIGKILL, output[-3000:]
            shop.execute(CHANGE.encode())
        done = reader.start(LAND)
        output, _ = done.communicate(timeout=PATIENCE)
        assert done.returncode == 0, output[-3000:]
        there = set(shop.execute(f"select {THERE} from orders".encode()).fetchall())
    bronze = reader.table(spark, "bronze.db/orders")
    versions = bronze.selectExpr("count(*)", "count(distinct order_id, quantity)").first()
    assert versions is not None
    assert versions[0] == versions[1]
    row, order = f.struct("quantity", "price", "updated_at"), f.struct("_batch_id", "_row_number")
    newest = bronze.groupBy("order_id").agg(f.max_by(row, order).alias("newest"))
    found = newest.selectExpr("order_id", "newest.quantity", "newest.price", HERE).collect()
    assert {tuple(row) for row in found} == there
    states = reader.table(spark, "ops.db/ingested_batches").orderBy("_sequence").select("state", "batch_id")
    ends = {len(points): "landed", len(points) + 1: "landed"}  # what was killed before is planned anew
    assert [tuple(row) for row in states.collect()] == [
        (state, number)
        for number in range(1, len(points) + 2)
        for state in ("planned", ends.get(number, "abandoned"))
    ]
