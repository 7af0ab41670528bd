"""Columns of the rows that a query gives, for the rows that are followed through it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f
from sqlglot import exp

from tidemark.engine.incremental.canonical import is_own_form, quoted
from tidemark.engine.why.carried import CARRIED, VALUE, Carried

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def own_columns(kept: DataFrame, one: Carried) -> DataFrame:
    """Return the table's own columns of what is carried of it."""
    return kept.select(*(column_of(CARRIED.format(n)).alias(name) for n, name in enumerate(one.columns)))


def added_up(kept: DataFrame, one: Carried) -> str:
    """Return what the rows give for the column that was asked for; empty if they do not make it alone."""
    if one.measure is None:
        return ""
    row: Any = kept.agg(f.expr(f"{one.measure.key}({VALUE})")).first()
    columns = one.measure.copy().transform(
        lambda part: exp.column(part.name) if isinstance(part, exp.Column) else part
    )
    return f"{columns.sql('spark').lower()} = {row[0]}"


def column_of(name: str) -> Column:
    return f.col(quoted(name))


def comparable_columns(rows: DataFrame) -> list[str]:
    """Return the columns whose values Spark compares."""
    return [field.name for field in rows.schema.fields if is_own_form(field.dataType.simpleString())]
