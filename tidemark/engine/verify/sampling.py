"""Prove parts of tables: a share of each, or as much as a time allows; what was proved is recorded."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tidemark.engine.project.compiled import Compiled
from tidemark.engine.verify.proofs import Proofs
from tidemark.engine.verify.recorded import compared, each, recorded
from tidemark.engine.verify.slices import SLICES, oldest_first, turns
from tidemark.engine.verify.verdict import Verdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def verify_share(
    spark: SparkSession, ops_schema: str, models: Sequence[Compiled], share: int
) -> Iterator[Verdict]:
    """Compare some slices of each table with those of its rebuild: those with the oldest proof.

    Args:
        spark: the session.
        ops_schema: the schema of the state tables.
        models: from `models_with_tables`.
        share: how many slices of each table.
    """
    proofs = Proofs(spark, ops_schema)
    proved = proofs.newest()
    yield from each(
        proofs, models, lambda model: compared(spark, model, oldest_first(model.table, proved)[:share])
    )


def verify_within(
    spark: SparkSession, ops_schema: str, models: Sequence[Compiled], seconds: float
) -> Iterator[Verdict]:
    """Compare slices of tables, those with the oldest proof first, until a time is over.

    Each round compares one slice of each table, then twice as many: a comparison costs the reading of the
    sources, however few rows it takes of them. None begins that would last past the end, judged by the one
    before; at least one slice is compared, however short the time.

    Args:
        spark: the session.
        ops_schema: the schema of the state tables.
        models: from `models_with_tables`.
        seconds: the time for comparisons; reading and compiling the project is not part of it.
    """
    proofs = Proofs(spark, ops_schema)
    proved = proofs.newest()
    by_table = {one.table: one for one in models}
    waiting = {table: oldest_first(table, proved) for table in by_table}
    took = dict.fromkeys(by_table, 0.0)
    end, number, is_first = time.monotonic() + seconds, 1, True
    while waiting:
        for table in turns([*waiting], proved):
            if not is_first and time.monotonic() + took[table] > end:
                return
            is_first = False
            chosen, waiting[table] = waiting[table][:number], waiting[table][number:]
            proof, verdict = compared(spark, by_table[table], chosen)
            took[table] = verdict.seconds
            if verdict.unproven or not waiting[table]:
                del waiting[table]
            yield recorded(proofs, proof, verdict)
        number = min(2 * number, SLICES)
