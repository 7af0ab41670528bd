"""With which variables tables are repaired."""

from __future__ import annotations

import pytest

from tidemark.base.errors import TidemarkError
from tidemark.cli.repair import common_variables
from tidemark.engine.built_with import Variables

pytestmark = pytest.mark.R2
EUROPE = Variables({"region": "eu"})


def test_tables_are_repaired_as_they_were_built() -> None:
    """R2.2: the recorded values, and the given ones before them."""
    assert common_variables({"s.a": EUROPE, "g.b": EUROPE}, {}) == {"region": "eu"}
    assert common_variables({"s.a": EUROPE, "g.b": Variables()}, {"region": "us"}) == {"region": "us"}


@pytest.mark.parametrize(
    ("built_with", "message"),
    [
        ({"s.a": EUROPE, "g.b": Variables()}, r"different values of region: g\.b, s\.a"),
        ({"s.a": Variables({}, frozenset({"secret"}))}, "values of secret are not recorded"),
    ],
)
def test_other_variables_stop_a_repair(built_with: dict[str, Variables], message: str) -> None:
    """R2.2: one value for both would write rows that a run would not."""
    with pytest.raises(TidemarkError, match=message):
        common_variables(built_with, {})
