"""How a model's table is written, from literal facts."""

from __future__ import annotations

from typing import Any

import pytest

from tidemark.engine.decision.facts import Command
from tidemark.engine.decision.steps import (
    Addition,
    Step,
    addition_of,
    are_few,
    can_stay,
    refused_grain,
    step_of,
)
from tidemark.engine.decision.ways import DERIVED, MERGE, Way

pytestmark = [pytest.mark.R1, pytest.mark.R3]

PLAIN, MERGED, KEEPS = Way(DERIVED), Way(MERGE), Way(MERGE, accumulates=True)
RUN, EMPTY = Command(), Command(is_limited=True)


@pytest.mark.parametrize(
    ("way", "command", "exists", "states", "step"),
    [
        (PLAIN, RUN, False, [], Step.REPLACE),
        (PLAIN, RUN, True, ["nothing new"], Step.NOTHING),
        (PLAIN, RUN, True, ["nothing new", "full"], Step.ADD),
        (PLAIN, RUN, True, ["code changed"], Step.REPLACE),
        (MERGED, RUN, True, ["incremental", "nothing new"], Step.ADD),
        (MERGED, RUN, True, [], Step.ADD),  # it reads no changes
        (MERGED, RUN, True, ["first run"], Step.REPLACE),
        (KEEPS, RUN, True, ["history lost"], Step.ADD),
        (KEEPS, RUN, False, ["first run"], Step.REPLACE),
        (KEEPS, Command(full_refresh=True), True, ["full refresh"], Step.REPLACE),
        (MERGED, Command(dates=("2026-03-01", "2026-03-02")), True, ["rebuild"], Step.DATES),
        (MERGED, Command(columns=("city",)), True, ["rebuild"], Step.COLUMNS),
        (MERGED, EMPTY, True, [], Step.LIMITED),
        (Way(MERGE, "its SQL calls is_incremental()"), EMPTY, True, [], Step.ADD),
    ],
)
def test_a_run_takes_one_step(
    way: Way, command: Command, exists: bool, states: list[str], step: Step
) -> None:
    """R3.1: rows that a model keeps are only replaced if somebody asks for it."""
    assert step_of(way, command, exists, states, has_sources=True) is step


def test_a_model_without_sources_is_written_in_a_limited_command_too() -> None:
    """R3.1: there is nothing to leave out."""
    assert step_of(PLAIN, EMPTY, exists=False, states=[], has_sources=False) is Step.REPLACE


@pytest.mark.parametrize(
    ("way", "command", "config", "has_key", "addition"),
    [
        (PLAIN, RUN, {}, True, Addition.CHANGES),
        (PLAIN, EMPTY, {}, True, Addition.MERGE),
        (MERGED, RUN, {"incremental_strategy": "insert_overwrite"}, True, Addition.PARTITIONS),
        (MERGED, RUN, {"incremental_strategy": "merge"}, True, Addition.MERGE),
        (MERGED, RUN, {}, False, Addition.BAG),
    ],
)
def test_an_increment_is_written_in_one_way(
    way: Way, command: Command, config: dict[str, Any], has_key: bool, addition: Addition
) -> None:
    """R3.1: by key where there is one."""
    assert addition_of(way, command, config, has_key) is addition


def test_kept_rows_are_not_mixed_with_rows_of_another_grain() -> None:
    """R3.4: the error names both ways out."""
    message = refused_grain("days", "grain changed", True, {"full_refresh": False})
    assert "`dbt run --full-refresh --select days`, without `full_refresh: false`." in message
    assert refused_grain("days", "grain changed", True, {}).endswith("--select days`.")
    assert not refused_grain("days", "grain changed", False, {})
    assert not refused_grain("days", "code changed", True, {})


def test_a_table_whose_code_has_changed_stays_if_few_rows_differ() -> None:
    """R3.1: with the same columns in the same order; another grain or a lost history replaces the table."""
    columns = {"id": "bigint", "amount": "decimal(9,2)"}
    assert can_stay("code changed", columns, dict(columns))
    assert can_stay("repair", columns, dict(columns))
    assert not can_stay("grain changed", columns, columns)
    assert not can_stay("history lost", columns, columns)
    assert not can_stay("code changed", columns, {**columns, "amount": "decimal(10,2)"})
    assert not can_stay("code changed", columns, {**columns, "day": "date"})
    assert not can_stay("code changed", columns, dict(reversed(columns.items())))
    assert are_few({"inserted": 0, "updated": 3, "deleted": 2, "unchanged": 5, "versions": None}, 10)
    assert not are_few({"inserted": 3, "updated": 2, "deleted": 1, "unchanged": 7}, 10)
    assert are_few({"inserted": 0, "deleted": 0}, 0)
