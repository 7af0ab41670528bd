"""What a run reads of each source, from literal facts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tidemark.engine.decision.lake import NOW, RAW, commit, delta, facts, iceberg, read, source
from tidemark.engine.checkpoints.rows import Checkpoint
from tidemark.engine.checkpoints.window import Window
from tidemark.engine.decision import windows
from tidemark.engine.decision.facts import Source
from tidemark.engine.decision.states import Reading
from tidemark.engine.decision.tables import TableState

pytestmark = [pytest.mark.R1, pytest.mark.R2]

INCREMENTAL, VERIFY = Reading("incremental", "incremental"), Reading("verify", "as consumed")
FULL = Reading("full", "bronze.raw has changed", [RAW])
WHOLE = Reading("full", "bronze.raw was replaced", [RAW], is_whole=True)
GREW = delta(9, commit(9), commit(8))


@pytest.mark.parametrize(
    ("read_from", "reading", "expected"),
    [
        (
            source(delta(7), read(7)),
            INCREMENTAL,
            ("nothing new", None, 7, "after version 7: nothing new", None),
        ),
        (source(GREW, read(7)), INCREMENTAL, ("incremental", 7, 9, "versions 8..9", None)),
        (
            source(iceberg("append", "append"), read(10, source_id="iceberg")),
            INCREMENTAL,
            ("incremental", 10, 20, "versions after 10 up to 20", None),
        ),
        (
            source(GREW, read(7)),
            Reading("history lost", "it was vacuumed"),
            ("history lost", None, 9, "as of version 9 (it was vacuumed)", None),
        ),
        (source(GREW, read(7)), VERIFY, ("verify", None, 7, "as of version 7", None)),
        (source(GREW, None), VERIFY, ("verify", None, 9, "as of version 9", "never read")),
        (
            source(delta(9, id="another"), read(7)),
            VERIFY,
            ("verify", None, 9, "as of version 9", "another table"),
        ),
    ],
)
def test_changes_are_read_from_the_checkpoint_on(
    read_from: Source, reading: Reading, expected: tuple[object, ...]
) -> None:
    """R2.1: `verify` reads again what was read."""
    window = windows.change_window(facts(read_from, way="merge"), reading, read_from)
    assert (window.state, window.after, window.last, window.message, window.unproven) == expected


def test_a_source_that_is_read_for_the_first_time_stops_the_model() -> None:
    """R1.5: its earlier rows would be missing."""
    new = source(delta(7), None)
    with pytest.raises(
        windows.FirstReading, match="days reads bronze.raw for the first time. Rebuild it: `dbt"
    ):
        windows.change_window(facts(new, way="merge"), INCREMENTAL, new)
    assert windows.watermark_window("files.raw", "at", INCREMENTAL, None) is None


@pytest.mark.parametrize(
    ("read_from", "reading", "expected"),
    [
        (
            source(GREW, read(7, "joined")),
            INCREMENTAL,
            ("nothing new", 9, "after version 9: nothing new", None),
        ),
        (source(GREW, read(7, "joined")), FULL, ("incremental", 9, "versions 8..9", None)),
        (
            source(GREW, read(7, "joined")),
            replace(FULL, changed=[]),
            ("nothing new", 9, "after version 9: nothing new", None),
        ),
        (
            source(GREW, read(7, "joined")),
            WHOLE,
            ("full", 9, "as of version 9 (bronze.raw was replaced)", None),
        ),
        (source(None, None), WHOLE, ("full", None, "all of it (bronze.raw was replaced)", None)),
        (source(GREW, read(7, "joined")), VERIFY, ("verify", 7, "as of version 7", None)),
        (
            source(GREW, read(7, "joined"), is_named=False),
            VERIFY,
            ("verify", 9, "as of version 9", "changed"),
        ),
        (source(delta(9, id="x"), read(7, "joined")), VERIFY, ("verify", 9, "as of version 9", "changed")),
        (source(GREW, None), VERIFY, ("verify", 9, "as of version 9", "never read")),
        (source(None, None), VERIFY, ("verify", None, "as it is: it has no versions", None)),
    ],
)
def test_explain_and_verify_are_told_what_a_plain_model_reads(
    read_from: Source, reading: Reading, expected: tuple[object, ...]
) -> None:
    """R2.6: the next run reads just this."""
    (window,) = windows.planned_windows(facts(read_from), reading)
    assert (window.state, window.last, window.message, window.unproven) == expected


def test_a_plain_model_notes_what_it_read() -> None:
    """R2.1: changes where the plan uses them, else all rows with the reason."""
    grew = source(GREW, read(7, "joined"))
    window = windows.joined_window(facts(grew), FULL, grew)
    assert (window.state, window.last, window.message) == ("full", 9, "as of version 9")
    reading = replace(FULL)
    windows.read_changes(facts(grew), reading, [window], "changed rows")
    assert (window.state, window.after, window.message) == ("incremental", 7, "versions 8..9 (changed rows)")
    assert (reading.state, reading.why) == ("incremental", "incremental")
    windows.read_changes(facts(grew), replace(FULL, changed=[]), [window], "changed rows")
    assert window.state == "nothing new"
    windows.read_in_full(reading, [window], "a window")
    assert (window.state, window.after, window.message) == ("full", None, "as of version 9 (full: a window)")
    assert (reading.state, reading.why) == ("full", "a window")
    assert windows.with_new_columns([window], "`city` is new").rebuilds
    assert (window.state, window.message) == ("columns added", "as of version 9 (`city` is new)")
    rebuilt = windows.joined_window(facts(grew), Reading("rebuild", "rebuild of 2026"), grew)
    assert (rebuilt.state, rebuilt.last) == ("rebuild", 7)
    assert windows.past_window(RAW, 4) == Window(RAW, "as of", last=4, message="as of version 4")


@pytest.mark.parametrize(
    ("reading", "column", "low", "message"),
    [
        (INCREMENTAL, "at", "5", "at from 5 less 2 days to 9"),
        (Reading("first run", "first run: no table yet"), "at", None, "at up to 9 (first run: no table yet)"),
        (VERIFY, "at", "5", "at up to 9 (as consumed)"),
        (VERIFY, "other", None, "other up to 9 (as consumed)"),
    ],
)
def test_a_watermark_is_read_from_the_stored_value_on(
    reading: Reading, column: str, low: str | None, message: str
) -> None:
    """R2.1: of the same column, minus the lookback."""
    stored = replace(read(None, "watermark", source_id=None), watermark="5", watermark_column="at")
    window = windows.watermark_window("files.raw", column, reading, stored)
    assert window is not None
    assert window.low == low
    ended = windows.up_to(window, reading, {"value": "9", "type": "int"}, "2 days")
    assert (ended.kind, ended.watermark, ended.type, ended.message) == ("watermark", "9", "int", message)


@pytest.mark.parametrize(
    ("now", "last", "checkpoint", "full", "state"),
    [
        (GREW, 9, None, False, "whole"),
        (GREW, 9, read(7), True, "whole"),
        (GREW, 9, read(7, contract=replace(NOW, code="other")), False, "whole"),
        (GREW, 9, read(7), False, "incremental"),
        (GREW, 7, read(7), False, "nothing new"),
        (GREW, 8, read(9), False, "whole"),  # its own table has read less than the test has seen
        (delta(9, id="another"), 9, read(7), False, "whole"),
    ],
)
def test_a_test_reads_what_came_since_it_passed(
    now: TableState, last: int, checkpoint: Checkpoint | None, full: bool, state: str
) -> None:
    """R2.4: or the whole table."""
    assert windows.tested_window(RAW, now, last, checkpoint, NOW, full=full).state == state
