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
