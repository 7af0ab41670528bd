"""The table of constructs in docs/incremental.md: what it says happens, and gives what a rebuild gives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from pyspark.sql import SparkSession

from tests.conftest import ROOT
from tests.tidemark.engine.incremental.random_queries import Relation
from tests.tidemark.engine.incremental.test_random_queries import ShopCatalog, model_of, tried
from tidemark.engine.incremental.choosing import choose_plan
from tidemark.engine.incremental.parse import parse
from tidemark.engine.incremental.request import Request
from tidemark.engine.incremental.tree import leaves
from tidemark.engine.incremental.unsupported import Unsupported

PAGE = (ROOT / "docs/incremental.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (?P<what>[^|]+) \| `(?P<sql>select [^|]+)` \| (?P<how>[^|]+) \|$", re.MULTILINE)
KEYS = ("number_of_product", "sale_id", "piece", "day", "month_of_year", "family", "scope", "product")
BOTH = {
    "select sale_id, piece": ("sale_id", "piece"),
    "select distinct day": ("day", "product"),
    "rollup": ("day", "product"),
}


@dataclass(frozen=True)
class Construct:
    """A row of the table: its query, with the schema of the test's tables, and what it says of each."""

    what: str
    sql: str
    how: str

    def key(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the key of the query's result, which has these columns."""
        both = next((key for part, key in BOTH.items() if part in self.sql), None)
        return both or (next(name for name in names if name in KEYS),)

    def expected_of(self, table: str) -> str:
        """Return what the row says of changes of a table."""
        for part in self.how.split("; "):
            name, _, how = part.rpartition(": ") if not part.startswith("full") else ("", "", part)
            if part.startswith(f"{table}: "):
                return part.partition(": ")[2]
            if not name:
                return how
        return self.how


def constructs() -> Iterator[Construct]:
    for row in ROW.finditer(PAGE):
        sql = re.sub(r"(\bfrom|\bjoin|,) (sales|products|returns)\b(?!\.)", r"\1 shop.\2", row["sql"])
        yield Construct(row["what"], sql, row["how"])


pytestmark = pytest.mark.R2
CONSTRUCTS = {one.what: one for one in constructs()}


def test_the_page_has_the_table() -> None:
    """R2.2: at least what users of other engines ask for."""
    words = "having, limit, distinct, not exists, join, union, window, floating-point, subquery"
    for word in words.split(", "):
        assert any(word in what for what in CONSTRUCTS), word


@pytest.mark.parametrize("what", CONSTRUCTS)
def test_the_page_says_what_happens(what: str) -> None:
    """R2.2: rows, folded groups, touched values, or in full with the reason."""
    construct = CONSTRUCTS[what]
    try:
        tree, refused = parse(construct.sql, ShopCatalog()).tree, None
    except Unsupported as found:
        tree, refused = None, f"full: {found.construct}"
    if tree is None:
        assert construct.how == refused
        return
    kind = "double" if "double" in construct.sql else "bigint"
    for table in {leaf.table for leaf in leaves(tree)}:
        request = Request(construct.key(tree.names), dict.fromkeys(tree.names, kind), frozenset({table}))
        how = re.sub(r" \(line \d+\)$", "", choose_plan(tree, request).how)
        assert how == construct.expected_of(table.partition(".")[2]), table


def test_changes_that_read_more_than_the_query_are_not_added() -> None:
    """R2.3: each of three joined tables that changed is joined with the two others."""
    sql = "select sales.sale_id, products.label from shop.sales join shop.products using_key"
    sql = sql.replace("using_key", "on sales.product = products.product")
    tree = parse(sql, ShopCatalog()).tree
    tables = frozenset({"shop.sales", "shop.products"})
    sizes = {"shop.sales": 900, "shop.products": 100}
    wide = (
        "select *, 1 as one from ("
        + sql
        + ") as named join shop.returns on named.sale_id = returns.return_id"
    )
    for query, changed, way in (
        (tree, tables, "rows"),
        (tree, {"shop.sales"}, "rows"),
        (parse(wide, ShopCatalog()).tree, tables | {"shop.returns"}, "full"),
    ):
        request = Request(
            ("sale_id",),
            dict.fromkeys(query.names, "int"),
            frozenset(changed),
            sizes={**sizes, "shop.returns": 500},
        )
        assert choose_plan(query, request).way == way


def test_each_construct_equals_its_rebuild(few_partitions: SparkSession) -> None:
    """R2.2: twenty random histories of all its sources for each row of the table."""
    proved = 0
    for construct in CONSTRUCTS.values():
        if construct.how.startswith("full"):
            continue
        names = parse(construct.sql, ShopCatalog()).tree.names
        model = model_of(few_partitions, Relation(construct.sql, {}, construct.key(names)))
        try:
            found = tried(few_partitions, model, tuple(sorted(model.tables)))
        except Unsupported:
            continue  # it cannot be computed for many histories at once
        assert not found.differing, (construct.what, found.plan.how, found.differing)
        proved += found.plan.way != "full"
    assert proved >= 18
