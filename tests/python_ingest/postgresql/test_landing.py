"""R3: a table lands by its cursor, each change once, from one snapshot, and no transaction is passed over."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from python_ingest.bronze.table import BronzeTable
from python_ingest.ops.ingested_batches import Batches
from python_ingest.postgresql import snapshot
from python_ingest.postgresql.landing import TableLander
from tests.python_ingest.postgresql.conftest import CREATE_ORDERS, MakeSource
from tidemark.base.errors import LandingError

pytestmark = [pytest.mark.R3, pytest.mark.formats(day="iceberg", night="delta iceberg")]


@pytest.mark.core
def test_new_and_changed_rows_land_once(make_source: MakeSource) -> None:
    """R3.1, R3.2: from the last processed time on; nothing new commits nothing."""
    source = make_source()
    source.order(1, "2025-01-01 10:00:00.123456+00")
    source.order(2, "2025-01-01 11:00+00")
    first = source.land()
    assert (first.rows, first.batches, first.until) == (2, 1, datetime(2025, 1, 1, 11, tzinfo=UTC))
    version, states = source.version(), source.states()
    assert source.land().rows == 0
    assert (source.version(), source.states()) == (version, states)
    source.order(1, "2025-01-02 10:00+00", quantity=5)
    source.order(3, "2025-01-02 09:00+00")
    assert source.land().rows == 2
    assert source.bronze("order_id", "quantity", "_batch_id", "_source_file", "_is_deleted") == [
        (1, 1, 1, "public.orders", False),
        (1, 5, 2, "public.orders", False),
        (2, 1, 1, "public.orders", False),
        (3, 1, 2, "public.orders", False),
    ]
    columns = ["order_id", "product_name", "quantity", "price", "order_date"]
    there = source.there(*columns, "cast(extract(epoch from updated_at) * 1000000 as bigint)")
    assert source.newest(*columns, "unix_micros(updated_at)") == there
    assert source.bronze("unix_micros(updated_at) % 1000000")[0] == (123456,)


@pytest.mark.core
def test_rows_that_share_one_time_land_once_in_slices(make_source: MakeSource) -> None:
    """R3.3: 10,000 rows of one timestamp, 1,000 a batch, by (cursor, key); later ones follow."""
    source = make_source(max_rows=1000)
    values = "g, 1, 'tea', 1, 1, '2025-01-01', '2025-01-01 10:00+00'"
    insert = f"insert into orders select {values} from generate_series({{}}) g"
    source.sql.execute(insert.format("1, 10000"))
    assert (source.land().batches, source.land().rows) == (10, 0)
    source.sql.execute(insert.format("10001, 10500"))
    assert source.land().rows == 500
    ids = [row[0] for row in source.bronze("order_id")]
    assert ids == list(range(1, 10501))


def test_the_first_landing_takes_a_window(make_source: MakeSource) -> None:
    """R3.2: the last 30 days by the database's clock; an older row lands when it changes."""
    source = make_source(first_window="30 days", safety_lag="0 seconds")
    assert source.land().rows == 0  # an empty table is no mark
    source.sql.execute(
        "insert into orders select g, 1, 'tea', 1, 1, current_date, now() - g * interval '10 days' "
        "from generate_series(1, 5) g"
    )
    outcome = source.land()
    assert outcome.rows == 2
    assert outcome.since is not None
    source.sql.execute("update orders set updated_at = clock_timestamp() where order_id = 5")
    assert source.land().rows == 1
    assert [row[0] for row in source.bronze("order_id")] == [1, 2, 5]


@pytest.mark.core
def test_recent_rows_are_looked_at_again(make_source: MakeSource) -> None:
    """R3.1: an order of the last 7 days lands when it changes, though its `updated_at` stood still."""
    source = make_source(lookback={"column": "order_date", "span": "7 days"})
    for number in range(1, 11):
        source.order(number, f"2025-01-{number:02} 10:00+00", order_date=f"2025-01-{number:02}")
    source.land()
    assert (source.land().unchanged, source.land().rows) == (8, 0)
    source.order(5, "2025-01-05 10:00+00", quantity=7, order_date="2025-01-05")
    source.order(9, "2025-01-08 10:00+00", quantity=8, order_date="2025-01-09")
    source.order(2, "2025-01-02 10:00+00", quantity=9, order_date="2025-01-02")  # too old
    outcome = source.land()
    assert (outcome.rows, outcome.unchanged) == (2, 6)
    source.order(5, "2025-01-05 10:00+00", quantity=1, order_date="2025-01-05")  # as it was at first
    assert source.land().rows == 1
    assert source.newest("order_id", "quantity")[4] == (5, 1)
    version = source.version()
    assert (source.land().rows, source.version()) == (0, version)


