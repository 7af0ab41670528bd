"""What sqlglot and Spark understand of a query must be the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from pyspark.sql import SparkSession

from tidemark.engine.incremental.analysis import plan_of
from tidemark.engine.incremental.pinning import named_tables, pinned
from tidemark.engine.incremental.request import Request
from tidemark.engine.incremental.session_catalog import SessionCatalog
from tidemark.engine.incremental.statement_catalog import GROUPS, StatementCatalog

pytestmark = [pytest.mark.R2, pytest.mark.R4]


@pytest.fixture
def sales(spark: SparkSession, prefix: str) -> Iterator[str]:
    table = f"{prefix}_plans.sales"
    spark.sql(f"create schema {prefix}_plans")
    columns = "sale_id int, day date, product string, amount decimal(10,2)"
    spark.sql(f"create table {table} ({columns}) using delta")
    view = f"select sale_id, day, upper(product) as product from {table} where sale_id > 0"
    spark.sql(f"create view {prefix}_plans.lamps as {view}")
    yield table
    spark.sql(f"drop schema {prefix}_plans cascade")


def by_statements(spark: SparkSession) -> StatementCatalog:
    """What a server tells, of this session."""
    return StatementCatalog(lambda sql: [row.asDict() for row in spark.sql(sql).collect()])


@pytest.mark.parametrize("catalog", [SessionCatalog, by_statements])
def test_spark_is_asked_what_sqlglot_cannot_know(
    catalog: Callable[[SparkSession], SessionCatalog | StatementCatalog], spark: SparkSession, sales: str
) -> None:
    """R2.2: functions that sqlglot writes in another way, hidden aggregates, and views."""

    def how(columns: str, table: str = sales, key: str = "day") -> str:
        sql = f"select {columns} from {table}"
        types = {field.name: field.dataType.simpleString() for field in spark.sql(sql).schema.fields}
        return plan_of(catalog(spark), sql, Request((key,), types, frozenset({sales}))).how

    by_day = f"{sales} group by day"
    assert how("day, listagg(product) as products", by_day) == "touched day"
    multi = "cast(day as timestamp) + interval 1 day 2 hours as day"
    assert how(f"sale_id, {multi}") == f"full: `{multi}`, which Tidemark and Spark parse differently (line 1)"
    assert how("day, try_sum(amount) as amount", by_day) == "touched day"
    in_all = how("'all' as scope, try_sum(amount) as amount", key="scope")
    assert in_all == "full: an aggregate without group by (line 1)"
    assert how("date_trunc('week', day) as day, count(*) as sold", f"{sales} group by 1") == "folded"
    lamps = sales.replace("sales", "lamps")
    assert how("day, count(distinct product) as products", f"{lamps} group by day") == "touched day"
    assert how("sale_id, weekday(day) as day_of_week", lamps, "sale_id") == "changed rows"
    spark.udf.register("doubled", lambda amount: amount * 2, "decimal(10,2)")
    assert how("sale_id, doubled(amount) as amount", key="sale_id") == "full: the function doubled()"


def test_a_server_lists_its_function_groups(spark: SparkSession) -> None:
    """R2.2: `describe function` names a class, which stands for the group that a session tells."""
    session, server = SessionCatalog(spark), by_statements(spark)
    names = [row["function"] for row in spark.sql("show system functions").collect()]
    groups = {name: session.group(name) for name in names if name.isidentifier()}
    special = {name: group for name, group in groups.items() if group in GROUPS}
    assert {name: server.group(name) for name in special} == special
    spark.udf.register("tripled", lambda amount: amount * 3, "int")
    assert (server.group("lower"), server.group("tripled")) == ("others", "")


def test_tables_are_pinned_by_their_names_alone() -> None:
    """R4.4: columns, texts and longer names stay as they are."""
    sql = "select a.b, 'a.b', a.b.c from a.b as a join `a`.`b` on x.a.b = 1 -- a.b"
    assert sorted(named_tables(f"with c as ({sql.partition('--')[0]}) select * from c, x.a.b")) == [
        "a.b",
        "x.a.b",
    ]
    assert pinned(sql, {"a.b": "a.b version as of 3"}) == (
        "select a.b version as of 3, 'a.b', a.b.c from a.b version as of 3 as a "
        "join a.b version as of 3 on x.a.b = 1 -- a.b"
    )
    older = "select * from a.b version as of 1, a.b timestamp as of '2025-01-01'"
    assert pinned(older, {"a.b": "a.b version as of 3"}) == older


SPELLINGS = """
from {sales} as s, {sales} as t select s.sale_id, t.day where s.sale_id = t.sale_id
select /*+ broadcast(s) */ SALE_ID as sale_id, 1L as a, amount * 0.1D as b, 1.5BD as c from {sales} as s
with unread as (select 'X' as x) select sale_id, 'a' 'b' as b, r'%' as c from {sales} where !(sale_id == 1)
select S.*, T.amount as more from {sales} as s join {sales} as t using (sale_id)
select * from {sales} as s left join (select sale_id, upper(product) as up from {sales}) as u using (sale_id)
select sale_id, v.title from {sales} join (values ('a', 1.5), (null, 2)) as v (product, title) using (product)
select sale_id, day, sum(sale_id) over w as n from {sales} window w as (partition by day order by sale_id)
select sale_id, mod(sale_id, 2) as a, log2(sale_id) as b, len(product) as d from {sales}
select sale_id, sale_id * 2 as twice, twice + 1 as n, day + interval '3 days' as l from {sales} limit all
select x.a as sale_id, x.b from {sales} as x (a, b, c, d)
select PRODUCT as sale_id from {sales} union all select Product from {sales} where false
(select sale_id, to_json(struct(sale_id)) as j from {sales})
"""
READ_OTHERWISE = {
    "sale_id, to_json(struct(SALE_ID)) as j": "to_json(struct(SALE_ID)) as j",
    "sale_id,\n cast(day as timestamp) + interval 1 day 2 hours as n": "cast(day as timestamp) + interval",
    "sale_id, amount * 1e3BD as n": "amount * 1e3BD as n",
}


def test_spellings_need_no_full_computation(spark: SparkSession, sales: str) -> None:
    """R2.2: Spark reads them as sqlglot does, once they are written alike; else the reason names the part."""
    catalog = SessionCatalog(spark)

    def how(sql: str) -> str:
        types = {field.name.lower(): field.dataType.simpleString() for field in spark.sql(sql).schema.fields}
        return plan_of(catalog, sql, Request(("sale_id",), types, frozenset({sales}))).how

    for sql in SPELLINGS.strip().splitlines():
        assert not how(sql.format(sales=sales)).startswith("full"), sql
    for columns, part in READ_OTHERWISE.items():
        line = 1 + columns.count("\n")
        message = how(f"select {columns} from {sales}")
        assert message.startswith(f"full: `{part}"), message
        assert message.endswith(f", which Tidemark and Spark parse differently (line {line})"), message
