"""Functions whose result depends on the order of rows: refused where ties are possible, and only there."""

from __future__ import annotations

import re

import pytest

from tidemark.engine.sqlcheck.finding import Table
from tidemark.engine.sqlcheck.models import findings
from tidemark.engine.sqlcheck.order_calls import FUNCTIONS
from tidemark.engine.sqlcheck.parsing import LANDING_ORDER

pytestmark = [pytest.mark.R2, pytest.mark.core]
TABLES = {
    "sales": Table(("sale_id",)),
    "products": Table(("product",)),
    "returns": Table((), keys=(("sale_id", "line"),)),
    "versions": Table(("product", "updated_at")),
    "accounts": Table(("id",), keys=(("email", "country"),)),
    "bronze.clicks": Table((LANDING_ORDER,), keys=(("_batch_id", "_row_number"),)),
}
NAMES = re.compile(r"\b(from|join) (sales|products|returns|versions|accounts|unknown)\b")


def found(sql: str) -> list[str]:
    """Return what the check says of SQL in which tables stand for ref()."""
    raw = NAMES.sub(lambda name: f"{name[1]} {{{{ ref('{name[2]}') }}}}", sql)
    raw = raw.replace("from clicks", "from {{ source('bronze', 'clicks') }}")
    return [str(one) for one in findings(raw, TABLES) if one.rule == "tied_order"]


WINDOWS = (
    "row_number() ntile(2) lag(label) lead(label) first_value(label) last_value(label) nth_value(label,2)"
)
CALLS = [*(f"{one} over (partition by day order by pieces)" for one in WINDOWS.split())]
CALLS += [
    "lag(label) ignore nulls over (partition by day order by pieces)",
    "first_value(label, true) over (partition by day order by pieces)",
    "row_number() over (partition by day)",
    "sum(pieces) over (partition by day order by pieces rows unbounded preceding)",
    "sum(pieces) over (partition by day order by pieces rows between 2 preceding and current row)",
    "count(*) over (order by day rows between unbounded preceding and current row)",
    "first_value(pieces) over (order by pieces rows between 1 preceding and current row)",
    "collect_list(label) over (partition by day order by pieces)",
    "max_by(label, pieces) over (partition by day)",
    "row_number() over (partition by day order by cast(sale_id as date))",
    "row_number() over (partition by day order by sale_id % 2)",
    "row_number() over (partition by day order by coalesce(sale_id, pieces))",
    "row_number() over (partition by day order by pieces + sale_id)",
]
GROUPED = [
    "first(label)",
    "first(label, true)",
    "last(label)",
    "any_value(label)",
    "first(label) filter (where pieces > 1)",
    "max_by(label, pieces)",
    "min_by(label, struct(pieces, product))",
    "collect_list(label)",
    "array_agg(label)",
    "collect_set(label)",
    "element_at(collect_list(label), 1)",
    "array_join(collect_list(label), ',')",
    "listagg(label, ',')",
    "listagg(label, ',') within group (order by pieces)",
    "string_agg(label)",
    "mode(label)",
]


@pytest.mark.parametrize("call", CALLS)
def test_a_window_with_ties_is_refused(call: str) -> None:
    """R2.1: with the key that its order lacks."""
    (message,) = found(f"select sale_id,\n{call} as one from sales")
    assert message.startswith("line 2: ")
    assert "`sale_id`" in message


@pytest.mark.parametrize("call", GROUPED)
def test_an_aggregate_with_ties_is_refused(call: str) -> None:
    """R2.1: the function is named, and what to write instead."""
    (message,) = found(f"select day,\n{call} as one from sales group by day")
    assert message.startswith("line 2: ")
    assert "depends on the order of rows that are equal in `day`" in message


def test_all_functions_are_tried() -> None:
    """R2.1: each function of the table has a case above."""
    calls = " ".join([*CALLS, *GROUPED])
    missing = {name for name, _ in FUNCTIONS.values() if f"{name}(" not in calls}
    assert missing == set()


