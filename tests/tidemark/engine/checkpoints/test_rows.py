"""Which checkpoint counts, when one moves, and which contracts differ, without Spark."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tidemark.engine.checkpoints.rows import Checkpoint, Checkpoints, Contract, latest
from tidemark.engine.checkpoints.window import Window

pytestmark = [pytest.mark.R1, pytest.mark.R2, pytest.mark.R3]

NOW = Contract("columns", "grain", "sql", "macros", "variables")
READ = Checkpoint("s.days", "b.raw", 3, "changes", "id", 7, table_version=5, table_id="own", contract=NOW)
TAKEN_BACK = Checkpoint("s.days", "b.other", 4)
OWN = {"version": 6, "id": "own"}


def _window(state: str = "incremental", **more: Any) -> Window:
    return replace(Window("b.raw", state, "changes", "id", last=7), **more)


def test_a_checkpoint_that_was_taken_back_does_not_exist() -> None:
    """R1.5: but its sequence goes on."""
    known = Checkpoints([READ, TAKEN_BACK])
    assert known.of("s.days", "b.raw") == READ
    assert known.of("s.days", "b.other") is None
    assert known.of("s.other", "b.raw") is None
    assert known.sources_of("s.days") == ["b.raw"]
    first = known.moved("s.days", _window(source="b.other"), NOW, OWN)
    assert first is not None
    assert first["sequence"] == 5


@pytest.mark.parametrize(
    ("window", "contract", "moves"),
    [
        (_window("nothing new"), NOW, False),
        (_window(last=8), NOW, True),
        (_window("full"), NOW, True),
        (_window("nothing new", last=8), NOW, True),
        (_window("nothing new", source_id="another"), NOW, True),
        (_window("nothing new", kind="joined"), NOW, True),
        (_window("nothing new"), Contract("columns", "grain", "sql", "macros", "other"), True),
        (
            _window(kind="watermark", source_id=None, last=None, watermark="9", watermark_column="at"),
            NOW,
            True,
        ),
    ],
)
def test_a_checkpoint_moves_if_something_was_read_or_declared(
    window: Window, contract: Contract, moves: bool
) -> None:
    """R2.2: a source with nothing new moves none."""
    moved = Checkpoints([READ]).moved("s.days", window, contract, OWN)
    assert (moved is not None) == moves
    if moved:
        stored = Checkpoint.of({**moved, "recorded_at": 0})
        assert (stored.sequence, stored.table_version, stored.contract) == (4, 6, contract)
        assert stored.place == (
            window.kind,
            window.source_id,
            window.last,
            window.watermark_column,
        )


def test_a_partial_rebuild_keeps_the_contract_of_before() -> None:
    """R3.4: the other rows were not built with the present one."""
    moved = Checkpoints([READ]).moved("s.days", _window(), Contract("new"), OWN, keeps_contract=True)
    assert moved is not None
    assert Checkpoint.of({**moved, "recorded_at": 0}).contract == NOW


@pytest.mark.parametrize(
    ("before", "grain", "code"),
    [
        (NOW, False, ""),
        (Contract("columns", "other", "sql", "macros", "variables"), True, ""),
        (Contract("other", "grain", "other", "other", "variables"), False, "its SQL"),
        (Contract("columns", "grain", "sql", "other", "other"), False, "a macro that it uses"),
        (Contract("columns", "grain", "sql", "macros", "other"), False, "a variable that it reads"),
        (Contract("columns"), False, ""),
        (Contract(), False, ""),
    ],
)
def test_a_contract_names_what_changed(before: Contract, grain: bool, code: str) -> None:
    """R1.5: what a checkpoint does not say is not compared."""
    assert before.has_other_grain(NOW) == grain
    assert before.changed_code(NOW) == code
    assert before.changed_code(NOW, among=("grain",)) == ""


def test_the_latest_run_says_how_the_table_was_left() -> None:
    """R1.5: a source without news has an older checkpoint; two versions of one run are both given."""
    old = Checkpoint("s.days", "b.old", 1, "changes", "id", 1, table_version=4, recorded_at=10)
    new = [
        Checkpoint("s.days", source, 1, "changes", "id", 1, table_version=version, recorded_at=20)
        for source, version in (("b.one", 5), ("b.two", 5), ("b.three", 6))
    ]
    assert {each.table_version for each in latest([old, *new])} == {5, 6}
    assert [each.source for each in latest([old])] == ["b.old"]
    assert latest([]) == []