@pytest.mark.core
@pytest.mark.R2
def test_a_transaction_that_commits_late_is_not_lost(make_source: MakeSource, monkeypatch: Any) -> None:
    """R2.4, R3.1: it wrote with old times, was open during two landings, and used a savepoint."""
    monkeypatch.setattr(snapshot, "PATIENCE", 0.1)
    source = make_source()
    source.order(1, "2025-01-01 10:00+00")
    source.order(2, "2025-01-01 10:00+00")
    with source.server.connect(source.database, autocommit=False) as late:
        late.execute("update orders set quantity = 9, updated_at = '2025-01-01 10:30+00' where order_id = 1")
        with late.transaction():
            late.execute(
                "insert into orders values (3, 1, 'late', 1, 1, '2025-01-01', '2024-12-31 10:00+00')"
            )
        source.order(4, "2025-01-03 10:00+00")
        assert source.land().still_open
        source.order(5, "2025-01-04 10:00+00")
        assert source.land().still_open
        late.commit()
    outcome = source.land()
    assert (outcome.rows, outcome.still_open) == (2, False)
    assert source.newest("order_id", "quantity") == source.there("order_id", "quantity")
    version, states = source.version(), source.states()
    source.land()
    assert (source.version(), source.states()) == (version, states)


@pytest.mark.R2
def test_a_transaction_that_only_read_until_a_landing_is_not_lost(
    make_source: MakeSource, monkeypatch: Any
) -> None:
    """R2.4: it began before, wrote after, with its time; nothing was committed in between."""
    monkeypatch.setattr(snapshot, "PATIENCE", 0.1)
    source = make_source(safety_lag="0 seconds")
    with source.server.connect(source.database, autocommit=False) as late:
        late.execute("select count(*) from orders")
        source.order(1, "now")
        assert source.land().still_open
        assert source.land().still_open
        late.execute("insert into orders values (2, 1, 'late', 1, 1, '2025-01-01', now())")
        late.commit()
    assert source.land().rows == 1
    assert source.newest("order_id") == [(1,), (2,)]
    with source.server.connect(source.database, autocommit=False) as last:
        last.execute("insert into orders values (3, 1, 'late', 1, 1, '2025-01-01', '2025-01-01')")
        assert source.land().still_open
        last.commit()
    assert source.land().rows == 1


@pytest.mark.R2
@pytest.mark.parametrize("moment", ["begins before the clock is read", "ends after the snapshot is taken"])
def test_a_transaction_in_between_is_not_lost(make_source: MakeSource, monkeypatch: Any, moment: str) -> None:
    """R2.4: one that begins or ends just while a landing asks which transactions run."""
    monkeypatch.setattr(snapshot, "PATIENCE", 0)
    source = make_source(safety_lag="0 seconds")
    running, calls = snapshot._running, []
    with source.server.connect(source.database, autocommit=False) as late:

        def write() -> None:
            late.execute("insert into orders values (2, 1, 'late', 1, 1, '2025-01-01', now())")
            source.order(1, "now")

        def asked(connection: psycopg.Connection[Any]) -> frozenset[str]:
            found = running(connection)
            calls.append(1)
            if moment.startswith("begins") and len(calls) == 1:
                write()
            return found

        def ended(connection: psycopg.Connection[Any]) -> frozenset[str]:
            if not late.closed and connection.info.transaction_status != TransactionStatus.IDLE:
                late.commit()
            return running(connection)

        if moment.startswith("ends"):
            write()
        monkeypatch.setattr(snapshot, "_running", asked if moment.startswith("begins") else ended)
        source.land()
        late.commit()
    source.land()
    assert source.newest("order_id") == [(1,), (2,)]


def test_a_batch_is_of_one_snapshot(make_source: MakeSource, monkeypatch: Any) -> None:
    """R3.3: a row that changes meanwhile lands as it was, and by the next landing as it is."""
    source = make_source(max_rows=1)
    source.order(1, "2025-01-01 10:00+00")
    source.order(2, "2025-01-01 11:00+00")
    append = BronzeTable.append

    def change_and_append(*arguments: Any) -> None:
        source.order(2, "2025-01-02 11:00+00", quantity=4)
        append(*arguments)

    monkeypatch.setattr(BronzeTable, "append", change_and_append)
    assert source.land().rows == 2
    assert source.bronze("order_id", "quantity") == [(1, 1), (2, 1)]
    assert source.land().rows == 1
    assert source.newest("order_id", "quantity") == [(1, 1), (2, 4)]


