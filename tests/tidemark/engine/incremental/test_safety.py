"""A run computes touched values for rows that the query leaves out, so no value may make them fail."""

from __future__ import annotations

import pytest

from tests.tidemark.engine.incremental.test_random_queries import ShopCatalog
from tidemark.engine.incremental.choosing import choose_plan
from tidemark.engine.incremental.parse import parse
from tidemark.engine.incremental.request import Request

pytestmark = pytest.mark.R2


class Log(ShopCatalog):
    """A catalog of one table."""

    def columns(self, table: str) -> dict[str, str] | None:
        return (
            {"id": "int", "at": "timestamp", "day": "date", "message": "string"} if table == "a.log" else None
        )


@pytest.mark.parametrize(
    ("expression", "is_safe"),
    [
        ("cast(at as date)", True),
        ("date(at)", True),
        ("hour(at)", True),
        ("cast(date_trunc('week', day) as date)", True),
        ("cast(id as string)", True),
        ("try_cast(message as int)", True),
        ("id % 40", True),
        ("date_sub(day, 1)", True),
        ("date_format(day, 'yyyy-MM')", True),
        ("lcase(substr(message, 2))", True),
        ("date_format(message, 'yyyy-MM')", False),
        ("date_format(day, message)", False),
        ("to_date(message)", False),
        ("year(message)", False),
        ("cast(message as date)", False),
        ("cast(message as int)", False),
        ("100 div id", False),
        ("id % 0", False),
    ],
)
def test_touched_values_cannot_fail(expression: str, is_safe: bool) -> None:
    """R2.4: a time of a text, a number of a text and a division are computed by the query alone."""
    tree = parse(f"select {expression} as k, count(distinct id) as n from a.log group by 1", Log()).tree
    plan = choose_plan(tree, Request(("k",), {"k": "string", "n": "bigint"}, frozenset({"a.log"})))
    assert (plan.how == "touched k") is is_safe
    assert is_safe or " may fail for some values" in plan.how
