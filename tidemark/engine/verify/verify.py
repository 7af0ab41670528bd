"""Prove tables: compare each with a rebuild from the source versions that it has read."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from sqlglot.errors import SqlglotError

from tidemark.base.messages import first_sentence, sentence
from tidemark.base.output import count_of
from tidemark.engine.decision.ways import MERGE
from tidemark.engine.incremental.canonical import comparable
from tidemark.engine.incremental.rounding import ordered_calls
from tidemark.engine.incremental.statement_catalog import catalog_of
from tidemark.engine.project.compiled import Compiled
from tidemark.engine.project.compiled_models import compiled_models
from tidemark.engine.project.nodes import VIEWS
from tidemark.engine.project.sql_header import created_for
from tidemark.engine.verify.last_digits import Rounded, without_rounding
from tidemark.engine.verify.sides import COPIES, Columns, columns_of, differing_rows
from tidemark.engine.verify.slices import SLICES, condition
from tidemark.lake.delta_log import make_active
from tidemark.lake.table_format import table_exists

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

NOT_STORED = ("_is_deleted", "_is_retracted", "_versions")  # newest_of() and similar macros give them
MAX_ROWS_SHOWN = 10
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
        rounded: number of rows that differ only by rounding, in sums of floating-point numbers.
        rounded_columns: the columns in which they differ.
        ordered_by_chance: functions that its query calls, whose result depends on the order of rows.
        is_outdated: whether a rebuild would give the table other columns.
        slices: the slices that were compared; empty for all rows.
    """

    table: str
    rows: int = 0
    differing: int = 0
    shown: list[Difference] = field(default_factory=list)
    kept: int = 0
    unproven: str | None = None
    seconds: float = 0.0
    rounded: int = 0
    rounded_columns: tuple[str, ...] = ()
    ordered_by_chance: tuple[str, ...] = ()
    is_outdated: bool = False
    slices: Sequence[int] = ()

    @property
    def holds(self) -> bool:
        return self.differing == 0 and self.unproven is None

    @property
    def message(self) -> str:
        """The result in words."""
        if self.unproven:
            return self.unproven
        kept = f", {self.kept:,} kept that its query no longer gives" if self.kept else ""
        differs = "1 row differs" if self.differing == 1 else f"{self.differing:,} rows differ"
        part = f" in {len(self.slices)} of {SLICES} slices" if self.slices else ""
        message = f"{count_of(self.rows, 'row')}{part}, {differs}{kept}"
        if not self.rounded:
            return message
        differ = "differs" if self.rounded == 1 else "differ"
        only = f"{count_of(self.rounded, 'row')} {differ} only in the last digits of sums of floating-point"
        return f"{message} ({only} numbers: {', '.join(self.rounded_columns)})"

    @property
    def facts(self) -> dict[str, Any]:
        """The result for `--log-format json`."""
        rounded = {"rounded": self.rounded, "rounded_columns": self.rounded_columns} if self.rounded else {}
        part = {"rows": self.rows, "slices": list(self.slices)} if self.slices else {}
        return {"differing": self.differing, **rounded, **part}


