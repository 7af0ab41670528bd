"""JSON: a record a line, or a file that is one object or one array of objects; nested types are kept."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as f
from pyspark.sql.types import DataType, StructType

from python_ingest.contents import Content
from python_ingest.declarations import Feed
from python_ingest.external import JsonOptions
from python_ingest.formats.base import REPLACEMENT, Rejection, compression, origin
from python_ingest.formats.lines import read_plain_lines
from python_ingest.formats.rescue import NESTED, is_lost, name_in_sql, text_in_sql
from python_ingest.storage import SourceFile

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


@dataclass(frozen=True)
class Utf8:
    """All JSON files are read in one way."""


class Json:
    """JSON files of one feed.

    Args:
        spark: the session.
        feed: the feed.
    """

    def __init__(self, spark: SparkSession, feed: Feed) -> None:
        self._spark = spark
        self._columns = feed.columns
        self._types = StructType()
        for column in feed.columns:
            self._types.add(column.in_file, DataType.fromDDL(column.data_type))
        options = feed.external.options
        self._whole_file = isinstance(options, JsonOptions) and options.whole_file

    def layout(self, content: Content, file: SourceFile) -> Hashable | Rejection:
        """Refuse what cannot be JSON in UTF-8."""
        if not content.head.strip():
            return Rejection("the file is empty")
        if refused := compression(content):
            return refused
        if b"\x00" in content.head:
            return Rejection("not JSON in UTF-8: it holds NUL bytes")
        return Utf8()

    def rows(self, layout: Hashable, files: Sequence[SourceFile]) -> DataFrame:
        """Parse records by the declared types; undeclared fields and values of other types are rescued."""
        records = self._elements(files) if self._whole_file else read_plain_lines(self._spark, files)
        text = f.col("_line")
        # in an array, what follows a record's end is an error, and not passed over
        alone = f.from_json(f.concat(f.lit("["), text, f.lit("]")), "array<string>")
        parsed = records.select(
            f.regexp_replace(text, "^\ufeff", "").alias("_line"), "_uri", "_source_modified_at"
        ).select(
            "*",
            f.from_json(text, self._types).alias("_typed"),
            f.from_json(text, "map<string,string>").alias("_raw"),
            f.from_json(text, "map<string,variant>").alias("_fields"),
            (f.size(alone) == 1).alias("_is_alone"),
        )
        names = f.map_keys("_raw")
        broken = (
            f.col("_raw").isNull()
            | f.col("_fields").isNull()
            | ~f.coalesce(f.col("_is_alone"), f.lit(False))
            | (f.size(names) != f.size(f.array_distinct(names)))
            | f.contains(text, f.lit(REPLACEMENT))
        )
        checked = parsed.withColumn("_is_broken", f.coalesce(broken, f.lit(True)))
        declared = [self._value(column.in_file).alias(column.name) for column in self._columns]
        return checked.select(
            *declared,
            f.when(~f.col("_is_broken"), self._rescued()).alias("_rescued_data"),
            f.when(f.col("_is_broken"), text).alias("_corrupt_record"),
            "_uri",
            "_source_modified_at",
        )

    def _elements(self, files: Sequence[SourceFile]) -> DataFrame:
        whole = self._spark.read.text([file.glob for file in files], wholetext=True)
        text = f.trim(f.regexp_replace("value", "^\ufeff", ""))
        elements = f.when(f.startswith(text, f.lit("[")), f.from_json(text, "array<string>"))
        return whole.select(f.explode(f.coalesce(elements, f.array(text))).alias("_line"), *origin())

    def _value(self, name: str) -> Column:
        typed = f.col("_typed").getField(name)
        of = self._types[name].dataType
        if not isinstance(of, NESTED):
            typed = f.when(~f.expr(_lost(name, of)), typed)
        return f.when(~f.col("_is_broken"), typed)

    def _rescued(self) -> Column:
        lost = []
        for field in self._types.fields:
            lost.append(f.when(f.expr(_lost(field.name, field.dataType)), f.lit(field.name)))
        names = [field.name for field in self._types.fields]
        kept = f.map_filter(
            "_fields",
            lambda key, _: ~key.isin(*names) | f.array_contains(f.array_compact(f.array(*lost)), key),
        )
        return f.nullif(f.to_json(kept), f.lit("{}"))


def _lost(name: str, of: DataType) -> str:
    condition = is_lost(f"_raw[{text_in_sql(name)}]", f"_typed.{name_in_sql(name)}", of)
    return f"coalesce({condition}, false)"
