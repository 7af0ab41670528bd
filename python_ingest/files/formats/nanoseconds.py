"""Timestamps in nanoseconds: they land in microseconds; a value with more digits is rescued, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import functions as f
from pyspark.sql.types import LongType, StructField, StructType, TimestampNTZType, TimestampType

from python_ingest.bronze.columns import in_sql

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

WHOLE = "_nanoseconds_{}"  # the number as it is in the file


def in_microseconds(schema: StructType, nanos: Mapping[str, bool]) -> StructType:
    """Return a schema with timestamps in the place of numbers of nanoseconds.

    Args:
        schema: as Spark reads it.
        nanos: the columns with nanoseconds; for each, whether they are instants in UTC.
    """
    return StructType(
        [
            StructField(field.name, TimestampType() if nanos[field.name] else TimestampNTZType())
            if field.name in nanos
            else field
            for field in schema
        ]
    )


def numbers_of(schema: StructType, nanos: Mapping[str, bool]) -> StructType:
    """Return the schema that `in_microseconds` was made from."""
    fields = [StructField(one.name, LongType()) if one.name in nanos else one for one in schema]
    return StructType(fields)


def with_microseconds(rows: DataFrame, nanos: Mapping[str, bool]) -> tuple[DataFrame, list[Column]]:
    """Replace numbers of nanoseconds by timestamps, without the digits below microseconds.

    Args:
        rows: rows as Spark reads them.
        nanos: as in `in_microseconds`.

    Returns:
        The rows, and for each column the values that have such digits: `2025-01-01T10:00:00.123456789Z`.
    """
    if not nanos:
        return rows, []
    whole = {WHOLE.format(number): f.col(in_sql(name)) for number, name in enumerate(nanos)}
    rows = rows.withColumns(whole)
    times, rest = {}, []
    for (name, is_instant), number in zip(nanos.items(), whole, strict=True):
        below = f.expr(f"pmod({number}, 1000)")
        time = f.expr(f"timestamp_micros(({number} - pmod({number}, 1000)) div 1000)")
        times[name] = time if is_instant else time.cast("timestamp_ntz")
        digits = f.lpad(below.cast("string"), 3, "0")
        text = f.concat(f.date_format(time, "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"), digits, f.lit("Z" * is_instant))
        rest.append(f.when(below != 0, text).alias(name))
    return rows.withColumns(times), rest
