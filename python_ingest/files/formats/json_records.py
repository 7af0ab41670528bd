"""Convert JSON records to rows: typed values, rescued values, and broken records with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as f
from pyspark.sql.types import DataType, StructField, StructType

from python_ingest.bronze.columns import Target, fields_of, in_sql
from python_ingest.files.formats.json_text import HALF, HUGE, holds_half, holds_huge
from python_ingest.files.formats.lines import HOLDS_NUL, ILLEGIBLE, holds_nul
from python_ingest.files.formats.plain_json import distinct, with_plain
from python_ingest.files.formats.rescue import NESTED, is_lost, text_in_sql

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MAX_DEPTH = 100  # levels of objects and lists in a record: Spark's stack overflows at several hundred
BOUNDED = {"maxNestingDepth": str(MAX_DEPTH + 1)}  # the wrapper around a record adds one level
OBJECTS, TEXTS = "array<map<string,variant>>", "array<map<string,string>>"
SAFE_BYTES = 32 * 2**20  # of a record: Spark's variants hold up to 128 MiB, at most four times their text
TWICE = "it contains a field twice"
TOO_LARGE = "a value in it is too large, or it contains a field twice"
NO_OBJECT = "it is not a single JSON object"
TOO_DEEP = f"it is nested more than {MAX_DEPTH} levels deep"
WORKING = ("_line", "_is_legible", "_plain", "_typed", "_objects", "_fields", "_lost", "_corrupt_reason")


def json_rows(
    lines: DataFrame, names: Sequence[str], targets: Sequence[Target], *, whole_file: bool = False
) -> DataFrame:
    """Parse records.

    Args:
        lines: `_line`, `_is_legible`, and columns that are passed on.
        names: fields that have another name in bronze and are not declared.
        targets: the bronze table's columns.
        whole_file: whether a line may be an array of objects.

    Returns:
        The target columns, `_rescued_data`, `_corrupt_record`, `_corrupt_reason`, and those passed on.
    """
    types = types_of(targets, names)
    parsed = parsed_records(lines, types, whole_file=whole_file)
    is_sound = f.col("_corrupt_reason").isNull()
    values = [
        _value(field.name, field.dataType).alias(t.name)
        for t, field in zip(targets, distinct(types), strict=True)
    ]
    return parsed.select(
        *values,
        f.when(is_sound & f.col("_plain").isNull(), _rescued(types)).alias("_rescued_data"),
        f.when(~is_sound, f.make_valid_utf8("_line")).alias("_corrupt_record"),
        "_corrupt_reason",
        *[name for name in parsed.columns if name not in WORKING],
    )


def parsed_records(lines: DataFrame, types: StructType, *, whole_file: bool) -> DataFrame:
    """Parse records and find their errors.

    Args:
        lines: `_line`, `_is_legible`, and columns that are passed on.
        types: the columns' types by their names in the file.
        whole_file: whether a line may be an array of objects.

    Returns:
        The lines with `_plain`, or otherwise with `_typed`, `_fields`, `_lost` and `_corrupt_reason`. The
        structs `_plain`, `_typed` and `_lost` have the names of `distinct(types)`.
    """
    has_mark = f.startswith("_line", f.lit("\ufeff"))  # the byte order mark
    lines = lines.withColumn("_line", f.when(has_mark, f.expr("substr(_line, 2)")).otherwise(f.col("_line")))
    if whole_file:
        lines = lines.withColumn("_line", f.trim("_line"))
        is_altered = holds_half(f.col("_line")) | holds_huge(f.col("_line"))  # if it were split into elements
        is_list = f.startswith("_line", f.lit("[")) & ~is_altered
        elements = f.when(is_list, f.from_json("_line", "array<string>"))
        lines = lines.withColumn("_line", f.explode(f.coalesce(elements, f.array("_line"))))
    is_open = f.col("_plain").isNull()
    # The record is wrapped in two ways. Spark would ignore text after the end of a bare record.
    # Such text is an error in at least one of the wrappers, because no text closes both.
    in_object = f.concat(f.lit('{"record":'), "_line", f.lit("}"))
    in_array = f.concat(f.lit("["), "_line", f.lit("]"))
    wrapped = StructType([StructField("record", types)])
    parsed = (
        with_plain(lines, types)
        .select(
            "*",
            f.when(is_open, f.from_json(in_object, wrapped, BOUNDED))
            .getField("record")
            .cast(distinct(types))
            .alias("_typed"),
            f.when(is_open, f.from_json(in_array, OBJECTS, BOUNDED)).alias("_objects"),
        )
        .withColumn("_fields", f.get("_objects", f.lit(0)))
    )
    names = f.map_keys("_fields")
    is_object = f.col("_typed").isNotNull() & f.col("_fields").isNotNull() & (f.size("_objects") == 1)
    reason = (
        f.when(~f.col("_is_legible"), ILLEGIBLE)
        .when(holds_half(f.col("_line")), HALF)
        .when(holds_huge(f.col("_line")), HUGE)
        .when(f.size(names) != f.size(f.array_distinct(names)), TWICE)
        .when(~f.coalesce(is_object, f.lit(False)), _wrong(in_array))
    )
    lost = [
        f.expr(_lost(field.name, own.name, field.dataType)).alias(own.name)
        for field, own in zip(types, distinct(types), strict=True)
    ]
    return parsed.withColumns(
        {"_corrupt_reason": f.when(is_open, reason), "_lost": f.when(is_open, f.struct(*lost))}
    )


def _wrong(in_array: Column) -> Column:
    """Return why a record was not read as one object; it parses again, which few records need."""
    signs = f.translate("_line", "{[", "")
    might_be_deep = f.octet_length("_line") - f.octet_length(signs) > MAX_DEPTH
    texts, bounded = (f.get(f.from_json(in_array, TEXTS, bound), f.lit(0)) for bound in (None, BOUNDED))
    is_no_variant = f.col("_objects").isNull() & f.col("_typed").isNotNull() & texts.isNotNull()
    return (
        f.when(holds_nul(f.col("_line")), HOLDS_NUL)
        .when(might_be_deep & texts.isNotNull() & bounded.isNull(), TOO_DEEP)
        .when(might_be_deep & texts.isNull(), f"{NO_OBJECT}, or is nested too deeply")
        .when(is_no_variant & (f.octet_length("_line") > SAFE_BYTES), TOO_LARGE)
        .when(is_no_variant, TWICE)
        .otherwise(NO_OBJECT)
    )


def types_of(targets: Sequence[Target], names: Sequence[str]) -> StructType:
    """Return the targets' types by the names that they have in the file."""
    filled = fields_of(targets, names, ignores_case=False)
    types = StructType()
    for target in targets:
        types.add(filled.get(target.name, target.in_file), target.type)
    return types


