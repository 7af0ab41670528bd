"""Queries that a simple rule gets wrong: chains of outer joins, equal NULLs, limits of unions, decimals."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.tidemark.engine.incremental.random_queries import Relation
from tests.tidemark.engine.incremental.test_random_queries import model_of, tried

pytestmark = pytest.mark.R2
SALES, PRODUCTS, RETURNS = "shop.sales", "shop.products", "shop.returns"
JOINED = f"{SALES} as s join {RETURNS} as r on s.sale_id = r.sale_id"
ANSI = ("a text that is compared with a number where it is one",)
# the query, its key, and the tables whose changes are tried
QUERIES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "a condition of a left join on two other tables": (
        f"select s.day, count(distinct p.label) as n from {JOINED} left join {PRODUCTS} as p "
        "on p.product = s.product and s.day = r.day group by s.day",
        "day",
        (SALES,),
    ),
    "the same of an anti join": (
        f"select s.day, count(distinct s.sale_id) as n from {JOINED} left anti join {PRODUCTS} as p "
        "on p.product = s.product and s.day = r.day group by s.day",
        "day",
        (RETURNS,),
    ),
    "a right join after a join": (
        f"select p.product, count(*) as n from {PRODUCTS} as p join {SALES} as s on p.product = s.product "
        f"right join {RETURNS} as r on s.sale_id = r.sale_id group by p.product",
        "product",
        (PRODUCTS,),
    ),
    "the first of two columns that may both be missing": (
        f"select coalesce(r.day, s.day) as day, count(*) as n from {PRODUCTS} as p left join {SALES} as s "
        f"on s.product = p.product left join {RETURNS} as r on r.day = s.day group by coalesce(r.day, s.day)",
        "day",
        (SALES,),
    ),
    "a left join of equal NULLs": (
        f"select s.sale_id, p.label from {SALES} as s left join {PRODUCTS} as p on s.product <=> p.product",
        "sale_id",
        (PRODUCTS,),
    ),
    "a subquery with equal NULLs over an outer join": (
        f"select p.product from {PRODUCTS} as p where exists (select 1 from {SALES} as s "
        f"left join {PRODUCTS} as q on s.product = q.label where q.product <=> p.product)",
        "product",
        (SALES, PRODUCTS),
    ),
    "a limit of a union": (
        f"select sale_id, pieces from {SALES} union all select return_id + 100, score from {RETURNS} "
        "order by 1 limit 3",
        "sale_id",
        (SALES,),
    ),
    "a union whose columns change places": (
        f"select a, sum(b) as n from (select sale_id as a, pieces as b from {SALES} union all "
        f"select score as b, return_id as a from {RETURNS}) group by a",
        "a",
        (RETURNS,),
    ),
    "a sum of long fractions": (
        "select product, sum(cast(amount as decimal(18, 8)) / 7) as s, count(*) as n "
        f"from {SALES} group by product",
        "product",
        (SALES,),
    ),
    "a sum that overflows": (
        "select product, count(*) as n, sum(if(pieces = 1, cast('99999999999999999999999999999999999999' as "
        f"decimal(38, 0)), cast(0 as decimal(38, 0)))) as s from {SALES} group by product",
        "product",
        (SALES,),
    ),
    "a mean of wide integers": (
        "select product, sum(wide) as s, count(wide) as n, avg(wide) as m from (select product, "
        f"cast(pieces as bigint) * 3000000000000000000 as wide from {SALES}) group by product",
        "product",
        (SALES,),
    ),
    "a mean of decimals": (
        "select product, sum(amount) as s, count(amount) as n, avg(amount) as m "
        f"from {SALES} group by product",
        "product",
        (SALES,),
    ),
    "a hash of numbers of two widths": (
        "select xxhash64(p.wide) as k, count(distinct r.day) as n "
        f"from (select cast(sale_id as bigint) as wide from {SALES}) as p "
        f"left join {RETURNS} as r on p.wide = r.return_id group by xxhash64(p.wide)",
        "k",
        (RETURNS,),
    ),
    "a division that a condition keeps from zero": (
        f"select k, row_number() over (partition by k order by sale_id) as place from "
        f"(select 100 div pieces as k, sale_id from {SALES} where pieces <> 0)",
        "k, place",
        (SALES,),
    ),
    "a text that is compared with a number where it is one": (
        f"select s.product, count(distinct p.label) as n from {SALES} as s join {PRODUCTS} as p "
        "on s.pieces = p.label where p.label in ('1', '2') group by s.product",
        "product",
        (PRODUCTS,),
    ),
    "a table that is named and not read": (
        f"with unused as (select * from {PRODUCTS}) select sale_id, day from {SALES}",
        "sale_id",
        (SALES,),
    ),
    "a union in which two columns have one name": (
        f"select a, count(distinct b) as n from (select sale_id as a, pieces as b from {SALES} "
        f"union all select r.sale_id, s.sale_id from {RETURNS} as r join {SALES} as s on s.pieces = r.score) "
        "group by a",
        "a",
        (RETURNS,),
    ),
    "an inner join on a column that may be missing, or else on a value": (
        f"select p.product, count(distinct r.return_id) as n from {RETURNS} as r left join {SALES} as s "
        f"on r.sale_id = s.sale_id join {PRODUCTS} as p on coalesce(s.product, 'a') = p.product "
        "group by p.product",
        "product",
        (SALES,),
    ),
    "the same of a left join": (
        f"select r.return_id, p.label from {RETURNS} as r left join {SALES} as s on r.sale_id = s.sale_id "
        f"left join {PRODUCTS} as p on coalesce(s.product, 'a') = p.product",
        "return_id",
        (PRODUCTS,),
    ),
    "the same of a subquery": (
        f"select r.return_id from {RETURNS} as r left join {SALES} as s on r.sale_id = s.sale_id "
        f"where exists (select 1 from {PRODUCTS} as p where p.product = coalesce(s.product, 'a'))",
        "return_id",
        (PRODUCTS,),
    ),
    "a chain of left joins": (
        f"select r.return_id, p.label from {RETURNS} as r left join {SALES} as s on r.sale_id = s.sale_id "
        f"left join {PRODUCTS} as p on s.product = p.product",
        "return_id",
        (PRODUCTS, SALES),
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_a_hostile_query_equals_its_rebuild(few_partitions: SparkSession, name: str) -> None:
    """R2.4: in full, or with the table of a rebuild."""
    sql, key, changed = QUERIES[name]
    few_partitions.conf.set("spark.sql.ansi.enabled", str(name in ANSI).lower())
    model = model_of(few_partitions, Relation(sql, {}, tuple(key.split(", "))))
    found = tried(few_partitions, model, changed, number=60)
    assert not found.differing, (found.plan.how, found.differing)
