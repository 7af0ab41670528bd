"""Parse plain JSON records: one object whose fields are all declared, given once, and fit their columns.

Most records are plain. One parse into the columns' types and a count of the field names detect them. This
costs less than half of the complete parse that `json_records.py` needs for the other records.
"""

from __future__ import annotations

from functools import reduce
from operator import add, and_
from typing import TYPE_CHECKING

from pyspark.sql import functions as f
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntegralType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
    VariantType,
)

from python_ingest.files.formats.json_text import holds_half
from python_ingest.files.formats.rescue import NUMBER

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EXACT = (BooleanType, DateType, TimestampNTZType, TimestampType)  # NULL if the value does not fit
SAFE_DIGITS = 15  # a double represents all of them
SAFE_INTEGER = 2**53  # a double represents every integer up to it
NOT_NUMBERS = [sign + word for word in ("INF", "Infinity") for sign in ("", "+", "-")] + ["NaN"]
NOT_NUMBERS += ['"Infinity"', '"-Infinity"']  # the text that a number too large for a double becomes


def with_plain(lines: DataFrame, types: StructType) -> DataFrame:
    """Add `_plain`: the record as a struct of the declared types if it is plain, otherwise NULL.

    Args:
        lines: `_line`, one JSON object as text, and `_is_legible`.
        types: the declared fields by their names in the file.
    """
    if distinct(types) != types or not all(_can_be_plain(field.dataType) for field in types):
        return lines.withColumn("_plain", f.lit(None).cast(distinct(types)))
    read = StructType([StructField(field.name, _read_as(field.dataType)) for field in types])
    wrapped = f.concat(f.lit("["), "_line", f.lit("]"))
    parsed = lines.select(
        "*",
        f.from_json(wrapped, ArrayType(read)).alias("_records"),
        f.json_object_keys("_line").alias("_names"),
    )
    record = f.get("_records", f.lit(0))
    held = [_held(record.getField(field.name), field.dataType).alias(field.name) for field in types]
    values = [f.col("_values").getField(field.name) for field in types]
    are_written = [_is_written(value, field.dataType) for value, field in zip(values, types, strict=True)]
    is_plain = (
        f.col("_is_legible")
        & ~holds_half(f.col("_line"))
        & ~f.contains("_line", f.lit("]"))  # it would close the wrapper, and the rest would be ignored
        & (f.size("_records") == 1)
        # so no field is unknown, duplicate, null or lost
        & (f.size("_names") == reduce(add, [value.isNotNull().cast("int") for value in values]))
        & reduce(and_, [f.coalesce(one, f.lit(True)) for one in are_written])
    )
    plain = f.when(is_plain, f.col("_values")).alias("_plain")
    return parsed.withColumn("_values", f.struct(*held)).select(*lines.columns, plain)


def distinct(types: StructType) -> StructType:
    """Return the same types, with other names if two names differ in letter case only.

    Spark reads such fields from JSON, but it ignores letter case when a query names a field of a struct.
    """
    if len({name.lower() for name in types.names}) == len(types.names):
        return types
    return StructType([StructField(f"_{number}", field.dataType) for number, field in enumerate(types)])


def _can_be_plain(of: DataType) -> bool:
    if isinstance(of, DecimalType):
        return of.scale <= SAFE_DIGITS
    return isinstance(of, (*EXACT, DoubleType, IntegralType, StringType))


def _read_as(of: DataType) -> DataType:
    if isinstance(of, DecimalType):  # a decimal would be rounded
        return VariantType()
    return LongType() if isinstance(of, IntegralType) else of  # a smaller type would overflow


def _held(read: Column, of: DataType) -> Column:
    """Return a field's value in its column's type; NULL if it does not fit."""
    if isinstance(of, DecimalType):
        text = read.cast("string")
        value = text.try_cast(of)
        return f.when((value == text.try_cast(NUMBER)) & text.rlike("^[0-9.-]+$"), value)
    return read.try_cast(of)


def _is_written(value: Column, of: DataType) -> Column:
    """Return whether a value is certainly the one in the record; other records are parsed completely."""
    if isinstance(of, DoubleType):
        return f.abs(value) < SAFE_INTEGER
    if isinstance(of, StringType):  # the value may have been an object, a list, or invalid JSON
        return ~f.substring(value, 1, 1).isin("{", "[") & ~value.isin(NOT_NUMBERS)
    return f.lit(True)
