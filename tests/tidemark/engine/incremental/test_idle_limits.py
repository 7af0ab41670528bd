"""A limit is left out only where the query has one row at most without it."""

from __future__ import annotations

import pytest

from tests.tidemark.engine.incremental.test_random_queries import ShopCatalog
from tidemark.engine.incremental.parse import parse
from tidemark.engine.incremental.tree import Block

pytestmark = pytest.mark.R2


class Functions(ShopCatalog):
    """A catalog that knows a generator which sqlglot does not."""

    def group(self, function: str) -> str:
        return "generator_funcs" if function.lower() == "inline_outer" else super().group(function)


@pytest.mark.parametrize(
    ("sql", "is_limited"),
    [
        ("select sum(amount) as amount from shop.sales limit 1", False),
        ("select sum(amount) as amount from shop.sales order by amount limit 100", False),
        ("select sum(amount) as amount from shop.sales limit 0", True),
        ("select sum(amount) as amount from shop.sales limit 1 offset 1", True),
        ("select sum(amount) as amount from shop.sales group by day limit 1", True),
        ("select amount from shop.sales limit 1", True),
        ("select explode(collect_list(pieces)) as piece from shop.sales limit 1", True),
        ("select stack(2, sum(pieces), 1) as piece from shop.sales limit 1", True),
        ("select inline_outer(collect_list(struct(pieces))) from shop.sales limit 1", True),
    ],
)
def test_a_limit_of_one_row_changes_nothing(sql: str, is_limited: bool) -> None:
    """R2.2: a generator may give more rows, and `limit 0` and an offset leave none."""
    tree = parse(sql, Functions()).tree
    assert isinstance(tree, Block)
    assert bool(tree.select.args.get("limit")) is is_limited
