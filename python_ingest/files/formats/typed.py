"""Avro and Parquet: files that contain their columns and types."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as f
from pyspark.sql.types import (
    DataType,
    DateType,
    NumericType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from python_ingest.bronze.columns import Target, fields_of, in_sql, type_in_sql
from python_ingest.bronze.contract import Rejection
from python_ingest.feeds.declarations import FileFeed
from python_ingest.feeds.source_file import SourceFile
from python_ingest.files.failures import in_plain_words, innermost
from python_ingest.files.formats.base import origin
from python_ingest.files.formats.rescue import NESTED, TIMES_IN_SQL, is_lost, rescued, text_in_sql
from python_ingest.files.inspection import Content
from python_ingest.files.storage import hadoop_path, read_files

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

MAGIC = {"avro": b"Obj\x01", "parquet": b"PAR1"}


@dataclass(frozen=True)
class OwnSchema:
    """The schema in a file; files with the same schema are read together."""

    said: str


class Typed:
    """Avro or Parquet files of one feed.

    Args:
        spark: the session.
        feed: the feed.
    """

    has = "it"
    ignores_case = False
    has_lines = False

    def __init__(self, spark: SparkSession, feed: FileFeed) -> None:
        self._spark = spark
        self._jvm: Any = spark.sparkContext._jvm
        self._format = feed.external.file_format
        self._schemas: dict[OwnSchema, StructType] = {}

    def survey(self, files: Sequence[SourceFile], targets: Sequence[Target]) -> None:
        """Do nothing: each file contains its schema."""

    def layout(self, content: Content, file: SourceFile) -> Hashable | Rejection:
        """Read the file's schema."""
        if not content.head:
            return Rejection("the file is empty")
        if not content.head.startswith(MAGIC[self._format]):
            return Rejection(f"not {'an Avro' if self._format == 'avro' else 'a Parquet'} file")
        try:
            layout = OwnSchema(self._said(content, file))
            if layout not in self._schemas:
                self._schemas[layout] = self._spark.read.format(self._format).load(file.glob).schema
        except (Py4JJavaError, PySparkException) as error:
            return Rejection(f"its schema cannot be read: {in_plain_words(innermost(error))}")
        if any(name.lower() == "_metadata" for name in self._schemas[layout].names):
            return Rejection("it has a column called _metadata, which is reserved in Spark")
        return layout

    def fields(self, layout: Hashable, file: SourceFile) -> StructType:
        """Return the file's schema."""
        assert isinstance(layout, OwnSchema)  # noqa: S101  # `layout` returns only these
        return self._schemas[layout]

    def rows(self, layout: Hashable, files: Sequence[SourceFile], targets: Sequence[Target]) -> DataFrame:
        """Read files of one schema; rescue undeclared columns and values that do not fit."""
        schema = self.fields(layout, files[0])
        rows = read_files(self._spark.read.schema(schema), self._format, files)
        values, others = held_in(targets, schema)
        nothing = f.lit(None).cast("string")
        return rows.select(
            *values,
            rescued(others).alias("_rescued_data"),
            nothing.alias("_corrupt_record"),
            nothing.alias("_corrupt_reason"),
            *origin(),
        )

    def _said(self, content: Content, file: SourceFile) -> str:
        if self._format == "avro":
            avro = self._jvm.org.apache.avro
            stream = self._jvm.java.io.ByteArrayInputStream(content.head)
            reader = avro.file.DataFileStream(stream, avro.generic.GenericDatumReader())
            return str(reader.getSchema().toString())
        hadoop = self._jvm.org.apache.parquet.hadoop
        settings = self._spark.sparkContext._jsc.hadoopConfiguration()
        path = hadoop_path(self._spark, file)
        return str(
            hadoop.ParquetFileReader.readFooter(settings, path).getFileMetaData().getSchema().toString()
        )


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
    raw = f"to_json({in_sql(name)}, {TIMES_IN_SQL})"
    if isinstance(given, NESTED) and isinstance(wanted, StringType):
        return f.expr(raw), None
    if isinstance(given, NESTED) and isinstance(wanted, NESTED):
        typed = f"from_json({raw}, {text_in_sql(type_in_sql(wanted))}, {TIMES_IN_SQL})"
        return f.expr(typed), f.expr(is_lost(raw, typed, wanted))
    if not _is_castable(given, wanted):
        return f.lit(None).cast(wanted), value.isNotNull()
    cast = value.try_cast(wanted)
    lost = value.isNotNull() & ~cast.try_cast(given).eqNullSafe(value)
    return f.when(~lost, cast), lost


def _is_castable(given: DataType, wanted: DataType) -> bool:
    """Return whether a value can keep its meaning in another type; a number cannot become a time."""
    scalars = not isinstance(given, NESTED) and not isinstance(wanted, NESTED)
    kinds = (NumericType, (DateType, TimestampType, TimestampNTZType))
    alike = any(isinstance(given, kind) and isinstance(wanted, kind) for kind in kinds)
    return scalars and (alike or isinstance(given, StringType) or isinstance(wanted, StringType))