def verify(
    spark: SparkSession, selection: Sequence[str], variables: Mapping[str, Any] | None = None
) -> Iterator[Verdict]:
    """Rebuild models from what they have read, and compare both ways, row for row.

    The rebuild is a query, not a table: each model's SQL makes a full scan of its sources, as of the
    versions of its checkpoints, with the variables of the run that built its table. Nothing is written.
    A model that cannot be compared stops no other.

    Args:
        spark: the session.
        selection: dbt selectors; empty for all models.
        variables: values of `--vars`, which come before the recorded ones.

    Yields:
        A verdict for each model, in dbt's order. Views store no rows and get no verdict.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from pool.map(partial(verdict_of, spark), models_with_tables(spark, selection, variables))


def models_with_tables(
    spark: SparkSession, selection: Sequence[str], variables: Mapping[str, Any] | None = None
) -> list[Compiled]:
    """Return the compiled models that store rows; the arguments are those of `verify`."""
    models = compiled_models(spark, selection, purpose="verify", given=variables)
    return [model for model in models if model.materialized not in VIEWS]


def verdict_of(spark: SparkSession, model: Compiled, slices: Sequence[int] = ()) -> Verdict:
    """Compare a table with its rebuild.

    Args:
        spark: the session.
        model: the compiled model.
        slices: the slices that are compared; empty for all rows.
    """
    make_active(spark)  # a new thread has no session, and the catalog would be that of the first target
    with timed(Verdict(model.table, slices=slices)) as verdict:
        try:
            verdict.unproven = _unproven(spark, model)
            if verdict.unproven is None:
                compare(spark, model, verdict)
        except Exception as error:  # one table that cannot be compared stops no other
            verdict.unproven = f"cannot be compared: {sentence(error)}"
        if verdict.differing and model.other_variables:
            verdict.unproven = (
                f"built with other values of {', '.join(model.other_variables)}; give them with --vars"
            )
            verdict.differing, verdict.shown = 0, []
    return verdict


def _unproven(spark: SparkSession, model: Compiled) -> str | None:
    if model.hidden:
        return model.needs_variables
    if model.failed is not None:
        return f"does not compile: {first_sentence(model.failed)}"
    if not table_exists(spark, model.table):
        return "not built yet"
    for source in model.reads:
        if source.unproven:
            return f"{UNPROVEN[source.unproven].format(source.name)}; run it once"
    if model.is_unproven:
        return f"not proven: {model.way.why_unproven} (docs/plain_models.md)"
    return None


def compare(spark: SparkSession, model: Compiled, verdict: Verdict, reading: str | None = None) -> None:
    """Compare a table with a model's query both ways, row for row.

    Args:
        spark: the session.
        model: the model.
        verdict: names the table, and receives the result.
        reading: what stands for the table in FROM; None for the present table.
    """
    table = spark.sql(f"select * from {reading or verdict.table}")

    def read(sql: str) -> DataFrame:
        with created_for(spark, model.header):
            query = spark.sql(sql)
        flags = "_is_deleted" in query.columns and "_is_deleted" not in table.columns
        return query.where("not _is_deleted") if flags else query

    rebuilt = read(model.sql)
    columns = columns_of(table, rebuilt, NOT_STORED if model.way.name == MERGE else (), comparable)
    where = condition(columns.keys_of(model.key), verdict.slices) if verdict.slices else "true"
    differing = differing_rows(table, rebuilt, columns, where)
    rows = differing.limit(MAX_ROWS_SHOWN + 1).collect()
    verdict.rows = columns.of_table(table).where(where).count() if verdict.slices else table.count()
    if rows and (rounded := _rounded(spark, model, differing, columns, read)):
        verdict.rounded, verdict.rounded_columns = rounded.rows, rounded.columns
        differing = rounded.differing
    if rows and model.way.accumulates:
        kept: Any = differing.selectExpr(f"-sum(least({COPIES}, 0))").first()
        verdict.kept, differing = int(kept[0] or 0), differing.where(f"{COPIES} > 0")
    if verdict.rounded or verdict.kept:
        rows = differing.limit(MAX_ROWS_SHOWN + 1).collect()
    verdict.differing = len(rows) if len(rows) <= MAX_ROWS_SHOWN else differing.count()
    verdict.shown = [_difference(columns, row) for row in rows[:MAX_ROWS_SHOWN]]
    if rows:
        verdict.ordered_by_chance = tuple(ordered_calls(model.sql))
    elif columns.others:
        verdict.unproven = f"{verdict.message}, but not compared: {columns.others}"
        verdict.is_outdated = not model.way.accumulates


def _rounded(
    spark: SparkSession,
    model: Compiled,
    differing: DataFrame,
    columns: Columns,
    read: Callable[[str], DataFrame],
) -> Rounded | None:
    """Return which rows differ by more than rounding; None if it is not known or cannot matter."""
    floating = {columns.names[number].lower() for number in columns.floating}
    if floating & {name.lower() for name in model.key}:
        return None
    view = catalog_of(spark).view
    try:
        return without_rounding(differing, columns, model.sql, read, view)
    except (SqlglotError, PySparkException):  # then each row that differs counts
        return None


def _difference(columns: Columns, row: Row) -> Difference:
    copies = row[COPIES]
    values = dict(zip(columns.names, row, strict=False))
    return Difference("rebuild" if copies > 0 else "table", values, abs(copies))


@contextmanager
def timed(verdict: Verdict) -> Iterator[Verdict]:
    """Measure the run time of a comparison."""
    started = time.monotonic()
    yield verdict
    verdict.seconds = time.monotonic() - started
