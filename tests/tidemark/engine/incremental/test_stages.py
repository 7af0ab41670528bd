"""Queries in stages: where they are split, and that each stage and the table over them equal a rebuild."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from pyspark.sql import SparkSession
from sqlglot import exp

from tests.night import is_night
from tests.tidemark.engine.incremental.random_queries import Relation
from tests.tidemark.engine.incremental.test_random_queries import ShopCatalog, model_of, tried
from tidemark.engine.incremental import partials, splitting
from tidemark.engine.incremental.choosing import choose_plan
from tidemark.engine.incremental.group_parts import mean_of_decimals
from tidemark.engine.incremental.parse import parse
from tidemark.engine.incremental.plan import VALUE
from tidemark.engine.incremental.proven_key import proven_key
from tidemark.engine.incremental.request import Request
from tidemark.engine.incremental.splitting import staged
from tidemark.engine.incremental.stages import ALL, NEEDED, Staged, StagesWanted
from tidemark.engine.incremental.tree import Block, Node, leaves
from tidemark.engine.incremental.unsupported import Unsupported

pytestmark = pytest.mark.R2

# the query; how each stage is maintained when all its tables change, and the table over the stages
SPLIT = {
    "select sale_id, amount from shop.sales order by amount desc, sale_id limit 3": ("rows", "full"),
    "select sale_id, amount as `in euro` from shop.sales order by `in euro`, sale_id limit 3": (
        "rows",
        "full",
    ),
    "select product, sum(pieces) as pieces from shop.sales group by product "
    "order by sum(pieces) desc, product limit 2 offset 1": ("folded", "full"),
    "select day, product, count(*) as sold, sum(amount) as amount from shop.sales "
    "group by rollup (day, product)": ("folded", "full"),
    "select day, product, max(pieces) as most, grouping(day) as level from shop.sales "
    "group by grouping sets ((day), (product), ())": ("folded", "full"),
    "select count(distinct product) as products, sum(amount) as amount, avg(pieces) as mean "
    "from shop.sales": ("folded", "full"),
    "select avg(sold) as mean, max(sold) as highest from "
    "(select day, sum(amount) as sold from shop.sales group by day) as days": ("folded", "full"),
    "select sold, count(*) as days from "
    "(select day, count(*) as sold from shop.sales group by day) as days group by sold": ("folded", "folded"),
    "select sale_id, row_number() over (partition by day order by sale_id) as place from shop.sales": (
        "regions",
        "rows",
    ),
    "select products.family, count(*) as sold, sum(sales.pieces) as pieces from shop.sales "
    "left join shop.products on sales.product = products.product "
    "group by products.family": ("regions", "folded"),
    "select 'sales' as what, count(*) as number from shop.sales "
    "union all select 'returns', count(*) from shop.returns": ("folded", "folded", "rows"),
    "select 100.0 * sum(if(pieces > 1, amount, 0)) / sum(amount) as share from shop.sales": (
        "folded",
        "rows",
    ),
    "select product, sum(amount) as amount, rank() over (order by sum(amount)) as place "
    "from shop.sales group by product": ("folded", "full"),
    "select sale_id from shop.sales where product not in "
    "(select product from shop.products where family = 'a')": ("folded", "rows", "rows", "full"),
    "select sale_id from shop.sales where pieces > (select avg(score) from shop.returns)": (
        "folded",
        "rows",
        "full",
    ),
    "select sale_id, amount from (select * from (select * from shop.sales) as a) as b "
    "order by amount, sale_id limit 2": ("rows", "full"),
    "select sales.pieces, returns.score from shop.sales full join shop.returns "
    "on sales.sale_id = returns.sale_id and sales.day = returns.day": ("regions", "rows"),
    "select avg(amount) as mean, count(*) as sales from shop.sales": ("folded", "rows"),
}


# queries that one step maintains, and the columns of the stage with the parts of their groups
COUNTED = {
    "select day, sum(pieces) as pieces from shop.sales group by day": [
        "sales.day",
        "SUM(sales.pieces)",
        "COUNT(sales.pieces)",
        "COUNT(*)",
    ],
    "select day, avg(pieces) as mean, count(*) as sales from shop.sales group by day": [
        "sales.day",
        "SUM(sales.pieces)",
        "COUNT(sales.pieces)",
        "COUNT(*)",
    ],
    "with days as (select day, avg(pieces) as mean, max(amount) as most from shop.sales group by day "
    "having sum(amount) > 1) select day, mean, most from days": [
        "sales.day",
        "SUM(sales.pieces)",
        "COUNT(sales.pieces)",
        "MAX(sales.amount)",
        "SUM(sales.amount)",
        "COUNT(sales.amount)",
        "COUNT(*)",
    ],
    "select product, sum(pieces) filter (where amount > 1) / count(pieces) as share from shop.sales "
    "group by product": [
        "sales.product",
        "SUM(sales.pieces) FILTER(WHERE sales.amount > 1)",
        "COUNT(sales.pieces) FILTER(WHERE sales.amount > 1)",
        "COUNT(sales.pieces)",
        "COUNT(*)",
    ],
    "select product, avg(amount) as mean from shop.sales group by product": [
        "sales.product",
        "SUM(sales.amount)",
        "COUNT(sales.amount)",
        "COUNT(*)",
    ],
    "select product from shop.sales group by product": ["sales.product", "COUNT(*)"],
    "select sum(pieces) as pieces from shop.sales": ["SUM(sales.pieces)", "COUNT(sales.pieces)"],
}


def split(sql: str, wanted: StagesWanted = NEEDED, parts: str = "bigint") -> Staged | None:
    """Return a query in stages, if all columns were integers, and sums and counts of a type."""
    tree = parse(sql, ShopCatalog()).tree

    def types_of(node: Node) -> Mapping[str, str]:
        return {name: parts if name.startswith("part_") else "int" for name in node.names}

    key = proven_key(tree, {}) or ()
    request = Request(key, types_of(tree), frozenset())
    return staged(tree, request, lambda number: f"stages.s__{number}", types_of, wanted)


@pytest.mark.parametrize("sql", SPLIT)
def test_a_query_is_split_into_stages(sql: str) -> None:
    """R2.2: the last way is that of the table over the stages."""
    found = split(sql)
    assert found is not None
    stages = [
        stage.plan(frozenset(leaf.table for leaf in leaves(stage.tree)), Request((), {}, frozenset()))
        for stage in found.stages
    ]
    changed = frozenset(leaf.table for leaf in leaves(found.rest)) & found.tables
    key = proven_key(found.rest, {}) or ()
    rest = choose_plan(found.rest, Request(key, dict.fromkeys(found.rest.names, "int"), changed))
    assert (*(plan.way for plan in stages), rest.way) == SPLIT[sql]


def test_what_one_step_maintains_has_no_stages() -> None:
    """R2.2: nor has a query of which no part is smaller than its sources."""
    for sql in (
        "select day, sum(amount) as amount from shop.sales group by day",
        "select sale_id, row_number() over (order by sale_id) as place from shop.sales",
    ):
        assert split(sql) is None


EXISTS = (
    "select day, count(*) as sales from shop.sales as s where exists "
    "(select 1 from shop.returns as r where r.sale_id = s.sale_id) group by day"
)


def test_rows_are_a_stage_where_changes_touch_whole_groups() -> None:
    """R2.2: they are found by the key of the `exists`; without it, all rows of the group are read."""
    found = split(EXISTS, ALL)
    assert found is not None
    (stage,) = found.stages
    plan = stage.plan(frozenset(["shop.returns"]), Request((), {}, frozenset()))
    rest = choose_plan(found.rest, Request(("day",), dict.fromkeys(found.rest.names, "int"), found.tables))
    assert (plan.how, rest.how) == ("touched column_1", "folded")
    assert split(EXISTS, StagesWanted(counts=True)) is None


def test_tables_look_up_touched_values_that_are_too_many_to_be_listed() -> None:
    """R2.3: not by a column of the same name in the touched regions, which would let all rows pass."""
    tree = parse(
        "select day, count(distinct product) as products from shop.sales group by day", ShopCatalog()
    )
    request = Request(("day",), {"day": "date", "products": "bigint"}, frozenset(["shop.sales"]))
    plan = choose_plan(tree.tree, request)
    conditions = {"day": f"{VALUE} between 1 and 9"}
    readings = {"shop.sales": {"present": "sales"}}
    bounds = plan.recomputed(readings, conditions, "touched")
    found = plan.recomputed(readings, conditions, "touched", {"day"})
    assert "EXISTS" not in bounds
    assert "(SELECT `day` AS __tidemark_sought FROM touched) AS sought" in found
    assert "sought.__tidemark_sought IS NOT DISTINCT FROM (`day`)" in found


@pytest.mark.parametrize("sql", COUNTED)
def test_the_parts_of_groups_are_a_stage(sql: str) -> None:
    """R2.2: changed rows are added to and subtracted from them; the query follows row by row."""
    found = split(sql, ALL)
    assert found is not None
    (stage,) = found.stages
    assert isinstance(stage.tree, Block)
    parts = [one.unalias().sql("spark").replace("`", "") for one in stage.tree.select.expressions]
    assert sorted(parts) == sorted(COUNTED[sql])
    plan = stage.plan(frozenset(["shop.sales"]), Request((), {}, frozenset()))
    rest = choose_plan(found.rest, Request((), dict.fromkeys(found.rest.names, "int"), found.tables))
    assert (plan.way, rest.way) == ("folded", "rows")
    assert "__tidemark_rows < 0" not in plan.suspects


@pytest.mark.parametrize(
    "sql",
    [
        "select sale_id, amount from shop.sales",
        "select day, count(*) as sales, count(amount) as paid, sum(amount) as paid_in_all from shop.sales "
        "group by day",
        "select explode(sequence(1, 3)) as number",  # of no table
        "select day, stddev(pieces) as spread from shop.sales group by day",
        "select day, count(distinct product) as products from shop.sales group by day",
    ],
)
def test_groups_that_tell_enough_are_not_counted(sql: str) -> None:
    """R2.2: nor those of which changed rows do not tell the new parts."""
    assert split(sql, ALL) is None


def test_a_mean_that_its_sum_does_not_tell_has_no_stage() -> None:
    """R2.2: of decimals with so many digits that a quotient in SQL would lose some."""
    sql = "select day, avg(amount) as mean, sum(pieces) as pieces from shop.sales group by day"
    assert split(sql, ALL, "decimal(33, 2)") is not None
    assert split(sql, ALL, "decimal(34, 2)") is None


def test_means_are_those_of_spark(few_partitions: SparkSession) -> None:
    """R2.2: of decimals of several sizes, of both signs, with ties of the last digit; of no rows, NULL."""
    for digits, scale in ((4, 2), (12, 2), (15, 2), (23, 4), (23, 0), (9, 9), (20, 14)):
        kind = f"decimal({digits}, {scale})"
        most = f"cast('{'9' * (digits - scale)}.{'9' * scale}' as {kind})"
        rows = (
            f"select id % 97 as number, if(id % 11 = 0 or id % 97 = 5, null, cast({most} * "
            f"cast(hash(id) % 1000 as decimal(4, 0)) / 1000 as {kind})) as value from range(4000)"
        )
        parts = (
            f"select number, avg(value) as mean, sum(value) as total, count(value) as rows from ({rows}) "
            "group by number"
        )
        types = dict(few_partitions.sql(parts).dtypes)
        mean = mean_of_decimals("total", "rows", types["total"]).sql("spark")
        found = few_partitions.sql(f"select mean, {mean} as same, rows from ({parts})")
        assert found.schema["mean"].dataType == found.schema["same"].dataType
        assert found.where("not (mean <=> same)").collect() == []
        assert found.where("mean is null").count() == 1
    with pytest.raises(Unsupported):
        mean_of_decimals("total", "rows", "decimal(38, 2)")


def test_stages_equal_their_rebuild(few_partitions: SparkSession) -> None:
    """R2.2: random histories, all sources changed; the table and each stage are written by the engine."""
    queries = [EXISTS, *SPLIT, *COUNTED]
    for sql in queries if is_night("stages") else queries[::2]:
        key = proven_key(parse(sql, ShopCatalog()).tree, {})
        model = model_of(few_partitions, Relation(sql, {}, key), ALL)
        found = tried(few_partitions, model, tuple(sorted(model.tables)))
        assert (found.differing, found.histories > 0) == ({}, True), (sql, found.stages, found.differing)
        assert found.stages, sql


def a_null_in_the_list_is_forgotten(patches: pytest.MonkeyPatch) -> None:
    right = splitting.without_not_in

    def wrong(block: Block) -> Block:
        found = right(block)
        for alias, nested in found.nested.items():
            if alias.endswith("has_null") and isinstance(nested.node, Block):
                greater = nested.node.select.find(exp.GT)
                assert greater is not None
                greater.replace(exp.LT(this=greater.this, expression=greater.expression))
        return found

    patches.setattr(splitting, "without_not_in", wrong)


def groups_are_counted_for_rows(patches: pytest.MonkeyPatch) -> None:
    right = partials._over

    def wrong(types: Mapping[str, str], parts: partials._Parts, call: exp.Expr) -> exp.Expr | None:
        found = right(types, parts, call)
        for total in list(found.find_all(exp.Sum)) if isinstance(found, exp.Coalesce) else []:
            total.replace(exp.Count(this=total.this))
        return found

    patches.setattr(partials, "_over", wrong)


NOT_IN = next(sql for sql in SPLIT if "not in" in sql)
LEVELS = next(sql for sql in SPLIT if "rollup" in sql)


@pytest.mark.parametrize(
    ("sql", "break_it"), [(NOT_IN, a_null_in_the_list_is_forgotten), (LEVELS, groups_are_counted_for_rows)]
)
def test_a_wrong_stage_is_found(
    few_partitions: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    sql: str,
    break_it: Callable[[pytest.MonkeyPatch], None],
) -> None:
    """R2.2: the proof is made from the parts that a run writes, so it finds a fault in one of them."""
    break_it(monkeypatch)
    model = model_of(few_partitions, Relation(sql, {}, None))
    assert any(
        tried(few_partitions, model, tuple(sorted(model.tables)), seed=seed).differing for seed in (1, 2)
    )
