"""A history after which the table differs is made small and printed."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from tests.tidemark.engine.incremental.test_random_queries import DAYS, _added_rows_alone, model_of
from tidemark.engine.incremental import regions
from tidemark.engine.prove.counterexample import unit_test
from tidemark.engine.prove.histories import draw
from tidemark.engine.prove.proof import try_histories
from tidemark.engine.prove.shrinking import shrink

pytestmark = pytest.mark.R2


def test_the_smallest_history_is_a_unit_test(
    few_partitions: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R2.4: one row that left its day is enough, if rows before a change are forgotten."""
    model = model_of(few_partitions, DAYS)
    monkeypatch.setattr(regions, "changed_rows", _added_rows_alone)
    drawn = draw(model, ("shop.sales",), Random(1), 40)
    found = try_histories(few_partitions, model, ("shop.sales",), drawn)
    smallest, shown, rebuilt = shrink(few_partitions, model, ("shop.sales",), drawn, min(found.differing))
    (history,) = smallest["shop.sales"]
    assert len(history.previous) == 1
    assert len(history.changes) <= 3  # an update; or an update, then a delete
    text = unit_test(model, smallest, rebuilt, shown.differing[0])
    (test,) = yaml.safe_load(text)["unit_tests"]
    rows: Any = test["given"][0]["rows"]
    assert (test["model"], test["given"][0]["input"], len(rows) <= 1) == ("random", "ref('sales')", True)
    assert "# update_preimage: " in text
    assert "# only in the table: " in text
