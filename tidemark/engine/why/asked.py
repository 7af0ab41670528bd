"""What `tidemark why` is asked: a table, and the values that choose its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from tidemark.base.errors import TidemarkError, did_you_mean
from tidemark.engine.incremental.canonical import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructField

NESTED = ("array", "struct", "map", "variant")


@dataclass(frozen=True)
class Asked:
    """What is asked for.

    Attributes:
        table: `schema.name` of a model, seed or snapshot.
        conditions: values of some of its columns, as text; `null` for no value.
        column: the column that is to be added up from the rows below; empty for none.
        shown: how many rows of each table are shown.
        run: the run after which the tables are read, as `choose_run` has it; empty for the newest.
    """

    table: str
    conditions: Mapping[str, str]
    column: str = ""
    shown: int = 5
    run: str = ""


def field_of(rows: DataFrame, table: str, name: str) -> StructField:
    """Return a column of a table.

    Raises:
        TidemarkError: if it has no such column.
    """
    known = {field.name.lower(): field for field in rows.schema.fields}
    if name.lower() not in known:
        hint = did_you_mean(name, list(known)) or f"Its columns are {', '.join(known)}."
        raise TidemarkError(f"{table} has no column {name}.", hint.strip())
    return known[name.lower()]


def chosen(rows: DataFrame, asked: Asked) -> DataFrame:
    """Return the rows that have the values that are asked for.

    Args:
        rows: the table, or a version of it.
        asked: the values.

    Raises:
        TidemarkError: as `condition` does.
    """
    for name, value in asked.conditions.items():
        rows = rows.where(condition(rows, asked.table, name, value))
    return rows


def condition(rows: DataFrame, table: str, name: str, value: str) -> Column:
    """Return the condition that a column of a table has a value, given as text.

    Raises:
        TidemarkError: if there is no such column, or the text is not a value of its type.
    """
    field = field_of(rows, table, name)
    column, kind = f.col(quoted(field.name)), field.dataType.simpleString()
    if value.lower() == "null":
        return column.isNull()
    if kind.startswith(NESTED):
        raise TidemarkError(f"{table}.{name} is of type {kind}.", "Give a column with single values.")
    wanted = f.lit(value).try_cast(kind)
    if rows.sparkSession.range(1).where(wanted.isNull()).count():
        raise TidemarkError(f"{value} is no value of {table}.{name}, which is of type {kind}.", "Correct it.")
    return column == wanted
