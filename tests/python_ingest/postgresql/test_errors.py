"""R3.4: what goes wrong is told in a sentence, the mark stays, and the next landing completes."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest

from python_ingest.bronze.table import BronzeTable
from python_ingest.postgresql import reading
from tests.python_ingest.postgresql.conftest import MakeSource, Source
from tidemark.base.errors import LandingError, TidemarkError

pytestmark = [pytest.mark.R3, pytest.mark.formats(day="iceberg", night="delta iceberg")]


def stops(source: Source, message: str) -> LandingError:
    """Land and expect an error; the mark must not move."""
    before = source.mark()
    with pytest.raises(LandingError, match=message) as caught:
        source.land()
    assert source.mark() == before
    assert source.server.password not in str(caught.value)
    return caught.value


def test_a_failed_connection_is_reported_without_its_password(
    make_source: MakeSource, monkeypatch: Any
) -> None:
    """R3.7: not set, not a URL, wrong password, no such database, no server."""
    source = make_source()
    good = source.server.url(source.database)
    variable = "TIDEMARK_CONNECTION_SHOP"
    for url, message in (
        (
            source.server.url(source.database, password="wrong"),  # noqa: S106
            "password authentication failed.*[\n].*Correct the user or",
        ),
        (source.server.url("nothing"), 'database "nothing" does not exist'),
        (re.sub(r":\d+/", ":1/", good), "Connection refused"),
    ):
        monkeypatch.setenv(variable, url)
        stops(source, message)
    for url in ("", "http://shop", "postgresql://shop", "not a url"):
        monkeypatch.setenv(variable, url)
        with pytest.raises(TidemarkError, match=f"(?s){variable}.*postgresql://USER:PASSWORD@HOST"):
            source.land()
    monkeypatch.setenv(variable, good)
    assert source.land().rows == 0


def test_columns_follow_the_contract(make_source: MakeSource) -> None:
    """R3.4: a new column appears, a type widens; a dropped column, a type that cannot, stop."""
    source = make_source()
    source.order(1, "2025-01-01 10:00+00")
    source.land()
    source.sql.execute("alter table orders add column channel text")
    source.sql.execute("alter table orders alter column quantity type bigint")
    source.sql.execute(
        "insert into orders values (2, 1, 'tea', 5000000000, 1, '2025-01-02', '2025-01-02', 'web')"
    )
    assert source.land().evolved == ["quantity", "channel"]
    assert source.bronze("order_id", "quantity", "channel") == [(1, 1, None), (2, 5_000_000_000, "web")]
    source.sql.execute("alter table orders alter column product_name type int using length(product_name)")
    source.sql.execute("alter table orders alter column quantity type text")
    stops(source, "quantity is string, not bigint; bronze cannot be widened to it")
    source.sql.execute("alter table orders alter column quantity type bigint using quantity::bigint")
    source.sql.execute("alter table orders rename column price to cost")
    stops(source, "contract sets missing_column: fail")
    source.sql.execute("alter table orders rename column cost to price")
    source.sql.execute("insert into orders values (3, 1, 3, 1, 1, '2025-01-03', '2025-01-03', null)")
    assert source.land().rows == 1


def test_a_missing_or_forbidden_table_stops_the_landing(make_source: MakeSource, monkeypatch: Any) -> None:
    """R3.4: revoked, dropped, a key that is not there."""
    source = make_source()
    source.order(1, "2025-01-01 10:00+00")
    source.sql.execute("drop role if exists reader")
    source.sql.execute("create role reader login password 'reader-password'")
    source.sql.execute("grant select on orders to reader")
    url = source.server.url(source.database, "reader", "reader-password")
    monkeypatch.setenv("TIDEMARK_CONNECTION_SHOP", url)
    assert source.land().rows == 1
    source.sql.execute("revoke select on orders from reader")
    source.order(2, "2025-01-02 10:00+00")
    assert "Grant SELECT" in stops(source, "permission denied for table orders").fix
    source.sql.execute("grant select on orders to reader")
    assert source.land().rows == 1
    source.sql.execute("alter table orders rename to kept")
    stops(source, 'relation "public.orders" does not exist')
    source.sql.execute("alter table kept rename to orders")
    source.sql.execute("alter table orders rename column updated_at to changed_at")
    stops(source, "public.orders has no column updated_at .it has order_id, customer_id")


def test_a_server_that_goes_away_in_mid_read(make_source: MakeSource, monkeypatch: Any) -> None:
    """R3.2: what landed stays, the mark is that of the last batch, and the next landing brings the rest."""
    source = make_source(max_rows=20_000)
    monkeypatch.setattr(reading, "FETCH_ROWS", "100")
    source.sql.execute(
        "insert into orders select g, 1, repeat('tea', 100), 1, 1, '2025-01-01', "
        "timestamptz '2025-01-01' + g * interval '1 second' from generate_series(1, 60000) g"
    )
    append, calls = BronzeTable.append, []

    def append_without_server(*arguments: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            source.server.stop()
        append(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(BronzeTable, "append", append_without_server)
        with pytest.raises(LandingError, match="reading public.orders stopped|connection 'shop'") as caught:
            source.land()
    assert "continues from the last position" in str(caught.value) or "running and reachable" in str(
        caught.value
    )
    with pytest.raises(LandingError, match="Connection refused"):
        source.land()
    source.server.start()
    assert source.land().rows == 40_000
    rows = source.spark.table(source.feed.table)
    assert (rows.count(), rows.select("order_id").distinct().count()) == (60_000, 60_000)
    source.sql = psycopg.connect(source.server.url(source.database), autocommit=True)
    source.sql.execute("update orders set quantity = 2, updated_at = '2025-02-01' where order_id = 1")
    assert source.land().rows == 1
