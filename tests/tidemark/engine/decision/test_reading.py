"""How a model reads: each state of docs/incremental.md, from literal facts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.tidemark.engine.decision.lake import (
    DAYS,
    NOW,
    commit,
    delta,
    facts,
    iceberg,
    read,
    snapshots,
    source,
)
from tidemark.engine.checkpoints.rows import Checkpoints
from tidemark.engine.decision.facts import Command, Facts
from tidemark.engine.decision.reading import decide_reading
from tidemark.engine.decision.tables import ICEBERG, TableState
from tidemark.engine.decision.ways import DERIVED, MERGE, Way

pytestmark = [pytest.mark.R1, pytest.mark.R2, pytest.mark.R3]

SAME = source(delta(7), read(7))
GREW = source(delta(8, commit(8)), read(7))
JOINED_SAME = source(delta(7), read(7, "joined"))
JOINED_GREW = source(delta(8, commit(8)), read(7, "joined"))
COMPACTED = source(delta(8, commit(8, "OPTIMIZE")), read(7, "joined"))
REPLACED = source(delta(1, id="another"), read(7, "joined"))
BY_MACROS: dict[str, Any] = {"way": MERGE}
FOREIGN = delta(6, commit(6, "DELETE", signed=None), id="own")
OTHER_CODE = replace(NOW, code="other sql")


@pytest.mark.parametrize(
    ("model", "state", "why"),
    [
        # a plain query
        (facts(JOINED_SAME), "incremental", "incremental"),
        (facts(COMPACTED), "incremental", "incremental"),
        (facts(JOINED_GREW), "full", "bronze.raw has changed"),
        (facts(REPLACED), "full", "bronze.raw was replaced after version 7 was read"),
        (facts(source(delta(8), None)), "full", "bronze.raw has no checkpoint yet"),
        (facts(source(None, None), JOINED_SAME), "full", "bronze.raw has no versions"),
        (facts(JOINED_SAME, own=FOREIGN), "full", "gold.days had a DELETE after its last run"),
        (facts(JOINED_SAME, contract=OTHER_CODE), "code changed", "its SQL has changed"),
        (
            facts(JOINED_SAME, contract=OTHER_CODE, way=Way(DERIVED, accumulates=True)),
            "full",
            "its SQL has changed",
        ),
        (facts(JOINED_SAME, is_built=False), "first run", "first run: no table yet"),
        # by changes()
        (facts(SAME, **BY_MACROS), "incremental", "incremental"),
        (facts(GREW, **BY_MACROS), "incremental", "incremental"),
        (facts(source(delta(8), None), **BY_MACROS), "first run", "first run: no checkpoint yet"),
        (
            facts(SAME, replace(JOINED_GREW, name="silver.names"), **BY_MACROS),
            "history lost",
            "silver.names changed, and is joined as it is",
        ),
        (
            facts(source(delta(8), read(7)), **BY_MACROS),
            "history lost",
            "the log of bronze.raw no longer has version 8",
        ),
        (facts(SAME, own=FOREIGN, **BY_MACROS), "history lost", "gold.days had a DELETE after its last run"),
        (
            facts(SAME, contract=replace(NOW, grain="other"), **BY_MACROS),
            "grain changed",
            "another unique_key, newest_by, insert_only or prune_by",
        ),
        (
            facts(SAME, contract=replace(NOW, macros="other"), **BY_MACROS),
            "code changed",
            "a macro that it uses has changed",
        ),
        (
            facts(
                SAME, contract=replace(NOW, contract="other"), look_for_columns=lambda: ["city"], **BY_MACROS
            ),
            "columns added",
            "new in its contract: city",
        ),
        (facts(SAME, contract=replace(NOW, contract="other"), **BY_MACROS), "incremental", "incremental"),
        # by watermark_filter(): the source has no versions
        (facts(source(None, read(None, "watermark")), **BY_MACROS), "incremental", "incremental"),
        # what the command asks for comes first
        (facts(REPLACED, command=Command(verifies=True)), "verify", "as consumed"),
        (facts(REPLACED, command=Command(reads_past=True)), "as of", "as of a run"),
        (facts(SAME, command=Command(full_refresh=True)), "full refresh", "full refresh"),
        (facts(SAME, command=Command(repairs=True)), "repair", "repair: rows that differ from a rebuild"),
        (
            facts(SAME, contract=replace(NOW, grain="other"), command=Command(repairs=True)),
            "grain changed",
            "another unique_key, newest_by, insert_only or prune_by",
        ),
        (facts(REPLACED, command=Command(repairs=True)), "repair", "repair: rows that differ from a rebuild"),
        (
            facts(JOINED_SAME, command=Command(dates=("2026-03-01", "2026-03-02"))),
            "rebuild",
            "rebuild of 2026-03-01 to 2026-03-02",
        ),
        (facts(JOINED_SAME, command=Command(columns=("a", "b"))), "rebuild", "rebuild of a, b"),
    ],
)
def test_a_model_reads_in_one_state(model: Facts, state: str, why: str) -> None:
    """R2.1: and the run says why."""
    reading = decide_reading(model)
    assert (reading.state, reading.why, reading.refused) == (state, why, "")


def test_a_plain_model_names_the_sources_that_changed() -> None:
    """R2.1: only their changes are read, unless they cannot be read one by one."""
    other = replace(JOINED_GREW, name="silver.names")
    reading = decide_reading(facts(JOINED_SAME, other, other))
    assert (reading.changed, reading.is_whole) == (["silver.names"], False)
    reading = decide_reading(facts(other, REPLACED))
    assert (reading.changed, reading.is_whole) == (["silver.names", "bronze.raw"], True)


@pytest.mark.parametrize(
    ("setting", "size", "explains", "state", "refused"),
    [
        (None, 10, False, "code changed", ""),
        (None, 2_000_000, False, "code changed", "A rebuild reads 2.0 MB, more than max_rebuild_bytes."),
        ("rebuild", 2_000_000, False, "code changed", ""),
        ("ignore", 2_000_000, False, "incremental", ""),
        ("stop", 10, False, "code changed", "A rebuild reads 0.0 MB (on_code_change: stop)."),
        ("stop", 10, True, "code changed", ""),
        ("never", 10, False, "code changed", "on_code_change is never. Set it to rebuild, stop or ignore."),
    ],
)
def test_changed_code_rebuilds_stops_or_is_ignored(
    setting: str | None, size: int, explains: bool, state: str, refused: str
) -> None:
    """R3.4: without a setting, a large rebuild stops; `explain` only says that the run stops."""
    reading = decide_reading(
        facts(
            source(replace(delta(7), bytes=size), read(7)),
            way=MERGE,
            contract=OTHER_CODE,
            on_code_change=setting,
            max_rebuild_bytes=1_000_000,
            command=Command(explains=explains),
        )
    )
    assert reading.state == state
    assert refused in reading.refused
    assert bool(reading.refused) == bool(refused)
    assert ("where the run stops" in reading.why) == explains


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (facts(source(delta(7), None)), "it is not built yet"),
        (facts(JOINED_SAME, is_built=False), "it is not built yet"),
        (facts(JOINED_SAME, contract=OTHER_CODE), "its contract or its keys have changed since its last run"),
        (facts(REPLACED), "bronze.raw was replaced"),
        (facts(source(delta(1, id="another"), read(7)), way=MERGE), "bronze.raw no longer has version 7"),
        (facts(JOINED_GREW, way=MERGE), "bronze.raw changed, and is joined as it is"),
        (facts(JOINED_GREW), ""),
    ],
)
def test_a_part_is_rebuilt_only_from_what_the_table_was_built_from(model: Facts, why: str) -> None:
    """R3.4: else the table would hold rows of two states."""
    reading = decide_reading(replace(model, command=Command(dates=("2026-03-01", "2026-03-01"))))
    assert reading.refused == (
        f"days cannot be rebuilt in part: {why}. Run it: `dbt run --select days`." if why else ""
    )


def test_columns_can_be_rebuilt_with_new_code_but_not_with_new_keys() -> None:
    """R3.4: a range of dates would mix rows of both."""
    asked = Command(columns=("city",))
    assert not decide_reading(facts(JOINED_SAME, contract=OTHER_CODE, command=asked)).refused
    refused = decide_reading(facts(JOINED_SAME, contract=replace(NOW, grain="x"), command=asked)).refused
    assert "its keys have changed since its last run" in refused


@pytest.mark.parametrize("state", ["full", "incremental"])
def test_a_model_that_calls_is_incremental_cannot_be_read_whole(state: str) -> None:
    """R2.1: it was compiled to read a part of its rows."""
    model = facts(JOINED_SAME if state == "incremental" else REPLACED, calls_incremental=True)
    reading = decide_reading(model)
    assert reading.state == state
    assert bool(reading.refused) == (state == "full")
    assert not decide_reading(replace(model, is_built=False)).refused


@pytest.mark.parametrize(
    ("own", "more", "why"),
    [
        (delta(5, id="own"), {}, None),
        (
            delta(6, commit(6), id="own"),
            {},
            None,
        ),  # of a run that was interrupted: Delta's changes are all read
        (delta(5, id="another"), {}, "gold.days was replaced or rolled back after its last run"),
        (delta(4, id="own"), {}, "gold.days was replaced or rolled back after its last run"),
        (
            delta(6, commit(6, "MERGE", signed="spark"), id="own"),
            {},
            "gold.days had a MERGE after its last run",
        ),
        (delta(6, commit(6, "CLONE"), id="own"), {}, "gold.days was cloned after its last run"),
        (delta(6, commit(6, "OPTIMIZE", signed=None), id="own"), {}, None),
        (
            delta(6, commit(6, "DELETE", are_signed=False), id="own"),
            {"has_one_session": False},
            "gold.days had a DELETE after its last run",
        ),
        (
            delta(6, commit(6, "DELETE", are_signed=False), id="own"),
            {"has_one_session": False, "has_hooks": True},
            None,
        ),
        (
            delta(6, commit(6, "WRITE", signed=None, are_signed=False), id="own"),
            {"has_one_session": False},
            None,
        ),
    ],
)
def test_a_table_that_another_writer_changed_is_computed_in_full(
    own: TableState, more: dict[str, Any], why: str | None
) -> None:
    """R1.4: and one that a run of ours left half way is not, on Delta."""
    reading = decide_reading(facts(JOINED_SAME, own=own, **more))
    assert (reading.state, reading.why) == (("full", why) if why else ("incremental", "incremental"))


def test_an_interrupted_run_on_iceberg_is_computed_in_full() -> None:
    """R1.4: what came and went within it is in no change that the next run would read."""
    own = TableState(ICEBERG, 20, ICEBERG, commits=snapshots("append", "overwrite"))
    model = facts(
        source(iceberg("append"), read(10, "joined", source_id=ICEBERG, table_version=10, table_id=ICEBERG)),
        own=own,
    )
    assert decide_reading(model).why == "gold.days was written by a run that was interrupted"
    assert decide_reading(replace(model, has_hooks=True)).state == "incremental"


def test_a_model_that_last_read_another_schema_is_computed_in_full() -> None:
    """R2.3: with `--defer`, a run reads the tables of another schema."""
    deferred = read(3, "joined", source="other.raw", recorded_at=9)
    known = Checkpoints([read(7, "joined"), deferred])
    assert (
        decide_reading(facts(JOINED_SAME, checkpoints=known)).why == "gold.days was last built from other.raw"
    )
    older = Checkpoints([read(7, "joined"), replace(deferred, recorded_at=8)])
    assert decide_reading(facts(JOINED_SAME, checkpoints=older)).state == "incremental"


def test_the_newer_of_two_recorded_versions_says_how_the_table_was_left() -> None:
    """R1.5: a run that finished a killed one recorded both."""
    two = [
        replace(read(7, "joined"), table_version=4),
        replace(read(7, "joined", source="b.other"), table_version=5),
    ]
    model = facts(*(source(delta(7), each) for each in two))
    assert model.newest is not None
    assert model.newest.table_version == 5
    assert decide_reading(model).state == "incremental"
    assert facts(source(delta(7), None)).newest is None
    assert model.table == DAYS
