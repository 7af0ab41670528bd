"""Spellings that sqlglot and Spark read in different ways become ones that both read alike; lines stay."""

from __future__ import annotations

import pytest

from tests.tidemark.engine.incremental.test_random_queries import ShopCatalog
from tidemark.engine.incremental.choosing import choose_plan
from tidemark.engine.incremental.parse import parse
from tidemark.engine.incremental.readings import present
from tidemark.engine.incremental.request import Request
from tidemark.engine.incremental.spelling import plain
from tidemark.engine.incremental.tree import render
from tidemark.engine.incremental.unsupported import Unsupported

pytestmark = pytest.mark.R2


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("select 1L, 2S, 3y", "select cast(1 as bigint), cast(2 as smallint), cast(3 as tinyint)"),
        ("select 0.10D, 1.5f", "select cast(0.10 as double), cast(1.5 as float)"),
        ("select 1.50BD, .5BD", "select cast(1.50 as decimal(3, 2)), .5BD"),
        ("select -9223372036854775808L, 1e3BD", "select -9223372036854775808L, 1e3BD"),
        ("select 'it' ' is\\'nt' \"\\n\"", "select 'it is\\'nt\\n'"),
        ("select date '2025-1-1', date 'today'", "select cast('2025-1-1' as date), date 'today'"),
        ("select interval '3 days', interval '1-2'", "select interval '3' days, interval '1-2'"),
        ("select /*+ broadcast(p)\n */ Id as id, X.Y as y from t", "select \n id , x.y  from t"),
        ("select to_json(struct(Id)) from T limit all", "select to_json(struct(Id)) from T  "),
        ("select Id + 1 as id from t", "select id + 1 as id from t"),
        (
            "with a as (select 'x\n'), b as (select 1) select * from b",
            "with \n b as (select 1) select * from b",
        ),
        ("with a as (select 1), b as (select * from a) select 2", "   select 2"),
        ("with a as (select 1) select 2 from a", "with a as (select 1) select 2 from a"),
        (
            "select * from (values (1, 'a'), (2, null)) as v (n, t)",
            "select * from (select 1 as col1, 'a' as col2 union all select 2, NULL) as v (n, t)",
        ),
        ("select * from values (1), ('a')", "select * from values (1), ('a')"),
        (
            "select n from range(1, 13,\n 3) as r (n)",
            "select n from (select explode(sequence(cast(1 as bigint), 12, 3)) as id\n) as r (n)",
        ),
        (
            "select * from t join explode(sequence(1,\n 3)) as s (n) on true",
            "select * from t join (select explode(sequence(1,\n 3)) as col) as s (n) on true",
        ),
        (
            "select explode(array(1)), 2 from t, explode(array(3)) as s (n) where n in (1, 2)",
            "select explode(array(1)), 2 from t, (select explode(array(3)) as col) as s (n) "
            "where n in (1, 2)",
        ),
        ("select * from range(3, 1)", "select * from range(3, 1)"),  # of no rows
        ("select * from range(3, 9, -1)", "select * from range(3, 9, -1)"),
        ("select * from explode(t.items)", "select * from explode(t.items)"),
        ("select * from values (1), (f(2))", "select * from values (1), (f(2))"),
        ("select * from values (1), 2", "select * from values (1), 2"),
    ],
)
def test_a_spelling(given: str, written: str) -> None:
    """R2.2: numbers, texts, moments, hints, names, unused CTEs, lists of rows."""
    assert " ".join(plain(given).split(" ")).strip() == written.strip()
    assert plain(given).count("\n") == given.count("\n")


def how(sql: str, changed: str = "shop.sales", key: str = "sale_id") -> str:
    tree = parse(sql, ShopCatalog()).tree
    return choose_plan(tree, Request((key,), dict.fromkeys(tree.names, "string"), frozenset({changed}))).how


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (
            "select sale_id,\n row_number() over (partition by product order by day) as n from shop.sales",
            "a window by `product`, which is not in the select: add it (line 2)",
        ),
        (
            "select n, count(distinct sale_id) as sale_id from (select sale_id, ntile(2) over "
            "(partition by day order by sale_id) as n from shop.sales) as x group by n",
            "an aggregate (line 1)",
        ),
        (
            "select products.product as sale_id, count(distinct sales.day) as n from shop.products "
            "left join shop.sales on sales.pieces > 1 + length(products.product) group by products.product",
            "a join on `sales.pieces > 1 + length(products.product)`, which is not an equality (line 1)",
        ),
        (
            "select sale_id from shop.sales\nversion as of 3",
            "a version of a table, as of a time or a number (line 1)",
        ),
        ("select sale_id from shop.sales\n|> where pieces > 1", "pipe syntax (|>) (line 2)"),
        ("with recursive n as (select 1 as i) select i as sale_id from n", "with recursive (line 1)"),
        ("select id as sale_id from range(3, 1)", "the table function range() (line 1)"),
        (
            "select s.sale_id from shop.sales as s join (shop.products as p join shop.returns as r "
            "on p.product = r.day) on true",
            "a join in parentheses: write it as a subquery or a CTE (line 1)",
        ),
        ("select sale_id from from", "syntax that Tidemark does not read"),
    ],
)
def test_a_reason_names_the_part_and_the_way_out(sql: str, message: str) -> None:
    """R2.3: no reason speaks of libraries or of the engine's own names."""
    try:
        found = how(sql)
    except Unsupported as refused:
        found = f"full: {refused.where}"
    assert found.startswith(f"full: {message}")


def test_a_right_join_is_a_left_join_from_the_other_side() -> None:
    """R2.2: rows of the side that always stays are followed one by one, also with joins after it."""
    right = (
        "select s.sale_id, p.label from shop.products as p "
        "right join shop.sales as s on s.product = p.product"
    )
    assert how(right) == "changed rows"
    assert how(f"{right} join shop.returns as r on r.sale_id = s.sale_id") == "changed rows"
    assert how(f"{right} right join shop.returns as r on r.sale_id = s.sale_id") != "changed rows"


def test_several_columns_in_a_subquery() -> None:
    """R2.2: each column of the left side is the one of its place."""
    sql = "select sale_id from shop.sales where (day, product) in (select day, 'a' from shop.returns)"
    assert how(sql, "shop.returns") == "touched sale_id"


@pytest.mark.parametrize(
    ("sql", "written"),
    [
        ("select mod(pieces, 2) as a, log2(pieces) as b from shop.sales", "mod("),
        (
            "select percentile_cont(0.5) within group (order by pieces) as a from shop.sales",
            "percentile_cont(",
        ),
        ("select to_char(amount, '9') as a, substr(product, 2) as b from shop.sales", "to_char("),
    ],
)
def test_functions_keep_their_names(sql: str, written: str) -> None:
    """R2.2: sqlglot does not put a similar function in the place of another one."""
    tree = parse(sql, ShopCatalog()).tree
    assert written in render(tree, present).sql("spark").lower()