REFUSED = {
    "a join multiplies rows": (
        "select s.sale_id, row_number() over (partition by s.day order by s.pieces) as place "
        "from sales as s inner join products as p on s.product = p.product",
        "Add `s.sale_id` to the end",
    ),
    "the key of one side does not tell the rows of the other": (
        "select p.product, row_number() over (partition by p.family order by p.product) as place "
        "from sales as s inner join products as p on s.product = p.product",
        "`s.sale_id`",
    ),
    "a key of two columns": (
        "select s.sale_id, lag(r.score) over (partition by s.sale_id order by r.day) as before "
        "from sales as s join returns as r on s.sale_id = r.sale_id",
        "Add `r.line` to the end",
    ),
    "a left join": (
        "select s.sale_id, ntile(2) over (order by r.sale_id, r.line) as half "
        "from sales as s left join returns as r on s.sale_id = r.sale_id",
        "`s.sale_id`",
    ),
    "groups": (
        "select day, product, row_number() over (partition by day order by count(*)) as place "
        "from sales group by day, product",
        "Add `product` to the end",
    ),
    "groups below": (
        "with sold as (select day, product, count(*) as n from sales group by day, product)\n"
        "select *, lag(n) over (partition by product order by n) as before from sold",
        "`day`",
    ),
    "distinct below": (
        "select row_number() over (order by day) as place from (select distinct day, product from sales)",
        "`product`",
    ),
    "branches with a marker": (
        "with both as (select 'sale' as kind, sale_id as id, day from sales union all "
        "select 'product' as kind, product as id, first_day as day from products)\n"
        "select row_number() over (order by id) as place from both",
        "`kind`",
    ),
    "a renamed key": (
        "with read as (select sale_id as id, day from sales)\n"
        "select row_number() over (order by day) as place from read",
        "`id`",
    ),
    "a key through a join in a CTE": (
        "with named as (select s.sale_id, p.label, s.day from sales s join products p on s.product = "
        "p.product)\n"
        "select row_number() over (partition by label order by day) as place from named",
        "`sale_id`",
    ),
    "a named window": (
        "select sale_id, row_number() over w as place from sales window w as (partition by day order by "
        "pieces)",
        "`sale_id`",
    ),
    "the newest version of each key": (
        "with newest as (select *, row_number() over (partition by product order by updated_at) as n "
        "from versions)"
        "\nselect product, row_number() over (order by label) as place from newest where n = 1",
        "`product`",
    ),
    "of a table with two keys the shorter way": (
        "select row_number() over (partition by email order by updated_at) as n from accounts",
        "`id`",
    ),
    "a usual dedup over a surrogate key": (
        "select * from (select *, row_number() over (partition by product order by updated_at desc) as n "
        "from sales) "
        "where n = 1",
        "Add `sale_id` to the end",
    ),
    "landed rows": (
        "select id, first_value(name) over (partition by id order by at) as one from clicks",
        "{{ landing_order() }}",
    ),
    "max_by says how": (
        "select day, max_by(label, pieces) as one from sales group by day",
        "`max_by(label, struct(pieces, sale_id))`",
    ),
    "first says how": ("select day, first(label) as one from sales group by day", "`min_by(label, sale_id)`"),
    "collect_list says how": (
        "select day, collect_list(label) as one from sales group by day",
        "`sort_array(collect_list(label))`",
    ),
    "without a group": ("select 'all' as scope, any_value(label) as one from sales", "order of its rows"),
    "a value of the joined side": (
        "select p.family, max_by(s.label, p.product) as one from products p join sales s on s.product = "
        "p.product "
        "group by p.family",
        "s.sale_id",
    ),
}


@pytest.mark.parametrize(("sql", "part"), REFUSED.values(), ids=REFUSED)
def test_ties_over_several_sources_are_refused(sql: str, part: str) -> None:
    """R2.1: with the columns that the rows need."""
    (message,) = found(sql)
    assert part in message


