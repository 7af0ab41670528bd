"""Changed rows are joined first, and few of them are sent to all tasks."""

from __future__ import annotations

import re

import pytest

from tests.tidemark.engine.incremental.test_random_queries import ShopCatalog
from tidemark.engine.incremental.choosing import choose_plan
from tidemark.engine.incremental.parse import parse
from tidemark.engine.incremental.request import Request

pytestmark = pytest.mark.R2

CHAIN = (
    "select a.id, d.id as last from shop.a as a join shop.b as b on a.id = b.a_id "
    "join shop.c as c on b.id = c.b_id join shop.d as d on c.id = d.c_id and a.kind = d.kind"
)
COMMA = (
    "select a.id, c.id as last from shop.a as a, shop.b as b, shop.c as c "
    "where a.id = b.a_id and c.b_id = b.id"
)


class Chain(ShopCatalog):
    """Four tables, each of which names a row of the one before it."""

    def columns(self, table: str) -> dict[str, str] | None:
        names = ("id", "a_id", "b_id", "c_id", "kind")
        return dict.fromkeys(names, "int") if re.fullmatch(r"shop\.[a-d]", table) else None


def changed(sql: str, table: str, few: frozenset[str] = frozenset()) -> str:
    """Return the SQL of the changed rows of a query, with names for the tables."""
    tree = parse(sql, Chain()).tree
    types = dict.fromkeys(tree.names, "int")
    plan = choose_plan(tree, Request(tuple(types), types, frozenset({table}), few=few))
    assert plan.way == "rows"
    readings = {
        f"shop.{name}": {"present": name, "previous": f"{name}_before", "changes": f"{name}_changes"}
        for name in "abcd"
    }
    rows = plan.net_rows(readings).replace("`", "")
    return re.sub(r"\(SELECT (?:[^()]|\((?:[^()]|\([^()]*\))*\))* FROM (\w+)\) AS [abcd]\b", r"\1", rows)


@pytest.mark.parametrize(
    ("sql", "table", "joins"),
    [
        (
            CHAIN,
            "shop.d",
            "d_changes INNER JOIN c ON c.id = d.c_id INNER JOIN b ON b.id = c.b_id "
            "INNER JOIN a ON a.id = b.a_id AND a.kind = d.kind",
        ),
        (
            CHAIN,
            "shop.c",
            "c_changes INNER JOIN b ON b.id = c.b_id INNER JOIN a ON a.id = b.a_id "
            "INNER JOIN d ON c.id = d.c_id AND a.kind = d.kind",
        ),
        (
            CHAIN.replace("join shop.d", "left join shop.d"),
            "shop.b",
            "b_changes INNER JOIN a ON a.id = b.a_id INNER JOIN c ON b.id = c.b_id "
            "LEFT JOIN d ON c.id = d.c_id AND a.kind = d.kind",
        ),
        (COMMA, "shop.c", "c_changes CROSS JOIN b CROSS JOIN a WHERE a.id = b.a_id AND c.b_id = b.id"),
        # nothing is moved over an outer join
        (
            "select a.id, c.id as last from shop.a as a left join shop.b as b on a.id = b.a_id "
            "join shop.c as c on a.id = c.id",
            "shop.c",
            "a LEFT JOIN b ON a.id = b.a_id JOIN c_changes ON a.id = c.id",
        ),
        (
            "select b.id, a.id as last from shop.a as a right join shop.b as b on a.id = b.a_id",
            "shop.b",
            "a RIGHT JOIN b_changes ON a.id = b.a_id",
        ),
        # a condition that names no source, and a join without one
        (
            "select a.id, b.id as last from shop.a as a join shop.b as b on true cross join shop.c as c "
            "join shop.d as d on d.id > a.id",
            "shop.d",
            "d_changes INNER JOIN a ON TRUE AND d.id > a.id CROSS JOIN c CROSS JOIN b",
        ),
    ],
)
def test_changed_rows_are_joined_first(sql: str, table: str, joins: str) -> None:
    """R2.3: then the sources that equalities link with them; the conditions are the same."""
    assert f" FROM {joins}) as rows" in changed(sql, table)


