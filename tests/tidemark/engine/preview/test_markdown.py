"""The words of `tidemark plan`."""

from __future__ import annotations

import pytest

from tidemark.engine.explain import Plan
from tidemark.engine.incremental.pinning import replaced
from tidemark.engine.preview.changed import Changed, changed_models
from tidemark.engine.preview.markdown import page, summary
from tidemark.engine.runs.differences import Difference, Differences

pytestmark = pytest.mark.R2
NONE = Differences({"added": 0, "removed": 0, "changed": 0})
SHOWN = [
    Difference("changed", 1, {"id": 3}, {"amount": (5, 6), "note": ("a\nb", "```")}),
    Difference("removed", 2, {"id": 4}, {}),
    Difference("added", 1, {"id": 5}, {"amount": (None, 7)}),
]
ORDERS = Changed(
    "silver.orders",
    "changed",
    "its SQL",
    Differences({"added": 1, "removed": 2, "changed": 1200}, SHOWN, ["day"], [], {"amount": 1200}),
)
CHANGED = "1,200 rows change (amount 1,200), 1 row is new, 2 rows are gone, 1 column new: day"
PAGE = f"""## tidemark plan

2 tables changed, 1 other read them. 1,203 rows would differ; of 1 table the rows are not known.

| table | why | rows |
| --- | --- | --- |
| `silver.orders` | its SQL | {CHANGED} |
| `silver.names` | a \\| b | **the run stops here** not known: 2 rows have one id |
| `gold.totals` | reads silver.orders | no row changes |

<details><summary>silver.orders: the first rows</summary>

```diff
- id=3: amount=5, note=a b
+ id=3: amount=6, note='''
- id=4 (2 times)
+ id=5: amount=7
```

</details>"""


def test_a_page_has_each_table_and_its_first_rows() -> None:
    """R2.2: with the reason, what changes, and what is not known; a value cannot end the block."""
    names = Changed("silver.names", "changed", "a | b", unknown="2 rows have one id", stops=True)
    totals = Changed("gold.totals", "reader", "reads silver.orders", NONE)
    assert page([ORDERS, names, totals], with_rows=True) == PAGE


def test_a_summary_says_what_a_run_would_do() -> None:
    """R2.2: nothing, code without rows, or how many rows."""
    same = Changed("silver.orders", "changed", "its SQL has changed", NONE)
    assert summary([], with_rows=True).startswith("Nothing has changed")
    assert summary([same], with_rows=True).endswith("the next run takes the new code and writes nothing.")
    assert summary([same], with_rows=False).endswith("--rows computes which rows would differ.")


def test_changed_models_and_their_readers_are_found() -> None:
    """R2.2: through readers of readers; lost history is no change of the project."""
    plans = [
        Plan("s.a", (), (), state="code changed", why="its SQL has changed"),
        Plan("s.b", (), (), state="nothing new"),
        Plan("s.c", (), (), state="history lost", why="s.x was replaced"),
        Plan("s.d", (), (), state="first run"),
        Plan("s.e", (), (), state="code changed", why="its SQL has changed, where the run stops"),
        Plan("s.f", (), (), state="full", why="a macro that it uses has changed"),
        Plan("s.g", (), (), state="nothing new", materialized="table"),
        Plan("s.h", (), (), unproven="its query has no key"),
    ]
    below = {"s.b": {"s.seed"}, "s.c": {"s.x"}, "s.g": {"s.b"}, "s.h": {"s.a"}}
    found = changed_models(plans, below, ["s.seed"])
    assert [(one.table, one.kind, one.stops) for one in found] == [
        ("s.a", "changed", False),
        ("s.b", "reader", False),
        ("s.d", "new", False),
        ("s.e", "changed", True),
        ("s.f", "changed", False),
        ("s.g", "reader", False),
        ("s.h", "reader", False),
    ]
    assert found[3].why == "its SQL has changed"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select t.a from s.t", "select t.a from v as `t`"),
        ("select t.a from s.T version as of 3 where a > 1", "select t.a from v as `T` where a > 1"),
        ("select x.a from `s`.`t` version as of '9' as x", "select x.a from v as x"),
        ("select x.a from s.t x join s.u on x.a = u.a", "select x.a from v x join s.u on x.a = u.a"),
        (
            "with t as (select * from s.t) select * from t",
            "with t as (select * from v as `t`) select * from t",
        ),
        ("select a from c.s.t", "select a from c.s.t"),
        (
            "select a from s.t left join s.t as y using (a)",
            "select a from v as `t` left join v as y using (a)",
        ),
    ],
)
def test_a_view_stands_for_a_table_under_its_name(sql: str, expected: str) -> None:
    """R2.2: at any version; columns may name the table."""
    assert replaced(sql, {"s.t": "v"}) == expected