SOUND = {
    "the usual dedup": "select *, row_number() over (partition by product order by updated_at desc) as n "
    "from versions",
    "the key in the partition": "select *, lag(label) over (partition by sale_id order by day) as n from "
    "sales",
    "a total order": "select *, ntile(4) over (partition by day order by pieces desc, sale_id) as n from "
    "sales",
    "a struct": "select day, max_by(label, struct(pieces, sale_id)) as one from sales group by day",
    "the other key": "select row_number() over (partition by country order by email) as n from accounts",
    "ranks": "select rank() over (order by day) as a, dense_rank() over (order by day) as b, "
    "percent_rank() over "
    "(order by day) as c, cume_dist() over (order by day) as d from sales",
    "range frames": "select sum(pieces) over (partition by day order by pieces) as a, count(*) over "
    "(order by day "
    "range between unbounded preceding and current row) as b, sum(pieces) over (partition by day) as c, "
    "sum(pieces) over (partition by day order by pieces rows between unbounded preceding and unbounded "
    "following) "
    "as d from sales",
    "a value that the order determines": "select day, first_value(pieces) over (partition by day order "
    "by pieces) as a, "
    "max(pieces) over (partition by day) as b from sales",
    "the last row so far is the row": "select last_value(pieces) over (order by pieces rows unbounded "
    "preceding) as a "
    "from sales",
    "a value of the group": "select day, any_value(day) as a, first(year(day)) as b from sales group by day",
    "a value that the key determines": "select sale_id, any_value(label) as a, collect_list(day) as b "
    "from sales "
    "group by sale_id",
    "a dimension of the group": "select p.product, any_value(p.label) as label, sum(s.pieces) as pieces "
    "from sales s join products p on s.product = p.product group by p.product",
    "the dimension by the fact's column": "select s.product, max(s.day) as d, first(p.label) as label "
    "from sales s "
    "left join products p on p.product = s.product group by s.product",
    "sorted": "select day, sort_array(collect_list(label)) as a, size(collect_set(label)) as b, "
    "array_join(array_sort(array_distinct(collect_list(label))), ',') as c, "
    "array_contains(collect_list(label), 'a') "
    "as d, exists(collect_list(label), x -> x = 'a') as e from sales group by day",
    "sorted above": "with lists as (select day, collect_list(label) as labels from sales group by day)\n"
    "select day, sort_array(labels) as labels from lists",
    "in the order of its values": "select day, listagg(label, ',') within group (order by label) as a, "
    "listagg(distinct label) within group (order by label) as b from sales group by day",
    "modes": "select day, mode(label, true) as a, mode() within group (order by label) as b from sales "
    "group by day",
    "max_by of its order": "select day, max_by(pieces, pieces) as a from sales group by day",
    "a join with the whole key": "select row_number() over (partition by s.day order by s.pieces, "
    "s.sale_id) as n "
    "from sales s left join products p on s.product = p.product",
    "a key of the joined rows": "select row_number() over (partition by p.family order by r.sale_id, "
    "r.line) as n "
    "from returns r join sales s on r.sale_id = s.sale_id join products p on s.product = p.product",
    "using": "select row_number() over (partition by family order by s.sale_id) as n from sales s "
    "join products p using (product)",
    "semi and anti joins": "select row_number() over (partition by s.day order by s.sale_id) as n from "
    "sales s "
    "left semi join returns r on r.sale_id = s.sale_id left anti join unknown u on u.a = s.day",
    "the newest row alone": "with newest as (select *, row_number() over (partition by product order by "
    "updated_at) "
    "as n from versions)\nselect row_number() over (order by label, product) as place from newest where "
    "n = 1",
    "a condition on a constant": "select row_number() over (partition by updated_at order by label) as n "
    "from versions where product = 'a'",
    "an unknown table": "select row_number() over (order by a) as n, first(b) over (order by a) as c "
    "from unknown",
    "an unknown side": "select row_number() over (order by s.day) as n from sales s join unknown u on "
    "u.a = s.day",
    "a union without a marker": "select row_number() over (order by day) as n from (select sale_id, day "
    "from sales "
    "union all select sale_id, day from returns) as both",
    "branches with a marker": "with both as (select 'sale' as kind, sale_id as id, day from sales union all "
    "select 'product' as kind, product as id, first_day as day from products)\n"
    "select row_number() over (order by id, kind) as place from both",
    "groups": "select day, product, row_number() over (partition by day order by count(*), product) as n, "
    "sum(count(*)) over (partition by day) as m from sales group by day, product",
    "a group that a key determines": "select p.product, p.label, row_number() over (order by p.product) as n "
    "from sales s join products p on s.product = p.product group by p.product, p.label",
    "one row": "select row_number() over (order by total) as n from (select sum(pieces) as total from sales)",
    "exploded rows": "select sale_id, piece, row_number() over (partition by sale_id order by piece) as n "
    "from (select sale_id, explode(sequence(1, pieces)) as piece from sales)",
    "landed rows": "select id, row_number() over (partition by id order by at desc, {{ landing_order() "
    "}}) as n, "
    "lag(at) over (partition by id order by at, _batch_id, _row_number) as before from clicks",
    "a hash of the key": "select row_number() over (partition by day order by md5(cast(sale_id as "
    "string))) as n "
    "from sales",
    "a macro's order": "select row_number() over (partition by day order by {{ my_order() }}) as n from "
    "sales",
    "an alias": "select sale_id as id, row_number() over (partition by day order by id) as n from sales",
    "in another case": "select row_number() over (partition by day order by SALE_ID) as n from sales S",
    "allowed": "-- tidemark: allow tied_order: all labels of a day are the same\n"
    "select day, any_value(label) as a from sales group by day",
    "lateral": "select sale_id, row_number() over (order by day) as n from sales lateral view "
    "explode(array(1)) as x",
}


@pytest.mark.parametrize("sql", SOUND.values(), ids=SOUND)
def test_an_order_without_ties_passes(sql: str) -> None:
    """R2.1: no false alarm; where a key is not known, `tidemark prove` draws the ties."""
    assert found(sql) == []
