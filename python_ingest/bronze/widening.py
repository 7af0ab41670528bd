"""Widening of types: whether a value of one type fits into another, and which type holds both.

The widenings are those that Delta can make without rewriting files (its table feature `typeWidening`).
"""

from __future__ import annotations

import re

from pyspark.sql.types import (
    ArrayType,
    ByteType,
    CalendarIntervalType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
    YearMonthIntervalType,
)

DIGITS: dict[type[DataType], int] = {ByteType: 3, ShortType: 5, IntegerType: 10, LongType: 20}
MOST_DIGITS = 38
ILLEGAL = r"[ ,;{}()\n\t=]"  # in the name of a column without Delta's column mapping
INTO_DOUBLE = (FloatType, ByteType, ShortType, IntegerType)


def widened(held: DataType, given: DataType) -> DataType | None:
    """Return the type to which a column must be widened to hold values of another type as well.

    Args:
        held: the column's type.
        given: the type of the values.

    Returns:
        `held` itself if it already holds them; None if no widening can hold both.
    """
    if held == given or isinstance(held, StringType):
        return held
    if isinstance(held, StructType) and isinstance(given, StructType):
        return _struct(held, given)
    if isinstance(held, ArrayType) and isinstance(given, ArrayType):
        element = widened(held.elementType, given.elementType)
        return ArrayType(element) if element else None
    if isinstance(held, MapType) and isinstance(given, MapType) and held.keyType == given.keyType:
        value = widened(held.valueType, given.valueType)
        return MapType(held.keyType, value) if value else None
    if _fits(given, held):
        return held
    return _scalar(held, given)


def iceberg_widens(held: DataType, wanted: DataType) -> bool:
    """Return whether Iceberg can also make this widening: its specification allows three."""
    if isinstance(held, DecimalType) and isinstance(wanted, DecimalType):
        return held.scale == wanted.scale
    return (type(held), type(wanted)) in ((IntegerType, LongType), (FloatType, DoubleType))


def is_storable(of: DataType) -> bool:
    """Return whether a Delta table can have a column of this type, without empty or illegally named parts."""
    if isinstance(of, StructType):
        return bool(of.fields) and all(
            not re.search(ILLEGAL, field.name) and is_storable(field.dataType) for field in of.fields
        )
    if isinstance(of, ArrayType):
        return is_storable(of.elementType)
    if isinstance(of, MapType):
        return is_storable(of.keyType) and is_storable(of.valueType)
    return not isinstance(of, (NullType, DayTimeIntervalType, YearMonthIntervalType, CalendarIntervalType))


def _scalar(held: DataType, given: DataType) -> DataType | None:
    if type(held) in DIGITS and type(given) in DIGITS:
        return given
    one, other = _decimal(held), _decimal(given)
    if one and other:
        scale = max(one.scale, other.scale)
        digits = max(one.precision - one.scale, other.precision - other.scale) + scale
        return DecimalType(digits, scale) if digits <= MOST_DIGITS else None
    if isinstance(given, DoubleType) and isinstance(held, INTO_DOUBLE):
        return given
    if isinstance(held, DateType) and isinstance(given, TimestampNTZType):
        return given
    return None


def _fits(given: DataType, held: DataType) -> bool:
    """Return whether every value of `given` is also a value of `held`."""
    if type(given) in DIGITS and type(held) in DIGITS:
        return DIGITS[type(given)] <= DIGITS[type(held)]
    one, other = _decimal(given), _decimal(held)
    if one and isinstance(held, DecimalType) and other:
        return one.scale <= other.scale and one.precision - one.scale <= other.precision - other.scale
    if isinstance(held, DoubleType):
        return isinstance(given, INTO_DOUBLE)
    return isinstance(given, DateType) and isinstance(held, (TimestampType, TimestampNTZType))


def _decimal(of: DataType) -> DecimalType | None:
    if type(of) in DIGITS:
        return DecimalType(DIGITS[type(of)], 0)
    return of if isinstance(of, DecimalType) else None


def _struct(held: StructType, given: StructType) -> StructType | None:
    fields = []
    for field in held.fields:
        to = widened(field.dataType, given[field.name].dataType) if field.name in given.names else None
        if to is None and field.name in given.names:
            return None
        fields.append(StructField(field.name, to or field.dataType))
    folded = [name.lower() for name in held.names]
    added = [field for field in given.fields if field.name not in held.names]
    if any(field.name.lower() in folded for field in added):
        return None
    return StructType([*fields, *(StructField(field.name, field.dataType) for field in added)])
