"""The statements of a run, broken on purpose: `tidemark prove` executes them, and finds each fault."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.tidemark.engine.incremental.random_queries import Relation
from tests.tidemark.engine.incremental.test_random_queries import BY_BOTH, CODES, DAYS, NAMED, model_of
from tidemark.engine.prove.drawing import Drawn
from tidemark.engine.prove.histories import draw
from tidemark.engine.prove.proof import Tried, try_histories
from tidemark.engine.writing import merging, plans, values
from tidemark.engine.writing.target import Batch, Target

pytestmark = pytest.mark.R2
SALES = "shop.sales"
BIG_SALES = Relation("select sale_id, amount from shop.sales where pieces > 1", {}, ("sale_id",))
Break = Callable[[pytest.MonkeyPatch], None]


def statement(old: str, new: str) -> Break:
    """Return a fault in the text of the statement that a run commits."""

    def patch(patches: pytest.MonkeyPatch) -> None:
        right = merging.merge_statement

        def wrong(*given: Any) -> str:
            text, number = re.subn(old, new, right(*given))
            assert number, text
            return text

        patches.setattr(merging, "merge_statement", wrong)

    return patch


def a_value_is_missed(patches: pytest.MonkeyPatch) -> None:
    """The condition on the present rows of the touched regions leaves out the first touched value."""
    right = values.Found.among

    def wrong(self: values.Found, expression: str) -> str:
        rest = replace(self, each=self.each and self.each[1:], lowest=None)
        return right(rest if expression.startswith("present.") else self, expression)

    patches.setattr(values.Found, "among", wrong)


def no_group_is_lost(patches: pytest.MonkeyPatch) -> None:
    patches.setattr(plans, "_suspected", lambda *given: "")


def emptied_partitions_stay(patches: pytest.MonkeyPatch) -> None:
    right = plans.with_touched

    def wrong(target: Target, rows: str, touched: str) -> Batch:
        return right(target, rows, f"(select * from {touched} where false)")

    patches.setattr(plans, "with_touched", wrong)


FAULTS: dict[str, tuple[Relation, Break]] = {
    "UPDATE leaves out a column": (CODES, statement(r", `first_day` = incoming.`first_day`", "")),
    "DELETE is missing": (NAMED, statement(r"(?m)^when matched .* then delete$", "")),
    "keys of NULL do not match": (DAYS, statement(r"(?m)(?<=^on )incoming.`day` <=>", "incoming.`day` =")),
    "INSERT drops rows": (BIG_SALES, statement(r"^(insert .*\n.*)$", r"\1 where sale_id % 2 = 0")),
    "a touched value is missed": (DAYS, a_value_is_missed),
    "lost groups are not recomputed": (CODES, no_group_is_lost),
}


def tried(spark: SparkSession, relation: Relation, *, partition: str = "", commits: bool = True) -> Tried:
    """Prove a query by the statements of a run; the changes of `BIG_SALES` are new rows alone."""
    model = replace(model_of(spark, relation), partition=partition)
    drawn: Drawn = draw(model, (SALES,), Random(1), 40 if relation is not BIG_SALES else 400)
    if relation is BIG_SALES:
        kinds = [{row["_change_type"] for row in one.changes} for one in drawn[SALES]]
        drawn = {SALES: [one for one, of in zip(drawn[SALES], kinds, strict=True) if of == {"insert"}]}
    return try_histories(spark, model, (SALES,), drawn, commits=commits)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_writer_is_found(
    few_partitions: SparkSession, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """R2.4: one in the text of the statement by its commit, any other one also without it."""
    relation, break_it = FAULTS[fault]
    break_it(monkeypatch)
    commits = break_it not in (a_value_is_missed, no_group_is_lost)
    assert tried(few_partitions, relation, commits=commits).differing


@pytest.mark.parametrize("relation", [CODES, NAMED, DAYS, BIG_SALES], ids=["codes", "named", "days", "big"])
def test_the_writer_without_a_fault_is_proved(few_partitions: SparkSession, relation: Relation) -> None:
    """R2.2: folded groups, changed rows, touched values, and rows that are only inserted."""
    found = tried(few_partitions, relation)
    assert not found.differing
    assert found.histories > 8


def test_replaced_partitions_are_proved(
    few_partitions: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R2.4: also those that have no rows left."""
    assert not tried(few_partitions, DAYS, partition="day").differing
    emptied_partitions_stay(monkeypatch)
    assert tried(few_partitions, DAYS, partition="day", commits=False).differing


@pytest.mark.parametrize("relation", [DAYS, BY_BOTH], ids=["one column", "two columns"])
def test_values_that_are_too_many_to_list(
    few_partitions: SparkSession, monkeypatch: pytest.MonkeyPatch, relation: Relation
) -> None:
    """R2.2: conditions then have their bounds, and let values pass that are not touched."""
    monkeypatch.setattr(values, "LISTED", 1)
    assert not tried(few_partitions, relation, commits=False).differing
