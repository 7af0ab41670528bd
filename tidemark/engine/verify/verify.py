"""Prove tables: compare each with a rebuild from the source versions that it has read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from sqlglot.errors import SqlglotError

from tidemark.base.messages import first_sentence, sentence
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
from tidemark.engine.verify.verdict import Difference, Part, Verdict, timed
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


def verdict_of(spark: SparkSession, model: Compiled, part: Part | None = None, why_all: str = "") -> Verdict:
    """Compare a table with its rebuild.

    Args:
        spark: the session.
        model: the compiled model.
        part: the part that is compared; None for all rows.
        why_all: as in `Verdict`.
    """
    make_active(spark)  # a new thread has no session, and the catalog would be that of the first target
    with timed(Verdict(model.table, part=part, why_all=why_all)) as verdict:
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
    where = verdict.part.condition(columns, model.key) if verdict.part else "true"
    differing = differing_rows(table, rebuilt, columns, where)
    rows = differing.limit(MAX_ROWS_SHOWN + 1).collect()
    verdict.rows = columns.of_table(table).where(where).count() if verdict.part else table.count()
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
