"""JSON: one record per line, or a file that is one object or array of objects; nested types are kept."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as f
from pyspark.sql.types import StructType
from rich.filesize import decimal

from python_ingest.bronze.columns import Target, sql_name
from python_ingest.bronze.contract import Rejection
from python_ingest.feeds.declarations import FileFeed
from python_ingest.feeds.external_files import JsonOptions
from python_ingest.feeds.paths import spellings
from python_ingest.feeds.source_file import SourceFile
from python_ingest.files.content import Content
from python_ingest.files.failures import innermost
from python_ingest.files.formats.base import compression, origin
from python_ingest.files.formats.encodings import is_binary, wide_encoding
from python_ingest.files.formats.inference import inferred_fields
from python_ingest.files.formats.json_records import json_rows, parsed_records, types_of
from python_ingest.files.formats.lines import read_plain_lines
from python_ingest.files.formats.plain_json import distinct
from python_ingest.files.storage import read_files
from tidemark.spark.failures import spark_is_lost

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WHOLE_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Renamed:
    """The fields of a file that have other names in bronze; empty if the file was not surveyed."""

    names: tuple[str, ...] = ()


class Json:
    """JSON files of one feed.

    Args:
        spark: the session.
        feed: the feed.
    """

    has = "it"
    ignores_case = False

    def __init__(self, spark: SparkSession, feed: FileFeed) -> None:
        self._spark = spark
        options, contract = feed.external.options, feed.external.contract
        self._whole_file = isinstance(options, JsonOptions) and options.whole_file
        self.has_lines = not self._whole_file
        self._is_surveyed = any(policy != "rescue" for policy in contract.model_dump().values())
        self._declared = {column.in_file for column in feed.columns}
        self._surveyed: dict[str, StructType] = {}
        self._unclear: dict[str, str] = {}

    def survey(self, files: Sequence[SourceFile], targets: Sequence[Target]) -> None:
        """Infer the fields of each file from all its records, if the contract needs them."""
        self._surveyed, self._unclear = {}, {}
        if self._is_surveyed and files:
            self._infer(files, types_of(targets, ()))

    def _infer(self, files: Sequence[SourceFile], types: StructType) -> None:
        parsed = parsed_records(self._read(files), types, whole_file=self._whole_file).where(
            "_corrupt_reason is null"
        )
        lost = [
            f.bool_or(f.col("_lost").getField(name)).alias(f"lost{number}")
            for number, name in enumerate(distinct(types).names)
        ]
        inferred = f.expr("schema_of_variant_agg(try_parse_json(_line))").alias("inferred")
        try:
            found = {row["_uri"]: row for row in parsed.groupBy("_uri").agg(inferred, *lost).collect()}
            for file in files:
                if row := next((found[uri] for uri in spellings(file.uri) if uri in found), None):
                    are_lost = {field.name for number, field in enumerate(types) if row[f"lost{number}"]}
                    self._surveyed[file.path] = inferred_fields(row["inferred"], types, are_lost)
        except (Py4JJavaError, PySparkException, RecursionError) as error:
            if spark_is_lost(self._spark):
                raise
            if len(files) > 1:
                for file in files:  # one of them is the cause
                    self._infer([file], types)
            else:
                message = "nested too deeply" if isinstance(error, RecursionError) else innermost(error)
                self._unclear[files[0].path] = f"its fields cannot be inferred: {message}"

    def layout(self, content: Content, file: SourceFile) -> Hashable | Rejection:
        """Reject files that cannot be JSON in UTF-8."""
        if refused := compression(content) or self._refused(content):
            return refused
        if file.path in self._unclear:
            return Rejection(self._unclear[file.path])
        names = self._surveyed[file.path].names if file.path in self._surveyed else []
        return Renamed(tuple(sorted(n for n in names if sql_name(n) != n and n not in self._declared)))

    def _refused(self, content: Content) -> Rejection | None:
        if not content.head.strip():
            return Rejection("the file is empty")
        if self._whole_file and content.size > WHOLE_BYTES:
            return Rejection(
                f"it is larger than {decimal(WHOLE_BYTES)}: write it as JSON lines, with `jq -c '.[]' FILE`"
            )
        if wide := wide_encoding(content.head):
            return Rejection(f"not JSON in UTF-8: it looks like {wide.upper()}, write it in UTF-8")
        return Rejection("not JSON in UTF-8: it contains NUL bytes") if is_binary(content.head) else None

    def fields(self, layout: Hashable, file: SourceFile) -> StructType | None:
        """Return the fields that the survey found."""
        return self._surveyed.get(file.path)

    def rows(self, layout: Hashable, files: Sequence[SourceFile], targets: Sequence[Target]) -> DataFrame:
        """Read records with the columns' types; rescue other fields and values that do not fit."""
        return self.parse(self.names(layout), self._read(files), targets)

    def names(self, layout: Hashable) -> list[str]:
        """Return the fields that have another name in bronze."""
        assert isinstance(layout, Renamed)  # noqa: S101  # `layout` returns only these
        return list(layout.names)

    def parse(self, names: Sequence[str], lines: DataFrame, targets: Sequence[Target]) -> DataFrame:
        """Parse records."""
        return json_rows(lines, names, targets, whole_file=self._whole_file)

    def _read(self, files: Sequence[SourceFile]) -> DataFrame:
        if not self._whole_file:
            return read_plain_lines(self._spark, files)
        whole = read_files(self._spark.read.option("wholetext", True), "text", files)
        return whole.select(
            f.col("value").alias("_line"), f.is_valid_utf8("value").alias("_is_legible"), *origin()
        )
