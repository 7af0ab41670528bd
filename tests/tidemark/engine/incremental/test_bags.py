"""Queries that prove no key: equal rows count as often as they occur."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.tidemark.engine.incremental.random_queries import Relation
from tests.tidemark.engine.incremental.test_random_queries import model_of, tried
from tidemark.engine.writing import bags

pytestmark = pytest.mark.R2

ROWS = "select day, product from shop.sales where pieces > 1"
UNITED = "select product from shop.sales union all select product from shop.products"
JOINED = "select products.family, sales.pieces from shop.sales join shop.products using (product)"
OPTIONAL = (
    "select products.product, returns.score from shop.products "
    "left join shop.sales on sales.product = products.product "
    "left join shop.returns on returns.sale_id = sales.sale_id"
)
COUNTED = "select count(*) as sold, sum(pieces) as pieces from shop.sales"
LOWEST = "select min(day) as first_day, max(pieces) as most, sum(pieces) as pieces from shop.sales"
COMMITTED = (UNITED, OPTIONAL, LOWEST)  # by a real INSERT or MERGE
WAYS = {
    ROWS: {"shop.sales": "rows"},
    UNITED: {"shop.sales": "rows", "shop.products": "rows"},
    JOINED: {"shop.sales": "rows", "shop.products": "rows"},
    OPTIONAL: {"shop.products": "rows", "shop.sales": "regions", "shop.returns": "regions"},
    COUNTED: {"shop.sales": "folded"},
    LOWEST: {"shop.sales": "folded"},
}


@pytest.mark.parametrize("sql", WAYS)
def test_rows_without_a_key_are_maintained(few_partitions: SparkSession, sql: str) -> None:
    """R2.2: each source alone, and all of them, on random histories with the statements of a run."""
    model = model_of(few_partitions, Relation(sql, {}, None))
    for changed, way in [*WAYS[sql].items(), (None, None)]:
        tables = (changed,) if changed else tuple(WAYS[sql])
        found = tried(few_partitions, model, tables, commits=changed is None and sql in COMMITTED)
        assert way in (None, found.plan.way), changed
        assert (found.differing, found.histories > 0) == ({}, True), (changed, found.differing)


def test_a_wrong_number_of_copies_is_found(
    few_partitions: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R2.2: copies that stay are not inserted again."""
    right = bags._left
    monkeypatch.setattr(bags, "_left", lambda *given: f"select * from ({right(*given)}) where false")
    model = model_of(few_partitions, Relation(UNITED, {}, None))
    assert tried(few_partitions, model, tuple(WAYS[UNITED]), commits=True).differing
