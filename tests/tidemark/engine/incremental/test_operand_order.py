"""Spark writes one condition on a subquery in two ways: both are the same text."""

from __future__ import annotations

import pytest

from tidemark.engine.incremental.operand_order import in_order

pytestmark = pytest.mark.R2


@pytest.mark.parametrize(
    ("one", "other", "are_same"),
    [
        (
            "filter multicommutativeop((a#0 = b#1), (cast(c#2 as decimal(24,7)) > scalar-subquery#0 [d#1]), "
            "(e#3 = tn), class and, none)",
            "filter multicommutativeop((scalar-subquery#0 [d#1] < cast(c#2 as decimal(24,7))), (b#1 = a#0), "
            "(e#3 = tn), class and, none)",
            True,
        ),
        ("filter (exists#0 [a#1] and (b#2 = 3))", "filter ((3 = b#2) and exists#0 [a#1])", True),
        ("filter (a#1 >= scalar-subquery#0 [])", "filter (scalar-subquery#0 [] <= a#1)", True),
        ("filter (a#1 > scalar-subquery#0 [])", "filter (scalar-subquery#0 [] <= a#1)", False),
        ("filter (a#1 > scalar-subquery#0 [])", "filter (scalar-subquery#0 [] > a#1)", False),
        ("filter ((a#1 - b#2) = scalar-subquery#0 [])", "filter ((b#2 - a#1) = scalar-subquery#0 [])", False),
        ("filter (a#1 and b#2)", "filter (b#2 and a#1)", False),  # without a subquery, Spark's order is fixed
        ("filter ((a#1 = ')') and exists#0 [a#1]", "filter ((a#1 = '(') and exists#0 [a#1]", False),
    ],
)
def test_operands_have_one_order(one: str, other: str, are_same: bool) -> None:
    """R2.2: where any order means the same; a text that cannot be taken apart stays as it is."""
    assert (in_order(one) == in_order(other)) is are_same


def test_several_conditions_on_queries_have_one_order() -> None:
    """R2.2: two conditions of the same words, each on its own query, in the order that Spark's hash gives."""
    one = """project [a#0]
+- filter multicommutativeop(not exists#0 [a#0], exists#0 [a#0], (b#1 = 2), class and, none)
   :  :- filter (c#3 = outer(a#0))
   :  :  +- relation t
   :  +- filter exists#0 [d#4]
   :     :  +- relation v
   :     +- relation u
   +- relation r"""
    other = """project [a#0]
+- filter multicommutativeop(exists#0 [a#0], (2 = b#1), not exists#0 [a#0], class and, none)
   :  :- filter exists#0 [d#4]
   :  :  :  +- relation v
   :  :  +- relation u
   :  +- filter (c#3 = outer(a#0))
   :     +- relation t
   +- relation r"""
    other_way_round = other.replace("not exists#0 [a#0]", "-").replace(
        "exists#0 [a#0],", "not exists#0 [a#0],"
    )
    other_way_round = other_way_round.replace("-,", "exists#0 [a#0],", 1)
    assert in_order(one) == in_order(other)
    assert in_order(one) != in_order(other_way_round)
    assert in_order(one).splitlines()[-1].strip() == "relation r"
