"""Data tests that look at each row by itself are recognized by their query."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tidemark.engine.adapter.name_patterns import is_like
from tidemark.engine.incremental import row_by_row
from tidemark.engine.incremental.row_by_row import over_gained_rows
from tidemark.engine.incremental.session_catalog import SessionCatalog

pytestmark = [pytest.mark.R1, pytest.mark.R2]
GAINED = "(select * from values (1, 10, 'paid'), (2, -1, null) as gained (id, amount, status))"
OF_ROWS = [  # each finds one failing row among those gained
    "select 1 from {orders} where not (amount >= 0)",
    "with a as (select * from {orders}), e as (select * from a where 1 = 2 or amount < 0) select * from e",
    "select orders.status from {orders} as orders where orders.status is null",
    "select k.id from (select id, amount from {orders} where amount < 0) k left join {people} p"
    " on k.id = p.id where p.id is null",
    "with s as (select 'paid' as v union all select 'new' as v)"
    " select o.status from {orders} o left join s on o.status = s.v where s.v is null",
    "select id from {orders} where status is null union all select id from {people} where id < 0",
]
OF_OTHER_ROWS = [
    "select id from {orders} group by id having count(*) > 1",
    "select distinct id from {orders} where amount < 0",
    "select id from (select id, lag(amount) over (order by id) as b from {orders}) where b > 9",
    "select 1 from {orders} having count(*) = 0",
    "select a.id from {orders} a join {orders} b on a.id = b.amount",
    "select id from {people} where id not in (select id from {orders})",
    "select p.id from {people} p left join {orders} o on o.id = p.id where o.id is null",
    "select id from {orders} where amount > (select max(amount) from {orders})",
    "select id from {orders} where amount < 0 limit 1",
    "select my_own(id) as id from {orders}",
    "select 1",
    "not a query",
]


@pytest.fixture
def tables(spark: SparkSession, prefix: str) -> dict[str, str]:
    spark.sql(f"create schema {prefix}_tests")
    names = {"orders": f"{prefix}_tests.orders", "people": f"{prefix}_tests.people"}
    spark.sql(f"create table {names['orders']} (id int, amount int, status string) using delta")
    spark.sql(f"create table {names['people']} (id int) using delta")
    return names


def test_a_test_of_rows_finds_in_the_gained_rows_what_it_would_find_in_all(
    spark: SparkSession, tables: dict[str, str]
) -> None:
    """R2.3: whatever its macro writes around the rows; the other tables are read as they are."""
    catalog, rows, others = (
        SessionCatalog(spark),
        {tables["orders"]: GAINED},
        {tables["people"]: tables["people"]},
    )
    for query in OF_ROWS:
        sql = over_gained_rows(catalog, query.format(**tables), rows, others)
        assert sql, query
        assert spark.sql(sql).count() == 1, query


def test_a_test_that_needs_other_rows_reads_whole_tables(
    spark: SparkSession, tables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.4: groups, windows, and the side of a join whose rows other rows need; small tables, too."""
    catalog, rows, others = SessionCatalog(spark), {tables["orders"]: "gained"}, {tables["people"]: "people"}
    taken = [sql for sql in OF_OTHER_ROWS if over_gained_rows(catalog, sql.format(**tables), rows, others)]
    assert taken == []
    of_rows = f"select 1 from {tables['orders']} where amount < 0"
    assert not over_gained_rows(catalog, of_rows, rows, others, size=1)
    monkeypatch.setattr(row_by_row, "FEW_BYTES", 0)
    assert over_gained_rows(catalog, of_rows, rows, others, size=1)


def test_names_are_compared_as_ilike_does() -> None:
    """R1.4: for macros of packages that list tables by a pattern."""
    found = [
        is_like(*pair) for pair in (("Orders", "ord%"), ("a1", "a_"), ("axb", "a.b"), ("a", ""), ("", ""))
    ]
    assert found == [True, True, False, False, True]
