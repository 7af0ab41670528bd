"""Infer the columns of JSON records from the type that Spark infers for them as variants."""

from __future__ import annotations

import re
from collections.abc import Collection

from pyspark.sql.types import (
    ArrayType,
    DataType,
    DecimalType,
    DoubleType,
    NullType,
    StructField,
    StructType,
)

MAX_DEPTH = 10  # levels of a new column's type: each level adds seconds of reading, and 50 levels fail


def inferred_fields(schema: str | None, types: StructType, are_lost: Collection[str]) -> StructType:
    """Return the fields of a file's records.

    Args:
        schema: the result of `schema_of_variant_agg` for the records; None if there are none.
        types: the types of the fields that bronze has.
        are_lost: the fields with at least one value that does not fit its type.

    Returns:
        Fields that are in bronze and whose values all fit keep bronze's type. The type of the others is
        inferred; it is `void` if all values are null.
    """
    record = type_of(schema) if schema else NullType()
    if not isinstance(record, StructType):
        return StructType()
    fields = []
    for field in record.fields:
        if field.name not in types.names:
            of = storable(field.dataType)
        elif field.name in are_lost:
            of = completed(types[field.name].dataType, field.dataType)
        else:
            of = types[field.name].dataType
        fields.append(StructField(field.name, of))
    return StructType(fields)


def completed(held: DataType, given: DataType, depth: int = 0) -> DataType:
    """Return an inferred type whose new parts are converted to types that a table can store."""
    if isinstance(given, NullType):
        return held
    if isinstance(held, ArrayType) and isinstance(given, ArrayType):
        return ArrayType(completed(held.elementType, given.elementType, depth + 1))
    if not isinstance(held, StructType) or not isinstance(given, StructType):
        return given
    fields = [
        (field.name, completed(held[field.name].dataType, field.dataType, depth + 1))
        if field.name in held.names
        else (field.name, storable(field.dataType, depth + 1))
        for field in given.fields
    ]
    return StructType([StructField(name, of) for name, of in fields if not isinstance(of, NullType)])


def type_of(schema: str) -> DataType:
    """Return the type of a variant: objects become structs, and values of several types become text."""
    parts = re.split(r"(`(?:[^`]|``)*`)", schema)
    for number in range(0, len(parts), 2):
        structs = re.sub(r"\bOBJECT(?=<)", "STRUCT", parts[number])
        parts[number] = re.sub(r"\bVARIANT\b(?!:)", "STRING", structs)
    return DataType.fromDDL("".join(parts))


def storable(of: DataType, depth: int = 0) -> DataType:
    """Convert an inferred type to a column's type; decimals with a fraction become doubles.

    Args:
        of: the inferred type.
        depth: its level in the column's type.

    Returns:
        The type; `void` if it is unknown or a table cannot store it. Nested `void` fields are left out.
    """
    if isinstance(of, (ArrayType, StructType)) and depth == MAX_DEPTH:
        return NullType()
    if isinstance(of, DecimalType):
        return of if of.scale == 0 else DoubleType()
    if isinstance(of, ArrayType):
        element = storable(of.elementType, depth + 1)
        return element if isinstance(element, NullType) else ArrayType(element)
    if isinstance(of, StructType):
        folded = {field.name.lower() for field in of.fields}
        fields = [StructField(field.name, storable(field.dataType, depth + 1)) for field in of.fields]
        kept = [field for field in fields if not isinstance(field.dataType, NullType)]
        return StructType(kept) if kept and len(folded) == len(of.fields) else NullType()
    return of
