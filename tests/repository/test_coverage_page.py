"""docs/coverage.md is what the planner says today."""

from __future__ import annotations

import pytest

from scripts.coverage import PAGE, page, tpch

pytestmark = pytest.mark.R2


def test_the_page_is_up_to_date() -> None:
    """R2.2: `python -m scripts.coverage` writes it."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_no_query_of_tpch_lost_its_ways() -> None:
    """R2.2: each of the 22 is maintained in one step or in stages."""
    found = dict(tpch())
    assert len(found) == 22
    assert [name for name, one in found.items() if not one.is_maintained and not one.stages] == []
    assert sum(one.is_maintained for one in found.values()) >= 10