@pytest.mark.parametrize(
    ("sql", "few", "hint"),
    [
        (CHAIN, {"shop.d"}, "/*+ BROADCAST(d) */"),
        (CHAIN, {"shop.a"}, ""),  # another table
        ("select id, kind from shop.d", {"shop.d"}, ""),  # no join
        (
            "select a.id, d.last from shop.a as a "
            "join (select id, id as last from shop.d) as d on a.id = d.id",
            {"shop.d"},
            "/*+ BROADCAST(d) */",
        ),
        (
            "select a.id, d.last from shop.a as a join (select d.id, c.id as last from shop.d as d "
            "join shop.c as c on c.id < d.id) as d on a.id = d.id",
            {"shop.d"},
            "",
        ),  # a join may give more rows
    ],
)
def test_few_changed_rows_are_sent_to_all_tasks(sql: str, few: set[str], hint: str) -> None:
    """R2.3: rows that a join may multiply are not sent."""
    hints = re.findall(r"SELECT (/\*\+ .*? \*/) a", changed(sql, "shop.d", frozenset(few)))
    assert hints == ([hint] if hint else [])


GROUPED = (
    "select a.kind, count(*) as rows from shop.a as a join shop.b as b on a.id = b.a_id "
    "join shop.c as c on b.id = c.b_id group by a.kind"
)


@pytest.mark.parametrize(
    ("moved", "few", "way"),
    [
        ("ab", "ab", "folded"),  # c twice, a and b once, each byte for 0.4: less than all of it
        ("ab", "", "full"),
        ("abc", "abc", "folded"),
        ("abc", "ab", "full"),  # many rows of c are joined with a and b
        ("c", "", "folded"),
    ],
)
def test_changes_are_joined_while_that_reads_less(moved: str, few: str, way: str) -> None:
    """R2.3: bytes that few changed rows are joined with count less than those of a join of many."""
    sizes = {"shop.a": 100, "shop.b": 500, "shop.c": 100}
    tables, known = ({f"shop.{name}" for name in names} for names in (moved, few))
    request = Request(
        ("kind",),
        {"kind": "int", "rows": "bigint"},
        frozenset(tables),
        sizes=sizes,
        few=frozenset(known),
    )
    plan = choose_plan(parse(GROUPED, Chain()).tree, request)
    assert plan.way == way
    assert plan.why == (
        "" if way == "folded" else "its changes are joined with more bytes than the whole query reads"
    )


def test_the_largest_source_is_joined_with_the_changed_rows_themselves() -> None:
    """R2.3: Spark knows that these are few; what a join leaves of them it does not know."""
    tree = parse(
        "select a.id from shop.a as a join shop.b as b on a.id = b.a_id join shop.c as c on b.id = c.b_id",
        Chain(),
    ).tree
    for larger, order in (("a", "bac"), ("c", "bca")):
        request = Request((), {"id": "int"}, frozenset({"shop.b"}), sizes={f"shop.{larger}": 9, "shop.b": 5})
        sql = choose_plan(tree, request).net_rows(
            {f"shop.{n}": {"present": n, "previous": n, "changes": n} for n in "abc"}
        )
        assert "".join(re.findall(r"\) AS `(\w)`", sql)) == order


def test_a_query_that_reads_a_table_hundreds_of_times_is_planned() -> None:
    """R2.3: as CTEs that read each other twice do; changes of many places are not joined with all others."""
    for levels, way in ((4, "folded"), (8, "regions")):
        parts = ["level_0 as (select id, kind from shop.a)"]
        for level in range(levels):
            parts.append(
                f"level_{level + 1} as (select a.id, a.kind + b.kind as kind from level_{level} as a "
                f"join level_{level} as b on a.id = b.id)"
            )
        sql = f"with {', '.join(parts)} select id, count(*) as rows from level_{levels} group by id"
        types = {"id": "int", "rows": "bigint"}
        plan = choose_plan(parse(sql, Chain()).tree, Request(("id",), types, frozenset({"shop.a"})))
        assert (plan.way, plan.columns) == (way, ("id",))
