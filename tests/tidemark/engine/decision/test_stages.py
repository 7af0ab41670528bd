"""When stages are made, and from which version of its table a stage goes on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.tidemark.engine.decision.lake import RAW, delta, read
from tidemark.engine.checkpoints.rows import STAGED, Checkpoint, Checkpoints, Contract
from tidemark.engine.checkpoints.window import Window
from tidemark.engine.decision.stages import STAGED_BYTES, base_version, makes_stages

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
