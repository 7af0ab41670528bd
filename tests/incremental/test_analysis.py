"""What sqlglot and Spark understand of a query must be the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from pyspark.sql import SparkSession

from python_ingest.incremental.analysis import plan_of
from python_ingest.incremental.pinning import named_tables, pinned
from python_ingest.incremental.plan import Request
from python_ingest.incremental.session_catalog import SessionCatalog
from python_ingest.incremental.statement_catalog import GROUPS, StatementCatalog

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
    assert how(f"sale_id, {multi}") == f"full: `{multi}`, which Tidemark reads in another way than Spark (line 1)"
    assert how("day, try_sum(amount) as amount", by_day) == "touched day"
    in_all = how("'all' as scope, try_sum(amount) as amount", key="scope")
    assert in_all == "full: an aggregate without group by (line 1)"
    assert how("date_trunc('week', day) as day, count(*) as sold", f"{sales} group by 1") == "folded"
    lamps = sales.replace("sales", "lamps")
    assert how("day, count(distinct product) as products", f"{lamps} group by day") == "touched day"
    assert how("sale_id, weekday(day) as day_of_week", lamps, "sale_id") == "changed rows"
    spark.udf.register("doubled", lambda amount: amount * 2, "decimal(10,2)")
    assert how("sale_id, doubled(amount) as amount", key="sale_id") == "full: the function doubled()"


def test_a_server_tells_the_groups_of_functions(spark: SparkSession) -> None:
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