@pytest.mark.core
def test_deleted_rows_are_found_when_asked_for(make_source: MakeSource) -> None:
    """R3.5: a deleted row lands as one, once; one that comes back lives; losing most rows stops."""
    source = make_source(detect_deletes=True)
    for number in range(1, 6):
        source.order(number, "2025-01-01 10:00+00")
    assert (source.land().deleted, source.land().deleted) == (0, 0)
    source.sql.execute("delete from orders where order_id = 2")
    outcome = source.land()
    assert (outcome.rows, outcome.deleted) == (0, 1)
    assert source.newest("order_id") == [(1,), (3,), (4,), (5,)]
    version = source.version()
    assert (source.land().deleted, source.version()) == (0, version)
    source.order(2, "2025-01-02 10:00+00")
    source.land()
    assert source.newest("order_id") == source.there("order_id")
    source.sql.execute("delete from orders where order_id > 1")
    with pytest.raises(LandingError, match="80% of those in bronze, are gone"):
        source.land()


@pytest.mark.R1
def test_any_type_lands_and_what_spark_cannot_hold_is_rescued(make_source: MakeSource) -> None:
    """R1.4: NaN, infinity and numbers that are too long are in `_rescued_data`; nothing is rounded."""
    create = (
        "create table orders (order_id uuid primary key default gen_random_uuid(), n numeric, "
        "p numeric(10,2), at timestamp, j jsonb, a text[], t time, i interval, updated_at timestamptz)"
    )
    values = [
        "(default, 1.5, 2.25, '2025-01-01 10:00', '{\"a\": 1}', '{x,y}', '10:00', '1 day', '2025-01-01')",
        "(default, 'NaN', 'NaN', 'infinity', null, null, null, null, '2025-01-02')",
        "(default, 123456789012345678901234567890, 1, '-infinity', null, null, null, null, '2025-01-03')",
        "(default, 1.005, 1, null, null, null, null, null, '2025-01-04')",
    ]
    types = {"order_id": "string", "n": "decimal(12,2)", "p": "decimal(10,2)", "at": "timestamp_ntz"}
    types |= {"j": "string", "a": "array<string>", "t": "string", "i": "string", "updated_at": "timestamp"}
    source = make_source(create, *(f"insert into orders values {row}" for row in values), columns=types)
    assert source.land().rows == 4
    table = source.spark.table(source.feed.table).orderBy("updated_at")
    found = [tuple(r) for r in table.select("n", "p", "at", "_rescued_data").collect()]
    assert found == [
        (Decimal("1.50"), Decimal("2.25"), datetime(2025, 1, 1, 10), None),
        (None, None, None, '{"n": "NaN", "p": "NaN", "at": "infinity"}'),
        (None, Decimal("1.00"), None, '{"n": "123456789012345678901234567890", "at": "-infinity"}'),
        (None, Decimal("1.00"), None, '{"n":1.005000000000000000}'),
    ]
    assert dict(table.dtypes)["p"] == "decimal(10,2)"
    assert [tuple(r) for r in table.limit(1).select("j", "a", "t", "i").collect()] == [
        ('{"a": 1}', ["x", "y"], "10:00:00", "1 day")
    ]


@pytest.mark.core
def test_local_times_are_right_when_clocks_are_put_back(make_source: MakeSource) -> None:
    """R3.7: times without zone in Berlin: 02:30 comes twice on 2025-10-26, and the second one is not lost."""
    create = "create table orders (order_id bigint primary key, quantity int, updated_at timestamp not null)"
    types = {"order_id": "bigint", "quantity": "int", "updated_at": "timestamp"}
    source = make_source(create, columns=types, time_zone="Europe/Berlin")
    source.sql.execute("insert into orders values (1, 1, '2025-07-01 12:00'), (2, 1, '2025-10-26 02:45')")
    assert source.land().until == datetime(2025, 10, 26, 1, 45, tzinfo=UTC)
    source.sql.execute("insert into orders values (3, 1, '2025-10-26 02:15')")  # half an hour later
    assert source.land().rows == 1
    assert source.bronze("order_id", "cast(updated_at as string)")[0] == (1, "2025-07-01 10:00:00")
    outcome = source.land()
    assert (outcome.rows, outcome.unchanged) == (0, 2)


