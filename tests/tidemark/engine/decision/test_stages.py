"""When stages are made, and from which version of its table a stage goes on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.tidemark.engine.decision.lake import RAW, delta, read
from tidemark.engine.checkpoints.rows import STAGED, Checkpoint, Checkpoints, Contract
from tidemark.engine.checkpoints.window import Window
from tidemark.engine.decision.stages import STAGED_BYTES, base_version, makes_stages, stages_wanted
from tidemark.engine.incremental.request import Request
from tidemark.engine.incremental.stages import ALL, StagesWanted

pytestmark = pytest.mark.R2
STAGE = "gold_stages.days__1"
CODE = Contract(code="sql")
OTHER = "bronze.other"
CHANGED = Window(RAW, "incremental", STAGED, "id", after=7, last=9)
IDLE = Window(OTHER, "nothing new", STAGED, "id", last=3)


@pytest.mark.parametrize(
    ("maintain", "sizes", "expected"),
    [
        ("auto", {RAW: STAGED_BYTES}, True),
        ("auto", {RAW: STAGED_BYTES // 2, OTHER: STAGED_BYTES // 2}, True),
        ("auto", {RAW: STAGED_BYTES - 1}, False),
        ("auto", {}, False),
        ("always", {}, True),
        ("never", {RAW: STAGED_BYTES}, False),
    ],
)
def test_stages_are_made_where_they_pay(maintain: str, sizes: dict[str, int], expected: bool) -> None:
    """R2.3: for large sources, or if the model says so."""
    assert makes_stages(maintain, sizes) is expected


LARGE = {RAW: STAGED_BYTES}


@pytest.mark.parametrize(
    ("way", "known", "are_there", "expected"),
    [
        ("full", {"size": STAGED_BYTES}, False, StagesWanted(counts=True)),
        ("full", {}, False, ALL),
        ("regions", {}, False, StagesWanted(needed=False, counts=True, rows=True)),
        ("regions", {"size": STAGED_BYTES // 999}, False, StagesWanted(needed=False, counts=True)),
        ("folded", {"removes": False}, False, StagesWanted(needed=False)),
        ("folded", {"removes": True}, False, StagesWanted(needed=False, counts=True)),
        ("rows", {"removes": False}, False, StagesWanted(needed=False)),
        ("rows", {"removes": False}, True, ALL),  # left behind, they would be made anew
        ("full", {"sizes": {RAW: STAGED_BYTES - 1}}, True, StagesWanted(needed=False)),
        ("full", {"maintain": "never"}, True, StagesWanted(needed=False)),
        ("full", {"maintain": "always", "sizes": {}}, False, ALL),
    ],
)
def test_a_query_gets_the_stages_that_save_reading(
    way: str, known: dict[str, Any], are_there: bool, expected: StagesWanted
) -> None:
    """R2.3: by the way of one step, the sizes, and whether rows of the sources went."""
    request = Request((), {}, frozenset([RAW]), **{"sizes": LARGE, **known})
    assert stages_wanted(way, request, are_there=lambda: are_there) == expected
    assert bool(expected) is (expected != StagesWanted(needed=False))


def checkpoint(source: str, version: int, **more: Any) -> Checkpoint:
    values = {"table_version": 5, "table_id": "own", "contract": CODE, "recorded_at": 9, **more}
    return replace(read(version, STAGED), model=STAGE, source=source, **values)


@pytest.mark.parametrize(
    ("known", "now", "expected"),
    [
        ([checkpoint(RAW, 7), checkpoint(OTHER, 3, table_version=2, recorded_at=1)], 5, 5),
        ([checkpoint(RAW, 7), checkpoint(OTHER, 3)], 6, None),  # a run was killed, or another writer came
        ([checkpoint(RAW, 6), checkpoint(OTHER, 3)], 5, None),  # the model was computed in full since
        ([checkpoint(RAW, 7), checkpoint(OTHER, 2)], 5, None),
        ([checkpoint(RAW, 7)], 5, None),
        ([checkpoint(RAW, 7, contract=Contract(code="other")), checkpoint(OTHER, 3)], 5, None),
        ([checkpoint(RAW, 7, table_id="another"), checkpoint(OTHER, 3)], 5, None),
        ([checkpoint(RAW, 7, source_id="another"), checkpoint(OTHER, 3)], 5, None),
        ([checkpoint(RAW, 7), checkpoint(OTHER, 3)], None, None),
    ],
)
def test_a_stage_goes_on_from_what_its_model_has_read(
    known: list[Checkpoint], now: int | None, expected: int | None
) -> None:
    """R2.4: from the version that the last recorded run left; else it is made anew."""
    table = None if now is None else delta(now, id="own")
    assert base_version(STAGE, [CHANGED, IDLE], CODE, Checkpoints(known), table) == expected
