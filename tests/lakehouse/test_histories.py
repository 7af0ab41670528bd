"""Random histories: after every batch, each table is what its whole history says, by an oracle in Python.

Hundreds of histories stand side by side in one table, each in a key space of its own, so that a handful of runs
tests them all. A failing one is printed as a small table. `TIDEMARK_HISTORIES` and `TIDEMARK_SEED` change the number
and the seed.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import pytest
from pyspark.sql import SparkSession

from tests.lakehouse.conftest import FixtureProject

pytestmark = [pytest.mark.R1, pytest.mark.R2]
HISTORIES = int(os.environ.get("TIDEMARK_HISTORIES", "400"))
SEED = int(os.environ.get("TIDEMARK_SEED", "20250101"))
BATCHES = 4
SCHEMA = (
    "history int, part string, number string, value int, updated_at int, _batch_id bigint, _row_id bigint"
)


class Landed(NamedTuple):
    """A landed row: a composite key with NULLs, a value, a business time with ties and NULLs."""

    history: int
    part: str | None
    number: str | None
    value: int | None
    updated_at: int | None
    batch: int
    row: int

    @property
    def order(self) -> tuple[bool, int, int, int]:
        return (self.updated_at is not None, self.updated_at or 0, self.batch, self.row)


def random_history(history: int, chance: random.Random) -> list[Landed]:
    """Inserts, updates, repeats, ties, late rows and NULLs, cut into batches in random order of arrival."""
    rows: list[Landed] = []
    for row in range(chance.randint(1, 14)):
        if rows and chance.random() < 0.25:
            rows.append(chance.choice(rows)._replace(batch=chance.randint(1, BATCHES), row=row))
            continue
        key = (chance.choice(["a", "b", None]), chance.choice(["x", None]))
        value = chance.choice([1, 2, 3, None])
        updated_at = chance.choice([1, 2, 3, 4, None])
        rows.append(Landed(history, *key, value, updated_at, chance.randint(1, BATCHES), row))
    return rows


def newest(rows: Iterable[Landed]) -> list[Landed]:
    """The oracle: the newest row of each key, as a full rebuild over these rows would give it."""
    found: dict[tuple[object, ...], Landed] = {}
    for row in sorted(rows, key=lambda row: row.order):
        found[row.history, row.part, row.number] = row
    return list(found.values())


def test_every_batch_ends_in_what_the_whole_history_says(
    spark: SparkSession, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.5, R2.4: NULL keys, ties, repeats, late and out-of-order rows; runs cut off before their checkpoint."""
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    project = FixtureProject(spark, "histories", prefix)
    project.create_source("histories_in", SCHEMA)
    chance = random.Random(SEED)
    histories = [row for number in range(HISTORIES) for row in random_history(number, chance)]
    for batch in range(1, BATCHES + 1):
        arrived = [row for row in histories if row.batch == batch]
        frame = spark.createDataFrame([tuple(row) for row in arrived], SCHEMA)
        frame.coalesce(1).write.format("delta").mode("append").saveAsTable(f"{prefix}_bronze.histories_in")
        assert project.dbt("run").failed == []
        if batch % 2 == 0:
            _forget_last_checkpoint(project)
        rows = newest(row for row in histories if row.batch <= batch)
        entities = {(row.history, row.part, row.number, row.value, row.updated_at) for row in rows}
        counts = Counter((row.history, row.value) for row in rows)
        _same(histories, batch, project.rows("entities"), entities)
        _same(histories, batch, project.rows("value_counts"), {(*key, n) for key, n in counts.items()})


def _forget_last_checkpoint(project: FixtureProject) -> None:
    """As if the run had been killed before on-run-end: the next one reads the same versions again."""
    checkpoints = f"{project.prefix}_ops.checkpoints"
    last = project.spark.table(checkpoints).selectExpr("max(sequence)").first()
    assert last is not None
    if last[0] > 1:
        project.spark.sql(f"delete from {checkpoints} where sequence = {last[0]}")


def _same(
    histories: list[Landed], batch: int, found: list[tuple[object, ...]], expected: set[tuple[object, ...]]
) -> None:
    assert len(found) == len(set(found)), "a row stands twice"
    wrong = set(found) ^ expected
    if wrong:
        history = min(str(row[0]) for row in wrong)
        rows = [row for row in histories if str(row.history) == history and row.batch <= batch]
        table = "\n".join(str(row) for row in sorted(rows, key=lambda row: (row.batch, row.row)))
        found_here = [row for row in found if str(row[0]) == history]
        expected_here = [row for row in expected if str(row[0]) == history]
        pytest.fail(f"after batch {batch}, history {history}:\n{table}\n{found_here=}\n{expected_here=}")
