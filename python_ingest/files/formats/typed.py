"""Avro, ORC and Parquet: files that contain their columns and types."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import (
    BinaryType,
    DataType,
    DateType,
    LongType,
    NullType,
    NumericType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from python_ingest.bronze.columns import Target, fields_of, has_text_keys, in_sql, type_in_sql
from python_ingest.bronze.contract import Rejection
from python_ingest.feeds.declarations import FileFeed
from python_ingest.feeds.file_formats import FILE_FORMATS
from python_ingest.feeds.source_file import SourceFile
from python_ingest.files.content import Content
from python_ingest.files.failures import in_plain_words, innermost
from python_ingest.files.formats.base import origin
from python_ingest.files.formats.nanoseconds import in_microseconds, numbers_of, with_microseconds
from python_ingest.files.formats.own_schema import (
    leaves_of,
    nanosecond_columns,
    schema_text,
    unreadable,
)
from python_ingest.files.formats.rescue import NESTED, TIMES_IN_SQL, is_lost, rescued, text_in_sql
from python_ingest.files.storage import read_files

if TYPE_CHECKING:
    from pyspark.sql import Column

NO_ELEMENT = "Index 0 out of bounds for length 0"  # Parquet's library on a schema without columns
AS_NUMBERS = "spark.sql.legacy.parquet.nanosAsLong"


@dataclass(frozen=True)
class OwnSchema:
    """The schema in a file; files with the same schema are read together."""

    text: str


class Typed:
    """Avro, ORC or Parquet files of one feed.

    Args:
        spark: the session.
        feed: the feed.
    """

    has = "it"
    ignores_case = False
    has_lines = False

    def __init__(self, spark: SparkSession, feed: FileFeed) -> None:
        self._spark = spark
        self._format = feed.external.file_format
        self._numbers = {column.in_file for column in feed.columns if column.data_type == "bigint"}
        self._schemas: dict[OwnSchema, StructType] = {}
        self._nanos: dict[OwnSchema, dict[str, bool]] = {}

    def survey(self, files: Sequence[SourceFile], targets: Sequence[Target]) -> None:
        """Do nothing: each file contains its schema."""

    def layout(self, content: Content, file: SourceFile) -> Hashable | Rejection:
        """Read the file's schema."""
        if not content.head:
            return Rejection("the file is empty")
        known = FILE_FORMATS[self._format]
        if not content.head.startswith(known.magic):
            return Rejection(f"it is not in {known.title} format")
        try:
            text, schema = schema_text(self._spark, self._format, content, file)
            layout = OwnSchema(text)
            if layout not in self._schemas and (refused := self._learn(layout, schema, file)):
                return refused
        except (Py4JJavaError, PySparkException) as error:
            reason = innermost(error)
            no_columns = self._format == "parquet" and reason == NO_ELEMENT
            words = "it has no columns" if no_columns else in_plain_words(reason)
            return Rejection(f"its schema cannot be read: {words}")
        if any(name.lower() == "_metadata" for name in self._schemas[layout].names):
            return Rejection("it has a column called _metadata, which is reserved in Spark")
        return layout

    def fields(self, layout: Hashable, file: SourceFile) -> StructType:
        """Return the file's schema."""
        assert isinstance(layout, OwnSchema)  # noqa: S101  # `layout` returns only these
        return self._schemas[layout]

    def rows(self, layout: Hashable, files: Sequence[SourceFile], targets: Sequence[Target]) -> DataFrame:
        """Read files of one schema; rescue undeclared columns and values that do not fit."""
        assert isinstance(layout, OwnSchema)  # noqa: S101  # `layout` returns only these
        schema, nanos = self._schemas[layout], self._nanos[layout]
        reader = self._session(nanos).read.schema(numbers_of(schema, nanos))
        rows = DataFrame(read_files(reader, self._format, files)._jdf, self._spark)
        rows, rest = with_microseconds(rows, nanos)
        values, others = held_in(targets, schema)
        nothing = f.lit(None).cast("string")
        return rows.select(
            *values,
            rescued([*others, *rest]).alias("_rescued_data"),
            nothing.alias("_corrupt_record"),
            nothing.alias("_corrupt_reason"),
            *origin(),
        )

    def _learn(self, layout: OwnSchema, schema: Any, file: SourceFile) -> Rejection | None:
        """Find a schema's types in Spark; return why the file is rejected if a type cannot land."""
        leaves = leaves_of(self._format, layout.text, schema)
        if refused := unreadable(leaves):
            return Rejection(f"it cannot land: {refused}")
        nanos = nanosecond_columns(leaves)
        found = self._session(nanos).read.format(self._format).load(file.glob).schema
        if not found.fields:
            return Rejection("it has no columns")
        held = {
            name: is_instant
            for name, is_instant in nanos.items()
            if name not in self._numbers and isinstance(found[name].dataType, LongType)
        }
        self._schemas[layout], self._nanos[layout] = in_microseconds(found, held), held
        return None

    def _session(self, nanos: Mapping[str, bool]) -> SparkSession:
        """Return the session to read with; another one for nanoseconds in Parquet, where it is a setting."""
        return self._with_numbers if nanos and self._format == "parquet" else self._spark

    @cached_property
    def _with_numbers(self) -> SparkSession:
        session: Any = self._spark._jsparkSession
        clone = SparkSession(self._spark.sparkContext, session.cloneSession())
        clone.conf.set(AS_NUMBERS, "true")
        return clone


