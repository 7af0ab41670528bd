"""Prove tables: compare each with a rebuild from the source versions that it has read."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from python_ingest.lake.delta_log import make_active
from python_ingest.lake.table_format import table_exists
from python_ingest.project.compiled_models import Compiled, compiled_models
from python_ingest.project.nodes import VIEWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHOWN = 10
AT_ONCE = 2  # planning a comparison takes one core; meanwhile another comparison runs
UNPROVEN = {
    "never read": "it has no checkpoint for {}",
    "another table": "{} was replaced since its last run",
    "changed": "{} has changed since its last run",
}


@dataclass(frozen=True)
class Difference:
    """A row that only one side has.

    Attributes:
        side: `table` for a row that a rebuild would not have, `rebuild` for one that the table lacks.
        row: the row's values by column.
        copies: how many more copies of it that side has.
    """

    side: str
    row: dict[str, Any]
    copies: int


@dataclass
class Verdict:
    """The comparison of one table.

    Attributes:
        table: `schema.name`.
        rows: rows in the table.
        differing: number of distinct rows whose count differs between the two sides.
        shown: the first of them.
        kept: rows of a table that accumulates, which the query no longer gives.
        unproven: why the table could not be compared, or None.
        seconds: run time of the comparison.
    """

    table: str
    rows: int = 0
    differing: int = 0
    shown: list[Difference] = field(default_factory=list)
    kept: int = 0
    unproven: str | None = None
    seconds: float = 0.0

    @property
    def holds(self) -> bool:
        return self.differing == 0 and self.unproven is None


def verify(spark: SparkSession, selection: Sequence[str]) -> Iterator[Verdict]:
    """Rebuild models from what they have read, and compare both ways, row for row.

    The rebuild is a query, not a table: each model's SQL makes a full scan of its sources, as of the
    versions of its checkpoints. Nothing is written.

    Args:
        spark: the session.
        selection: dbt selectors; empty for all models.

    Yields:
        A verdict for each model, in dbt's order. Views store no rows and get no verdict.
    """
    models = compiled_models(selection, purpose="verify")
    kept = [model for model in models if model.materialized not in VIEWS]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from pool.map(partial(_verdict, spark), kept)


def _verdict(spark: SparkSession, model: Compiled) -> Verdict:
    make_active(spark)  # a new thread has no session, and the catalog would be that of the first target
    with timed(Verdict(model.table)) as verdict:
        if not table_exists(spark, model.table):
            verdict.unproven = "not built yet"
        elif (unproven := _unproven(model)) is not None:
            verdict.unproven = unproven
        else:
            compare(spark, model.sql, verdict, keeps_rows=model.way.accumulates)
    return verdict


def _unproven(model: Compiled) -> str | None:
    for source in model.reads:
        if source.unproven:
            return f"{UNPROVEN[source.unproven].format(source.name)}; run it once"
    if model.is_unproven:
        return f"{model.way.why_unproven}: docs/plain_models.md"
    return None


def compare(
    spark: SparkSession, sql: str, verdict: Verdict, reading: str | None = None, *, keeps_rows: bool = False
) -> None:
    """Compare a table with a query both ways, row for row.

    Args:
        spark: the session.
        sql: the query.
        verdict: names the table, and receives the result.
        reading: what stands for the table in FROM; None for the present table.
        keeps_rows: whether the table may have rows that the query no longer gives; they are counted.
    """
    table = spark.sql(f"select * from {reading or verdict.table}")
    rebuilt = spark.sql(sql)
    if "_is_deleted" in rebuilt.columns and "_is_deleted" not in table.columns:
        rebuilt = rebuilt.where("not _is_deleted")
    sides = (
        rebuilt.select(table.columns)
        .selectExpr("*", "1 as __tidemark_side")
        .unionAll(table.selectExpr("*", "-1 as __tidemark_side"))
    )
    differing = sides.groupBy(table.columns).sum("__tidemark_side").where("`sum(__tidemark_side)` != 0")
    if keeps_rows:
        kept: Any = differing.selectExpr("-sum(least(`sum(__tidemark_side)`, 0))").first()
        verdict.kept = int(kept[0] or 0)
        differing = differing.where("`sum(__tidemark_side)` > 0")
    rows = differing.limit(SHOWN + 1).collect()
    verdict.rows = table.count()
    verdict.differing = len(rows) if len(rows) <= SHOWN else differing.count()
    verdict.shown = [_difference(row.asDict()) for row in rows[:SHOWN]]


def _difference(row: dict[str, Any]) -> Difference:
    copies = row.pop("sum(__tidemark_side)")
    return Difference("rebuild" if copies > 0 else "table", row, abs(copies))


@contextmanager
def timed(verdict: Verdict) -> Iterator[Verdict]:
    """Measure the run time of a comparison."""
    started = time.monotonic()
    yield verdict
    verdict.seconds = time.monotonic() - started