def test_the_first_column_that_is_not_null_is_the_cursor(make_source: MakeSource) -> None:
    """R3.1: `updated_at`, or `created_at` while it is NULL; a row without either is counted."""
    create = (
        "create table orders (order_id bigint primary key, created_at timestamptz, updated_at timestamptz)"
    )
    types = {"order_id": "bigint", "created_at": "timestamp", "updated_at": "timestamp"}
    source = make_source(create, columns=types, cursor=["updated_at", "created_at"])
    source.sql.execute(
        "insert into orders values (1, '2025-01-01', null), (2, '2025-01-01', '2025-01-03'), (3, null, null)"
    )
    outcome = source.land()
    assert (outcome.rows, outcome.without_cursor) == (2, 1)
    source.sql.execute("insert into orders values (4, '2025-01-02', null), (5, '2025-01-04', null)")
    assert source.land().rows == 1
    assert [row[0] for row in source.bronze("order_id")] == [1, 2, 5]


def test_without_a_cursor_all_rows_are_compared(make_source: MakeSource) -> None:
    """Small tables, views and queries that know no times: what has changed lands, and nothing else."""
    source = make_source(
        CREATE_ORDERS,
        query="select order_id, quantity from orders where quantity > 0;",
        columns={"order_id": "bigint", "quantity": "int"},
        cursor=None,
    )
    source.order(1, "2025-01-01 10:00+00")
    source.order(2, "2025-01-01 10:00+00")
    assert source.land().rows == 2
    source.order(1, "2025-01-01 10:00+00", quantity=3)
    outcome = source.land()
    assert (outcome.rows, outcome.unchanged) == (1, 1)
    version, states = source.version(), source.states()
    assert (source.land().rows, source.version(), source.states()) == (0, version, states)


@pytest.mark.R2
def test_a_replaced_table_is_compared_in_full(make_source: MakeSource) -> None:
    """R2.4: dropped and restored with older times: nothing is passed over."""
    source = make_source()
    source.order(1, "2025-01-05 10:00+00")
    source.order(2, "2025-01-05 10:00+00")
    source.land()
    source.sql.execute("drop table orders")
    source.sql.execute(CREATE_ORDERS)
    source.order(1, "2025-01-05 10:00+00")
    source.order(2, "2025-01-04 10:00+00", quantity=2)
    source.order(3, "2025-01-03 10:00+00")
    assert source.land().rows == 2
    assert source.newest("order_id", "quantity") == source.there("order_id", "quantity")


@pytest.mark.parametrize("method", ["append", "confirm"])
def test_an_interrupted_landing_resumes(make_source: MakeSource, monkeypatch: Any, method: str) -> None:
    """R3.2: before or after bronze has the batch: the next landing brings each row once."""
    source = make_source(max_rows=2)
    for number in range(1, 6):
        source.order(number, f"2025-01-0{number} 10:00+00")
    with monkeypatch.context() as patched:
        kept = Batches.confirm if method == "confirm" else BronzeTable.append
        calls = []

        def cut_off(*arguments: Any) -> None:
            calls.append(1)
            if len(calls) == 2:
                raise KeyboardInterrupt
            kept(*arguments)

        patched.setattr(Batches if method == "confirm" else BronzeTable, method, cut_off)
        with pytest.raises(KeyboardInterrupt):
            source.land()
    outcome = source.land()
    assert outcome.resumed == (2 if method == "confirm" else None)
    assert [row[0] for row in source.bronze("order_id")] == [1, 2, 3, 4, 5]
    assert TableLander(source.spark, source.feed, source.ops_schema).land().rows == 0


@pytest.mark.R1
def test_rows_that_bronze_lost_are_noticed_and_come_back(make_source: MakeSource) -> None:
    """R1.5: the landing stops; by the declaration's word all rows are compared once, and those gone land."""
    source = make_source()
    source.order(1, "2025-01-01 10:00+00")
    source.order(2, "2025-01-01 11:00+00")
    source.land()
    source.spark.sql(f"delete from {source.feed.table} where order_id = 1")
    with pytest.raises(LandingError, match=r"is missing 1 landed row, from batch 1 \([A-Z]+ at") as stopped:
        source.land()
    assert "`land_again` (compares all rows of the source) or `accept`" in stopped.value.fix
    lands_again = source.feed.external.model_copy(update={"on_lost_rows": "land_again"})
    source.feed = source.feed.model_copy(update={"external": lands_again})
    outcome = source.land()
    assert (outcome.rows, outcome.unchanged) == (1, 1)
    assert outcome.settled
    assert outcome.settled.decision == "compared"
    assert source.bronze("order_id", "_batch_id") == [(1, 2), (2, 1)]
    again = source.land()
    assert (again.rows, again.unchanged, again.settled) == (0, 0, None)