def held_in(targets: Sequence[Target], schema: StructType) -> tuple[list[Column], list[Column]]:
    """Return the targets' values in rows of a schema, and the other values, which are to be rescued."""
    filled = fields_of(targets, schema.names, ignores_case=False)
    others = [f.col(in_sql(name)).alias(name) for name in schema.names if name not in filled.values()]
    values = []
    for target in targets:
        value, lost = f.lit(None).cast(target.type), None
        if name := filled.get(target.name):
            value, lost = _held(name, schema[name].dataType, target.type)
            others += [f.when(lost, f.col(in_sql(name))).alias(name)] if lost is not None else []
        values.append(value.alias(target.name))
    return values, others


def _held(name: str, given: DataType, wanted: DataType) -> tuple[Column, Column | None]:
    """Return a column's value as another type, and the condition under which the value is changed."""
    value = f.col(in_sql(name))
    if given.simpleString() == wanted.simpleString():
        return value, None
    if isinstance(given, NullType):
        return f.lit(None).cast(wanted), None
    raw = f"to_json({in_sql(name)}, {TIMES_IN_SQL})"
    if isinstance(given, NESTED) and isinstance(wanted, StringType):
        return f.expr(raw), None
    if isinstance(given, NESTED) and isinstance(wanted, NESTED) and has_text_keys(wanted):
        typed = f"from_json({raw}, {text_in_sql(type_in_sql(wanted))}, {TIMES_IN_SQL})"
        return f.expr(typed), f.expr(is_lost(raw, typed, wanted))
    if not _is_castable(given, wanted):
        return f.lit(None).cast(wanted), value.isNotNull()
    cast = value.try_cast(wanted)
    is_same = cast.try_cast(given).eqNullSafe(value)
    if isinstance(given, BinaryType):
        is_same &= f.is_valid_utf8(cast)
    lost = value.isNotNull() & ~is_same
    return f.when(~lost, cast), lost


def _is_castable(given: DataType, wanted: DataType) -> bool:
    """Return whether a value can keep its meaning in another type; a number cannot become a time."""
    scalars = not isinstance(given, NESTED) and not isinstance(wanted, NESTED)
    kinds = (NumericType, (DateType, TimestampType, TimestampNTZType))
    alike = any(isinstance(given, kind) and isinstance(wanted, kind) for kind in kinds)
    return scalars and (alike or isinstance(given, StringType) or isinstance(wanted, StringType))
