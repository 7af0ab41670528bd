"""Random histories: after every batch, each table is what its whole history says, by an oracle in Python.

Hundreds of histories stand side by side in one table, each in a key space of its own, so that a handful of
runs tests them all. A failing one is shrunk, by the same means, and printed as a small table.
`TIDEMARK_HISTORIES` and `TIDEMARK_SEED` change the number and the seed: a nightly run sets both.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence

import pytest
from pyspark.sql import SparkSession

from tests.lakehouse.conftest import FixtureProject
from tests.lakehouse.histories import (
    BATCHES,
    SCHEMA,
    Landed,
    history_of,
    listed,
    random_history,
    rebuilt,
    shorter,
)
from tidemark.lake.table_format import append

pytestmark = [pytest.mark.R1, pytest.mark.R2]
HISTORIES = int(os.environ.get("TIDEMARK_HISTORIES", "250"))
SEED = int(os.environ.get("TIDEMARK_SEED", "20250101"))
ROUNDS = 12


@pytest.mark.R4
@pytest.mark.formats(day="iceberg", night="delta iceberg", core="iceberg")
def test_every_batch_ends_in_what_the_whole_history_says(
    spark: SparkSession, prefix: str, table_format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.5, R2.2, R2.4: deletes, NULL keys, ties, repeats, late rows; runs cut off before a checkpoint."""
    chance = random.Random(SEED)
    histories = [random_history(number, chance) for number in range(HISTORIES)]
    wrong = _replayed(spark, monkeypatch, prefix, histories)
    if wrong:
        number = min(wrong)
        last = int(wrong[number].split("batch ")[1].split(":")[0])
        seen = [row for row in histories[number] if row.batch <= last]
        smallest, says = _shrunk(spark, monkeypatch, prefix, seen, wrong[number])
        pytest.fail(
            f"{len(wrong)} of {HISTORIES} histories, seed {SEED}; the first, shrunk:\n"
            f"{listed(smallest)}\n{says}"
        )


def _replayed(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, prefix: str, histories: Sequence[Sequence[Landed]]
) -> dict[int, str]:
    """Land and run batch by batch; return what is wrong by history, after the first bad batch."""
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    project = FixtureProject(spark, "histories", prefix)
    project.create_source("histories_in", SCHEMA)
    rows = [row for history in histories for row in history]
    for batch in range(1, BATCHES + 1):
        arrived = [tuple(row) for row in rows if row.batch == batch]
        frame = spark.createDataFrame(arrived, SCHEMA)
        append(frame.coalesce(1), f"{prefix}_bronze.histories_in")
        lags = batch % 4 == 2  # gold then reads two versions at once
        assert project.dbt("run", *(["--select", "entities"] if lags else [])).failed == []
        if batch % 3 == 0:
            project.forget_last_run()  # the next one reads the same versions again
        wrong = _wrong(
            project, batch, [row for row in rows if row.batch <= batch], ["entities"] if lags else []
        )
        if wrong:
            return wrong
    return {}


def _wrong(project: FixtureProject, batch: int, landed: list[Landed], only: Sequence[str]) -> dict[int, str]:
    wrong: dict[int, str] = {}
    for model, expected in rebuilt(landed).items():
        if only and model not in only:
            continue
        found = project.rows(model)
        twice = {row for row in found if found.count(row) > 1} if len(found) > len(set(found)) else set()
        for row in (set(found) ^ expected) | twice:
            side = "twice" if row in twice else "missing" if row in expected else "too much"
            says = wrong.setdefault(history_of(model, row), f"after batch {batch}:")
            wrong[history_of(model, row)] = f"{says}\n{model}: {side} {row}"
    return wrong


def _shrunk(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, prefix: str, rows: list[Landed], says: str
) -> tuple[list[Landed], str]:
    """Leave out one row after the other while it still fails; a round's candidates are replayed together."""
    for round_ in range(ROUNDS):
        candidates = shorter(rows)
        wrong = _replayed(spark, monkeypatch, f"s{prefix[-2:]}{round_:02}", candidates) if candidates else {}
        if not wrong:
            break
        number = min(wrong, key=lambda candidate: len(candidates[candidate]))
        rows, says = candidates[number], wrong[number]
    return rows, says
