"""Compare a part of a table with its rebuild, and record the proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import TYPE_CHECKING

from tidemark.base.clock import utc_now
from tidemark.engine.project.compiled import Compiled
from tidemark.engine.verify.proofs import Base, Proof, Proofs
from tidemark.engine.verify.slices import SLICES, Slices
from tidemark.engine.verify.touched import AllRows, State, state_of, touched
from tidemark.engine.verify.verdict import Verdict
from tidemark.engine.verify.verify import AT_ONCE, verdict_of
from tidemark.lake.delta_log import make_active

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALL = tuple(range(SLICES))


def verify_changed(spark: SparkSession, ops_schema: str, models: Sequence[Compiled]) -> Iterator[Verdict]:
    """Compare the keys of each table that changes touched since its last proof; if unknown, all rows.

    Args:
        spark: the session.
        ops_schema: the schema of the state tables.
        models: from `models_with_tables`.
    """
    proofs = Proofs(spark, ops_schema)
    bases = proofs.bases()
    yield from each(proofs, models, lambda model: compared_since(spark, model, bases.get(model.table)))


def verify_all(spark: SparkSession, ops_schema: str, models: Sequence[Compiled]) -> Iterator[Verdict]:
    """Compare all rows of each table, and record the proofs; the arguments are those of `verify_changed`."""
    yield from each(Proofs(spark, ops_schema), models, lambda model: compared(spark, model, ALL))


def each(
    proofs: Proofs, models: Sequence[Compiled], compare: Callable[[Compiled], tuple[Proof, Verdict]]
) -> Iterator[Verdict]:
    """Compare models, AT_ONCE at a time, and record the proofs in their order.

    Args:
        proofs: where they are recorded.
        models: the models.
        compare: compares one.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for proof, verdict in pool.map(compare, models):
            yield recorded(proofs, proof, verdict)


def compared(spark: SparkSession, model: Compiled, numbers: Sequence[int]) -> tuple[Proof, Verdict]:
    """Compare slices of a table.

    Args:
        spark: the session.
        model: the compiled model.
        numbers: the slices.
    """
    make_active(spark)  # a new thread has no session
    return _compared(spark, model, numbers, state_of(spark, model))


def compared_since(spark: SparkSession, model: Compiled, base: Base | None) -> tuple[Proof, Verdict]:
    """Compare the keys of a table that changes touched; all rows if they are not known.

    Args:
        spark: the session.
        model: the compiled model.
        base: the state since which they are looked for; None if there is none.
    """
    make_active(spark)
    at, now = utc_now(), state_of(spark, model)
    try:
        with touched(spark, model, base, now) as keys:
            verdict = verdict_of(spark, model, keys)
    except AllRows as why:
        return _compared(spark, model, ALL, now, str(why))
    return _proof(verdict, (), at, now), verdict


def _compared(
    spark: SparkSession, model: Compiled, numbers: Sequence[int], state: State | None, why_all: str = ""
) -> tuple[Proof, Verdict]:
    at, part = utc_now(), Slices(numbers) if len(numbers) < SLICES else None
    verdict = verdict_of(spark, model, part, why_all)
    return _proof(verdict, numbers, at, state), verdict


def _proof(verdict: Verdict, numbers: Sequence[int], at: datetime, state: State | None) -> Proof:
    base = state.base if state else None
    return Proof(verdict.table, numbers, at, verdict.rows, verdict.differing, verdict.seconds, base)


def recorded(proofs: Proofs, proof: Proof, verdict: Verdict) -> Verdict:
    """Record a comparison, unless the table could not be compared; return its result."""
    if not verdict.unproven:
        proofs.add(proof)
    return verdict
