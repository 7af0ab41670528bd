"""Build SQL conditions that find values which do not fit their declared type.

A condition compares the value as JSON text with the parsed value. A value is lost if its column would not
return it: it has another type, more fields, or a number that would be rounded. `_rescued_data` keeps the
complete value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions as f
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DoubleType,
    FractionalType,
    IntegralType,
    MapType,
    StringType,
    StructType,
)

from python_ingest.bronze.columns import in_sql

if TYPE_CHECKING:
    from pyspark.sql import Column

NESTED = (ArrayType, MapType, StructType)
TIMES = {  # all digits of a time; Spark would write three
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
NUMBER = "decimal(38, 18)"


def is_lost(raw: str, typed: str, of: DataType, depth: int = 0) -> str:
    """Return the condition as SQL.

    Args:
        raw: SQL of the value as JSON text, strings without quotes; NULL if it is missing or null.
        typed: SQL of the parsed value.
        of: the declared type.
        depth: the level of the value in the record; it names the variables of lambdas.
    """
    if isinstance(of, StringType):
        return "false"
    if isinstance(of, (FractionalType, IntegralType)):
        differs = f"not (try_cast({raw} as {NUMBER}) <=> try_cast({typed} as {NUMBER}))"
        if isinstance(of, DoubleType):  # the nearest double is accepted for a number with more digits
            differs = f"({differs} and not ({raw} like '%.%' and try_cast({raw} as double) <=> {typed}))"
        return f"({raw} is not null and ({typed} is null or {differs}))"
    if isinstance(of, StructType):
        fields = f"from_json({raw}, 'map<string,string>')"
        names = ", ".join(text_in_sql(field.name) for field in of.fields)
        inner = [
            is_lost(
                f"{fields}[{text_in_sql(field.name)}]",
                f"{typed}.{in_sql(field.name)}",
                field.dataType,
                depth,
            )
            for field in of.fields
        ]
        more = f"exists(map_keys({fields}), k{depth} -> k{depth} not in ({names}))"
        return _unless_held(raw, typed, fields, [more, *inner])
    if isinstance(of, ArrayType):
        parsed = f"from_json({raw}, 'array<string>')"
        pair = f"p{depth}"
        inner_lost = is_lost(f"{pair}.r", f"{pair}.t", of.elementType, depth + 1)
        pairs = (
            f"zip_with({parsed}, {typed}, (r{depth}, t{depth}) -> named_struct('r', r{depth}, 't', t{depth}))"
        )
        return _unless_held(raw, typed, parsed, [f"exists({pairs}, {pair} -> {inner_lost})"])
    if isinstance(of, MapType):
        parsed = f"from_json({raw}, 'map<string,string>')"
        inner_lost = is_lost(f"r{depth}", f"t{depth}", of.valueType, depth + 1)
        by_key = f"map_zip_with({parsed}, {typed}, (k{depth}, r{depth}, t{depth}) -> {inner_lost})"
        return _unless_held(raw, typed, parsed, [f"exists(map_values({by_key}), l{depth} -> l{depth})"])
    return f"({raw} is not null and {typed} is null)"


def _unless_held(raw: str, typed: str, parsed: str, losses: list[str]) -> str:
    lost = " or ".join(f"coalesce({loss}, false)" for loss in losses)
    return f"({raw} is not null and ({typed} is null or {parsed} is null or {lost}))"


def text_in_sql(text: str) -> str:
    """Return a string literal as SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def rescued(values: Sequence[Column]) -> Column:
    """Return the values that are not NULL as one JSON object; NULL if there are none."""
    if not values:
        return f.lit(None).cast("string")
    return f.nullif(f.to_json(f.struct(*values), TIMES), f.lit("{}"))


TIMES_IN_SQL = f"map({', '.join(text_in_sql(word) for pair in TIMES.items() for word in pair)})"
