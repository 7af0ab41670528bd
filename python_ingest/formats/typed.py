"""Avro and Parquet: files that know their columns and types."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as f
from pyspark.sql.types import DataType, StringType, StructType

from python_ingest.contents import Content
from python_ingest.declarations import Feed
from python_ingest.failures import innermost
from python_ingest.formats.base import Rejection, lacking, origin
from python_ingest.formats.rescue import NESTED, is_lost, name_in_sql
from python_ingest.storage import SourceFile, hadoop_path

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

MAGIC = {"avro": b"Obj\x01", "parquet": b"PAR1"}


@dataclass(frozen=True)
class OwnSchema:
    """What a file says of its columns; files that say the same are read together."""

    said: str


class Typed:
    """Avro or Parquet files of one feed.

    Args:
        spark: the session.
        feed: the feed.
    """

    def __init__(self, spark: SparkSession, feed: Feed) -> None:
        self._spark = spark
        self._jvm: Any = spark.sparkContext._jvm
        self._format = feed.external.file_format
        self._columns = feed.columns
        self._schemas: dict[OwnSchema, StructType] = {}

    def layout(self, content: Content, file: SourceFile) -> Hashable | Rejection:
        """Read the file's schema and compare its columns with the declared ones, by name."""
        if not content.head:
            return Rejection("the file is empty")
        if not content.head.startswith(MAGIC[self._format]):
            return Rejection(f"not {'an Avro' if self._format == 'avro' else 'a Parquet'} file")
        try:
            layout = OwnSchema(self._said(content, file))
            if layout not in self._schemas:
                self._schemas[layout] = self._spark.read.format(self._format).load(file.glob).schema
        except (Py4JJavaError, PySparkException) as error:
            return Rejection(f"its schema cannot be read: {innermost(error)}")
        declared = [column.in_file for column in self._columns]
        return lacking(declared, self._schemas[layout].names, "it has", "it lacks") or layout

    def rows(self, layout: Hashable, files: Sequence[SourceFile]) -> DataFrame:
        """Read files of one schema; undeclared columns and values of other types are rescued."""
        assert isinstance(layout, OwnSchema)  # noqa: S101  # only `layout` makes them
        schema = self._schemas[layout]
        rows = self._spark.read.schema(schema).format(self._format).load([file.glob for file in files])
        declared = [column.in_file for column in self._columns]
        rescued = [f.col(name_in_sql(name)).alias(name) for name in schema.names if name not in declared]
        values = []
        for column in self._columns:
            value, lost = _held(column.in_file, schema[column.in_file].dataType, column.data_type)
            values.append(value.alias(column.name))
            if lost is not None:
                rescued.append(f.when(lost, f.col(name_in_sql(column.in_file))).alias(column.in_file))
        kept = f.nullif(f.to_json(f.struct(*rescued)), f.lit("{}")) if rescued else f.lit(None)
        return rows.select(
            *values,
            kept.cast("string").alias("_rescued_data"),
            f.lit(None).cast("string").alias("_corrupt_record"),
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


def _held(name: str, given: DataType, declared: str) -> tuple[Column, Column | None]:
    """Return a column's value as its declared type, and when that is not all of it."""
    value, wanted = f.col(name_in_sql(name)), DataType.fromDDL(declared)
    if given.simpleString() == wanted.simpleString():
        return value, None
    if isinstance(given, NESTED) and isinstance(wanted, StringType):
        return f.to_json(value), None
    if isinstance(given, NESTED) and isinstance(wanted, NESTED):
        raw = f"to_json({name_in_sql(name)})"
        typed = f"from_json({raw}, '{wanted.simpleString()}')"
        return f.expr(typed), f.expr(is_lost(raw, typed, wanted))
    if isinstance(given, NESTED) or isinstance(wanted, NESTED):
        return f.lit(None).cast(wanted), value.isNotNull()
    cast = value.try_cast(wanted)
    lost = value.isNotNull() & ~cast.try_cast(given).eqNullSafe(value)
    return f.when(~lost, cast), lost