def _value(name: str, of: DataType) -> Column:
    is_held = f.col("_corrupt_reason").isNull()
    if not isinstance(of, NESTED):
        is_held &= ~f.col("_lost").getField(name)
    plain = f.col("_plain")
    return f.when(plain.isNotNull(), plain.getField(name)).when(is_held, f.col("_typed").getField(name))


def _rescued(types: StructType) -> Column:
    is_lost = [f.col("_lost").getField(name) for name in distinct(types).names]
    lost = f.array(*[f.when(one, f.lit(name)) for name, one in zip(types.names, is_lost, strict=True)])
    kept = f.map_filter(
        "_fields",
        lambda key, _: ~key.isin(*types.names) | f.array_contains(f.array_compact(lost), key),
    )
    others = f.array_except(f.map_keys("_fields"), f.array(*map(f.lit, types.names)))
    # checked first, because most records have nothing to rescue
    has_some = reduce(lambda one, other: one | other, is_lost, f.size(others) > 0)
    return f.when(has_some, f.nullif(f.to_json(kept), f.lit("{}")))


def _lost(name: str, own: str, of: DataType) -> str:
    """Return a SQL condition: the column's value, `own` in `_typed`, differs from the field's value."""
    field = f"_fields[{text_in_sql(name)}]"
    raw = f"nullif(to_json({field}), 'null')" if isinstance(of, NESTED) else f"cast({field} as string)"
    return f"coalesce({is_lost(raw, f'_typed.{in_sql(own)}', of)}, false)"
