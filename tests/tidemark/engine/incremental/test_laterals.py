"""Lateral subqueries as joins: Spark gives the same rows for both; others are refused."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from pyspark.sql import SparkSession

from tests.tidemark.engine.incremental.test_random_queries import ShopCatalog
from tidemark.engine.incremental.analysis import checked
from tidemark.engine.incremental.parse import parse
from tidemark.engine.incremental.statement_catalog import catalog_of
from tidemark.engine.incremental.unsupported import Unsupported

pytestmark = pytest.mark.R2
COLUMNS = {
    "laterals.a": {"id": "int", "k": "int", "name": "string"},
    "laterals.b": {"id": "int", "k": "int", "x": "int"},
}
ROWS = {
    "a": "(1, 1, 'one'), (2, 1, 'two'), (3, 2, 'x'), (4, 9, 'none'), (5, null, 'null'), (1, 1, 'one')",
    "b": "(1, 1, 5), (2, 1, 7), (3, 1, null), (4, 2, 3), (5, 2, null), (6, null, 4), (7, 3, 1), (8, 1, 7)",
}
ALIKE = (
    "select a.id, l.n, l.x from a, lateral (select count(*) as n, sum(x) as x from b where b.k = a.k) as l",
    "select a.id, l.* from a join lateral (select count(x), avg(x) as x from b where b.k = a.k) as l on true",
    "select a.id, l.n from a left join lateral (select count(*) + 1 as n from b where b.k = a.k) as l on "
    "true",
    "select a.id, l.n from a, lateral (select count(*) as n from b where a.k = b.k and b.x > 4) as l "
    "where n > 0",
    "select a.id, l.n from a join lateral (select coalesce(max(x), -1) as n from b where b.k = a.k) as l "
    "on n > 5",
    "select a.id, l.n from a, lateral (select count(*) filter (where x > 5) as n from b where k = a.k) as l",
    "select a.id, l.n from a, lateral (select count(distinct x) as n from b where k = a.k and id <> 8) as l",
    "select l.n, count(*) as rows from a, lateral (select count(*) as n from b where k = a.k) as l group "
    "by l.n",
    "select a.id, l.x from a, lateral (select x from b where b.k = a.k) as l",
    "select a.id, l.x from a left join lateral (select x, k from b where b.k = a.k) as l on l.x > 5",
    "select a.id, l.x from a, lateral (select distinct x from b where b.k = a.k) as l",
    "select a.id, l.x, l.n from a, lateral (select x, count(*) as n from b where k = a.k group by x) as l",
    "select a.id, l.x from a, lateral (select x, id as i from b where k = a.k order by x desc, i limit "
    "1) as l",
    "select a.id, l.x from a left join lateral (select x from b where k = a.k order by id limit 2) as l "
    "on true",
    "select a.id, l.x, place from a, lateral "
    "(select x, row_number() over (order by id) as place from b where k = a.k) as l where place < 3",
    "select a.id, l.y, l.z from a, lateral (select a.k + 1 as y, upper(a.name) as z) as l where l.y > 2",
    "select a.id, l.n, m.n as m from a, lateral (select count(*) as n from b where k = a.k) as l, "
    "lateral (select count(*) as n from b as c where c.x = l.n) as m",
    "select a.id, l.n from a, lateral (select count(*) as n from b where k = a.k and x = "
    "(select max(d.x) from b as d where d.k = b.k)) as l",
    "select a.id, l.n from (select a.*, l.n as m from a, lateral (select count(*) as n from b where k = a.k) "
    "as l) as a, lateral (select count(*) as n from b where k = a.m) as l where exists "
    "(select 1 from b as l where l.k = a.k)",
)
REFUSED = (
    "select a.id, l.n from a, lateral (select sum(count(*)) over () as n from b where b.k = a.k) as l",
    "select a.id, l.n from a, lateral (select m.n from b, lateral (select count(*) as n from b as c "
    "where c.k = b.k and c.x = a.id) as m where b.k = a.k) as l",
    "select a.id, l.n from a, lateral (select count(*) as n from b where b.k < a.k) as l",
    "select a.id, l.n from a, lateral (select count(*) as n from b) as l",
    "select a.id, l.n from a, lateral (select count(*) + a.k as n from b where b.k = a.k) as l",
    "select a.id, l.x from a, lateral (select collect_list(x) as x from b where b.k = a.k) as l",
    "select a.id, l.x from a, lateral (select percentile_cont(0.5) within group (order by x) as x "
    "from b where b.k = a.k) as l",
    "select a.id, l.x from a, lateral (select x from b where b.k = a.k limit 1) as l",
    "select a.id, l.x from a, lateral (select x from b where b.k = a.k order by x, id limit 1 offset 1) as l",
    "select a.id, l.n from a, lateral (select count(*) as n from b where b.k = a.k having count(*) > 1) as l",
    "select a.id, l.n from a left join lateral (select count(*) as n from b where b.k = a.k) as l on l.n > 1",
    "select a.id, l.n from a, lateral (select count(*) as n from b where b.k = a.k) as l "
    "right join b on b.id = a.id",
)


class Small(ShopCatalog):
    """The catalog of two small tables."""

    def columns(self, table: str) -> dict[str, str] | None:
        return COLUMNS.get(table)

    def group(self, function: str) -> str:
        return "agg_funcs" if "percentile" in function else super().group(function)


def qualified(sql: str) -> str:
    return re.sub(r"\b(from|join|,) ([ab])\b(?!\.)", r"\1 laterals.\2", sql)


def rows(spark: SparkSession, sql: str) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row) for row in spark.sql(sql).collect())


def test_laterals_give_the_rows_of_their_joins(spark: SparkSession) -> None:
    """R2.2: with NULLs and repeated rows, with keys that have no row; as Spark reads them, too."""
    spark.sql("create schema if not exists laterals")
    for name, values in ROWS.items():
        columns = ", ".join(COLUMNS[f"laterals.{name}"])
        rows_of = spark.sql(f"select * from values {values} as t({columns})")
        rows_of.coalesce(1).write.mode("overwrite").saveAsTable(f"laterals.{name}")
    catalog = catalog_of(spark)
    for sql in map(qualified, ALIKE):
        parsed = parse(sql, catalog)
        checked(catalog, parsed)
        ((as_join, _),) = parsed.parts
        assert " lateral " not in as_join.lower()
        found = rows(spark, sql)
        assert found, sql
        assert rows(spark, as_join) == found, sql


@pytest.mark.parametrize("sql", REFUSED)
def test_other_laterals_are_refused(sql: str) -> None:
    """R2.2: their rows depend on more than the values of some columns."""
    with pytest.raises(Unsupported, match="lateral"):
        parse(qualified(sql), Small())
