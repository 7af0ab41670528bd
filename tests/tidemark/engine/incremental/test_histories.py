"""Histories that are drawn: keys hold, sources touch the same keys, orders have ties, ties are found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.tidemark.engine.incremental.random_queries import TABLES, Relation
from tests.tidemark.engine.incremental.test_random_queries import ShopCatalog, model_of, tried
from tidemark.cli.prove import Total
from tidemark.engine.incremental.parse import parse
from tidemark.engine.incremental.plan import full
from tidemark.engine.incremental.request import Request
from tidemark.engine.incremental.unsupported import Unsupported
from tidemark.engine.prove.drawing import Drawn, History, Row
from tidemark.engine.prove.histories import draw, subsets
from tidemark.engine.prove.models import reason_of
from tidemark.engine.prove.proof import Model, Tried
from tidemark.engine.prove.roles import depends_on_order, meeting, ordering

pytestmark = pytest.mark.R2
SALES, PRODUCTS, RETURNS = "shop.sales", "shop.products", "shop.returns"
JOINED = (
    "select s.day, p.family, count(distinct s.sale_id) as number from shop.sales as s "
    "join shop.products as p on s.product = p.product group by s.day, p.family"
)


def planned(sql: str) -> Model:
    tree = parse(sql, ShopCatalog()).tree
    return Model("random", "shop.random", tree, (), dict.fromkeys(tree.names, "int"), dict(TABLES))


def states(history: History) -> Iterator[list[Row]]:
    yield history.previous
    yield history.present


def test_columns_that_meet_and_columns_that_order() -> None:
    """R2.2: also through the names of subqueries."""
    sql = (
        "select kind, max_by(n, latest) as one from (select p.label as kind, s.day as latest, s.pieces as n "
        "from shop.sales as s join shop.products as p on s.product = p.product where s.amount > 1) as rows "
        "group by kind"
    )
    tree = parse(sql, ShopCatalog()).tree
    assert {"product", "label"} <= meeting(tree)
    assert not {"amount", "pieces"} & meeting(tree)
    assert "day" in ordering(tree)
    assert depends_on_order(tree)
    assert not depends_on_order(parse(JOINED, ShopCatalog()).tree)


def test_changes_of_several_sources_touch_the_same_keys() -> None:
    """R2.4: in most histories, a changed sale has the product of a changed product."""
    drawn = draw(planned(JOINED), (SALES, PRODUCTS), Random(1), 300)
    both = [
        {row["product"] for row in sales.changes} & {row["product"] for row in products.changes} - {None}
        for sales, products in zip(drawn[SALES], drawn[PRODUCTS], strict=True)
    ]
    assert sum(map(bool, both)) > 200


def test_orders_have_ties() -> None:
    """R2.4: the column of an order has few values in a history."""

    def with_ties(order: str) -> int:
        sql = f"select sale_id, count(*) over (partition by product {order}) as n from shop.sales"
        drawn = draw(planned(sql), (SALES,), Random(1), 300)
        dates = [[row["day"] for row in one.present if row["day"] is not None] for one in drawn[SALES]]
        return sum(len(some) - len(set(some)) for some in dates)

    assert with_ties("order by day") > 1.2 * with_ties("")


def test_each_key_of_a_table_holds() -> None:
    """R2.4: the other keys as far as they have values."""
    model = planned("select sale_id, day from shop.sales")
    keyed = replace(TABLES[SALES], keys=(("day", "product"), ("amount",)))
    drawn: Drawn = draw(replace(model, tables={SALES: keyed}), (SALES,), Random(1), 200)
    rows = [state for history in drawn[SALES] for state in states(history)]
    for key in (("sale_id",), ("day", "product"), ("amount",)):
        for state in rows:
            values = [tuple(row[name] for name in key) for row in state]
            whole = [one for one in values if None not in one]
            assert len(set(whole)) == len(whole), key
    assert max(map(len, rows)) > 3


def test_pairs_of_sources_are_tried_where_their_way_is_another() -> None:
    """R2.2: each source alone, all together, and few pairs."""
    three = JOINED.replace("group by", "left join shop.returns as r on r.sale_id = s.sale_id group by")
    found = subsets(planned(three))
    assert found[:3] == [(PRODUCTS,), (RETURNS,), (SALES,)]
    assert found[-1] == (PRODUCTS, RETURNS, SALES)
    assert len(found) < 7


def test_the_summary_of_a_model() -> None:
    """R2.4: how many histories were left out, and why; a reason has no Java terms."""
    request = Request((), {}, frozenset())
    regions = replace(full(request, ""), way="rows")
    total = Total()
    total.add(Tried(regions, 60, repeated=45, tied={1: [], 2: []}, allows_ties=True))
    total.add(Tried(full(request, "limit")))
    assert total.message == (
        "60 histories, 0 rows differ (changed rows; full: limit); 45 more had two rows of one key; "
        "2 more had ties in an order"
    )
    nothing = Total()
    nothing.add(Tried(full(request, "limit")))
    assert nothing.message == "not tried: full: limit"
    assert reason_of(Unsupported("a scalar subquery with groups")).startswith("its query has a scalar")
    assert reason_of(ValueError("interval")) == "no values can be drawn of the type interval"
    assert reason_of(KeyError("group")) == "an error of Tidemark (KeyError: 'group')"


OVER_JOIN = "from shop.sales as s join shop.products as p on s.product = p.product"
TIED = {
    "ntile": (
        "select sale_id, day, ntile(2) over (partition by day order by pieces) as n from shop.sales",
        "sale_id",
    ),
    "row_number over a join": (
        f"select s.sale_id, s.day, row_number() over (partition by s.day order by p.label) as n {OVER_JOIN}",
        "sale_id",
    ),
    "collect_list": ("select day, collect_list(product) as n from shop.sales group by day", "day"),
    "a running sum by rows": (
        "select sale_id, day, count(*) over (partition by day order by pieces rows unbounded preceding) "
        "as n from shop.sales",
        "sale_id",
    ),
}


@pytest.mark.parametrize("what", TIED)
def test_ties_are_distinguished_from_defects(few_partitions: SparkSession, what: str) -> None:
    """R2.4: a query with several right answers is none that differs."""
    sql, key = TIED[what]
    model = model_of(few_partitions, Relation(sql, {}, (key,)))
    found = tried(few_partitions, model, (SALES,), number=30)
    assert len(found.tied) > 1, found.plan.how
    assert not found.differing
    assert not replace(found, allows_ties=True).wrong


SUBQUERIES = (
    "select s.sale_id, (select p.label from shop.products as p where p.product = s.product) as label "
    "from shop.sales as s",
    "select s.sale_id, (select distinct p.family from shop.products as p where p.product = s.product) as "
    "family "
    "from shop.sales as s",
    "select s.sale_id from shop.sales as s where s.pieces > (select 1.2 * avg(o.pieces) from shop.sales as o "
    "where o.product = s.product)",
)


@pytest.mark.parametrize("sql", SUBQUERIES)
def test_subqueries_for_a_value_are_tried(few_partitions: SparkSession, sql: str) -> None:
    """R2.4: with an aggregate and without one."""
    model = model_of(few_partitions, Relation(sql, {}, ("sale_id",)))
    found = tried(few_partitions, model, tuple(sorted(model.tables)))
    assert not found.differing, (found.plan.how, found.differing)
    assert found.histories >= 18
