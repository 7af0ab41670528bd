"""The rows behind a row of a result: they alone give the row, and no others are named."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tests.tidemark.engine.incremental.random_queries import TABLES, random_query
from tests.tidemark.engine.incremental.test_random_queries import ShopCatalog
from tidemark.engine.incremental.parse import parse
from tidemark.engine.incremental.readings import filled, present
from tidemark.engine.incremental.tree import Node, leaves, render
from tidemark.engine.incremental.unsupported import Unsupported
from tidemark.engine.why.carried import CARRIED, KEY, Carried, carried

pytestmark = [pytest.mark.R1]
RANDOM = int(os.environ.get("TIDEMARK_QUERIES", "6"))
ROWS = {
    "shop.sales": [
        "(1, date '2025-03-01', 'a', 10.5, 1), (2, date '2025-03-01', 'b', 2, 2)",
        "(3, date '2025-03-02', 'a', 4, null), (4, date '2025-03-02', null, 1, 3)",
        "(5, date '2025-03-02', 'c', 8, 1), (6, null, 'a', 3, 5)",
    ],
    "shop.products": ["('a', 'Apple', 'fruit'), ('b', 'Bean', 'pulse'), ('d', 'Date', 'fruit')"],
    "shop.returns": ["(1, 1, date '2025-03-02', 3), (2, 3, date '2025-03-03', 5), (3, 3, null, 1)"],
    "shop.payments": [
        "(1, 1, timestamp '2025-03-01 10:00:00', 10.5, 1.0, 'x'), (2, 3, null, 4, 0.5, 'y')",
        "(3, 9, timestamp '2025-03-02 10:00:00', 7, 0.25, 'x')",
    ],
}
ID = {table: declared.key[0] for table, declared in TABLES.items()}
ALL = "all"
FAMILIES = "select p.family, sum(s.amount) as amount from shop.sales s join shop.products p using (product)"
# a query, values of its key, and which rows of each table are behind them; ALL if the key does not tell
LITERAL: list[tuple[str, dict[str, str], dict[str, list[Any] | str]]] = [
    (
        "select day, sum(amount) as amount from shop.sales where pieces < 3 group by day",
        {"day": "2025-03-01"},
        {"sales": [1, 2]},
    ),
    (
        "select sale_id, amount * 2 as twice from shop.sales where amount > 3",
        {"sale_id": "3"},
        {"sales": [3]},
    ),
    (f"{FAMILIES} group by p.family", {"family": "fruit"}, {"sales": [1, 3, 6], "products": ["a"]}),
    (
        "select s.sale_id, r.score from shop.sales s left join shop.returns r on r.sale_id = s.sale_id",
        {"sale_id": "2"},
        {"sales": [2], "returns": []},
    ),
    (
        "select * from (select *, row_number() over (partition by product order by sale_id desc) as place "
        "from shop.sales) where place = 1",
        {"product": "a"},
        {"sales": [1, 3, 6]},
    ),
    (
        "select day, max(number) as most from (select day, product, count(*) as number from shop.sales "
        "group by day, product) group by day",
        {"day": "2025-03-02"},
        {"sales": [3, 4, 5]},
    ),
    (
        "select p.label, t.amount from shop.products p join (select product, sum(amount) as amount "
        "from shop.sales group by product) t on t.product = p.product",
        {"label": "Apple"},
        {"products": ["a"], "sales": [1, 3, 6]},
    ),
    (
        "select day, 'sold' as what from shop.sales union all select day, 'back' from shop.returns",
        {"day": "2025-03-02", "what": "back"},
        {"sales": [], "returns": [1]},
    ),
    (
        "select sale_id from shop.sales s where exists (select 1 from shop.returns r "
        "where r.sale_id = s.sale_id and r.score > 2)",
        {"sale_id": "3"},
        {"sales": [3], "returns": [2, 3]},
    ),
    (
        "select product, amount / (select sum(amount) from shop.sales) as share from shop.sales",
        {"product": "c"},
        {"sales": ALL},
    ),
    (
        "select product, rank() over (order by amount) as place from shop.sales",
        {"product": "c"},
        {"sales": ALL},
    ),
    (
        "select product, rank() over (order by amount) as n from "
        "(select product, sum(amount) as amount from shop.sales group by product)",
        {"product": "c"},
        {"sales": ALL},
    ),
    ("select distinct family from shop.products", {"family": "fruit"}, {"products": ["a", "d"]}),
    (
        "select day, product, sum(amount) as amount from shop.sales group by rollup (day, product)",
        {"day": "2025-03-01", "product": "a"},
        {"sales": ALL},
    ),
]


@dataclass
class Lake:
    """The tables as views."""

    spark: SparkSession

    def __post_init__(self) -> None:
        for table, parts in ROWS.items():
            kinds = TABLES[table].columns
            names = ", ".join(kinds)
            casts = ", ".join(f"cast({name} as {kind}) as {name}" for name, kind in kinds.items())
            rows = self.spark.sql(f"select {casts} from values {', '.join(parts)} as t({names})")
            rows.createOrReplaceTempView(self.view(table))

    def view(self, table: str, part: str = "all") -> str:
        return f"why_{table.partition('.')[2]}_{part}"

    def read(self, root: Node, part: str = "all") -> DataFrame:
        return self.spark.sql(filled(render(root, present), self._views(root, part)))

    def _views(self, root: Node, part: str) -> dict[str, dict[str, str]]:
        return {leaf.table: {"present": self.view(leaf.table, part)} for leaf in leaves(root)}

    def ids(self, root: Node, one: Carried, wanted: dict[str, Any]) -> set[Any] | str:
        """The rows of a table that are behind a row of the result, by the column that tells them apart."""
        if not one.keys:
            return ALL
        rows = self.spark.sql(filled(one.query, self._views(root, "all")))
        for number, name in enumerate(one.keys):
            rows = rows.where(f.col(KEY.format(number)).eqNullSafe(f.lit(wanted[name])))
        place = one.columns.index(ID[one.leaf.table])
        return {row[0] for row in rows.select(CARRIED.format(place)).collect()}

    def behind(self, root: Node, wanted: dict[str, Any]) -> dict[str, set[Any] | str]:
        found: dict[str, set[Any] | str] = {}
        for leaf in leaves(root):
            ids, before = (
                self.ids(root, carried(root, leaf, list(wanted)), wanted),
                found.get(leaf.table, set()),
            )
            found[leaf.table] = ALL if isinstance(ids, str) or isinstance(before, str) else ids | before
        return found

    def keep(self, found: dict[str, set[Any] | str]) -> None:
        """Let the part `behind` of each table have these rows."""
        for table, ids in found.items():
            rows = self.spark.table(self.view(table))
            kept = rows if isinstance(ids, str) else rows.where(f.col(ID[table]).isin(*ids))
            kept.createOrReplaceTempView(self.view(table, "behind"))


@pytest.fixture(scope="module")
def lake(spark: SparkSession) -> Iterable[Lake]:
    spark.conf.set("spark.sql.ansi.enabled", "false")
    yield Lake(spark)
    spark.conf.unset("spark.sql.ansi.enabled")


@pytest.mark.parametrize(("sql", "key", "expected"), LITERAL)
def test_these_rows_are_behind_a_row(
    lake: Lake, sql: str, key: dict[str, str], expected: dict[str, list[Any] | str]
) -> None:
    """R1.1: of joins, unions, windows, groups of groups, and subqueries."""
    found = lake.behind(parse(sql, ShopCatalog()).tree, key)
    assert {table.partition(".")[2]: ids for table, ids in found.items()} == {
        table: ids if isinstance(ids, str) else set(ids) for table, ids in expected.items()
    }


def test_the_rows_behind_a_row_give_it_alone(lake: Lake) -> None:
    """R1.1: the query over the named rows of all tables has the row; for random queries."""
    narrowed = compared = 0
    for number in range(RANDOM):
        relation = random_query(Random(f"why {number}"))
        if " limit " in relation.sql:
            continue  # over fewer rows it lets others in
        try:
            root = parse(relation.sql, ShopCatalog()).tree
        except Unsupported:
            continue
        whole = lake.read(root)
        key = [name for name in relation.key or whole.columns if "map<" not in dict(whole.dtypes)[name]]
        for row in whole.orderBy(*key).limit(2).collect():
            wanted = {name: row[name] for name in key}
            found = lake.behind(root, wanted)
            lake.keep(found)
            same = [f.col(name).eqNullSafe(f.lit(value)) for name, value in wanted.items()]
            again = lake.read(root, "behind")
            for condition in same:
                again, whole = again.where(condition), whole.where(condition)
            assert sorted(map(str, again.collect())) == sorted(map(str, whole.collect())), (
                relation.sql,
                wanted,
                found,
            )
            compared += 1
            narrowed += any(ids != ALL for ids in found.values())
            whole = lake.read(root)
    assert compared >= RANDOM // 2
    assert narrowed >= compared // 2
