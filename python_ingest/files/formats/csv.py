"""CSV: check the header of each file against the declaration, and read its records as text."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f
from pyspark.sql.types import StringType, StructField, StructType
from rich.filesize import decimal

from python_ingest.bronze.columns import Target, fields_of
from python_ingest.bronze.contract import Rejection
from python_ingest.feeds.declarations import FileFeed
from python_ingest.feeds.external_files import CsvOptions
from python_ingest.feeds.source_file import SourceFile
from python_ingest.files.formats.base import compression, origin
from python_ingest.files.formats.csv_header import Header, header_of, numbered
from python_ingest.files.formats.encodings import MARKS, REPLACEMENT, is_binary, mark_of, wide_encoding
from python_ingest.files.formats.lines import (
    HOLDS_NUL,
    ILLEGIBLE,
    holds_nul,
    is_legible,
    read_lines,
    read_plain_lines,
)
from python_ingest.files.formats.rescue import rescued
from python_ingest.files.inspection import HEAD_BYTES, MAX_LINE_BYTES, Content, first_line
from python_ingest.files.storage import read_files

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

MOST_FIELDS = 20_000  # Spark's parser has room for 20,480
LINE = re.compile(r"[^\r\n]+")
CUT_BYTES = 8  # the most that is cut from a head: its byte order mark and an incomplete last character
WORKING = ("_line", "_is_legible", "_fields", "_corrupt_reason")


class Csv:
    """CSV files of one feed.

    Args:
        spark: the session.
        feed: the feed; its columns are text.
    """

    has = "its header"
    ignores_case = True

    def __init__(self, spark: SparkSession, feed: FileFeed) -> None:
        self._spark = spark
        self._declared = tuple(column.in_file for column in feed.columns)
        options = feed.external.options
        assert isinstance(options, CsvOptions)  # noqa: S101  # External validates it by file_format
        self._options = options
        self.has_lines = not options.multi_line

    def survey(self, files: Sequence[SourceFile], targets: Sequence[Target]) -> None:
        """Do nothing: the header has all the information."""

    def layout(self, content: Content, file: SourceFile) -> Hashable | Rejection:
        """Read the header, whose columns may have any order and letter case."""
        mark = mark_of(content.head)
        encoding = MARKS.get(mark, self._options.encoding)
        line = self._first_line(content.head[len(mark) :], encoding)
        if refused := self._refused(content, encoding, line):
            return refused
        if not self._options.header:
            return Header(self._declared, encoding)
        is_plain = encoding == "utf-8" and not self._options.comment and content.first_lines == 1
        text = line if is_plain and first_line(content.head) == line else None
        names = self._fields(line)
        counts = Counter(name.lower() for name in names)
        if twice := sorted(name for name, count in counts.items() if count > 1):
            return Rejection(f"the header names {', '.join(repr(name) for name in twice)} more than once")
        if len(names) > MOST_FIELDS:
            return Rejection(f"the header has more than {MOST_FIELDS:,} columns")
        return Header(tuple(names), encoding, text)

    def fields(self, layout: Hashable, file: SourceFile) -> StructType:
        """Return the header's columns, all with the type text."""
        return StructType([StructField(name, StringType()) for name in header_of(layout).names])

    def rows(self, layout: Hashable, files: Sequence[SourceFile], targets: Sequence[Target]) -> DataFrame:
        """Read the records and map their fields to columns by name."""
        header = header_of(layout)
        if self._options.multi_line or header.is_wide:
            return self._mapped(header.names, self._multi_line(header, files), targets)
        return self.parse(header.names, self._lines(header, files), targets)

    def names(self, layout: Hashable) -> list[str]:
        """Return the header's columns."""
        return list(header_of(layout).names)

    def parse(self, names: Sequence[str], lines: DataFrame, targets: Sequence[Target]) -> DataFrame:
        """Parse each line separately, so that a broken quote affects no other record."""
        names = names if self._options.header else self._declared  # as the feed is declared now
        schema = ", ".join(f"{name} string" for name in (*numbered(names), "_broken"))
        parsed = lines.withColumn("_fields", f.from_csv(self._parsable(), schema, self._parsing()))
        reason = (
            f.when(~f.col("_is_legible"), ILLEGIBLE)
            .when(holds_nul(f.col("_line")), HOLDS_NUL)
            .when(self._quote_is_open(names), "a quote is not closed")
            .when(f.col("_fields").isNull() | f.col("_fields._broken").isNotNull(), self._other_width(names))
        )
        return self._mapped(names, parsed.withColumn("_corrupt_reason", reason), targets)

    def _mapped(self, names: Sequence[str], records: DataFrame, targets: Sequence[Target]) -> DataFrame:
        values = {
            name: self._nulled(f.col(f"_fields.{number}"))
            for name, number in zip(names, numbered(names), strict=True)
        }
        filled = fields_of(targets, names, ignores_case=True)
        nothing = f.lit(None).cast("string")
        others = [value.alias(name) for name, value in values.items() if name not in filled.values()]
        passed_on = [name for name in records.columns if name not in WORKING]
        return records.select(
            *[(values[filled[t.name]] if t.name in filled else nothing).alias(t.name) for t in targets],
            rescued(others).alias("_rescued_data"),
            f.when(f.col("_corrupt_reason").isNotNull(), f.make_valid_utf8("_line")).alias("_corrupt_record"),
            "_corrupt_reason",
            *passed_on,
        )

    def _lines(self, header: Header, files: Sequence[SourceFile]) -> DataFrame:
        if header.line is not None:
            return read_plain_lines(self._spark, files, header.line)
        has_header, comment = self._options.header, self._options.comment
        return read_lines(self._spark, files, header=has_header, encoding=header.charset, comment=comment)

    def _multi_line(self, header: Header, files: Sequence[SourceFile]) -> DataFrame:
        names = numbered(header.names)
        reader = self._spark.read.schema(", ".join(f"{name} string" for name in (*names, "_broken")))
        reader = (
            reader.options(**self._parsing())
            .option("multiLine", True)
            .option("maxCharsPerColumn", MAX_LINE_BYTES)
            .option("header", self._options.header)
            .option("encoding", header.charset)
        )
        records = read_files(reader, "csv", files)
        text = f.coalesce("_broken", f.to_csv(f.struct(*names), {"sep": self._options.delimiter}))
        reason = (
            f.when(~is_legible(text), ILLEGIBLE)
            .when(holds_nul(text), HOLDS_NUL)
            .when(f.col("_broken").isNotNull(), self._other_width(names))
        )
        return records.select(
            f.struct(*names).alias("_fields"), text.alias("_line"), reason.alias("_corrupt_reason"), *origin()
        )

    def _parsing(self) -> dict[str, Any]:
        options = self._options
        return {
            "mode": "PERMISSIVE",
            "columnNameOfCorruptRecord": "_broken",
            "sep": options.delimiter,
            "quote": options.quote,
            "escape": options.escape,
            "nullValue": options.null_value[0] if options.null_value else "\u0001",
            **({"comment": options.comment} if options.comment and options.multi_line else {}),
        }

    def _nulled(self, value: Column) -> Column:
        others = self._options.null_value[1:]
        return f.when(value.isin(*others), None).otherwise(value) if others else value

    def _parsable(self) -> Column:
        """Return the line, or NULL if it has more fields than the parser can hold."""
        line, delimiter = f.col("_line"), f.lit(self._options.delimiter)
        gone = f.octet_length(line) - f.octet_length(f.replace(line, delimiter, f.lit("")))
        is_wide = (f.octet_length(line) > MOST_FIELDS) & (gone > MOST_FIELDS)
        return f.when(~is_wide, line)

    def _quote_is_open(self, names: Sequence[str]) -> Column:
        """Return whether the last quote of a line is not closed; Spark would take the rest as one field.

        That field is the last one. Only lines that may be affected are matched with the grammar.
        """
        line, last = f.col("_line"), f.coalesce(f"_fields.{numbered(names)[-1]}", f.lit(""))
        might_be = f.endswith(line, f.concat(f.lit(self._options.quote), last))
        might_be |= f.contains(last, f.lit(self._options.quote))
        return might_be & ~f.rlike(line, f.lit(self._grammar()))

    def _other_width(self, names: Sequence[str]) -> str:
        return f"expected {len(names)} fields, as {'in the header' if self._options.header else 'declared'}"

    def _grammar(self) -> str:
        """Return a regular expression that matches lines in which each quoted field is closed."""
        quote, escape, delimiter = (
            rf"\x{{{ord(sign):x}}}"
            for sign in (self._options.quote, self._options.escape, self._options.delimiter)
        )
        inner = f"[^{quote}]|{quote}{quote}" if quote == escape else f"[^{quote}{escape}]|{escape}."
        rest = f"[^{delimiter}]*+"
        field = f"(?:{quote}(?:{inner})*+{quote}{rest}|[^{quote}{delimiter}]{rest}|)"
        return f"(?s)^{field}(?:{delimiter}{field})*+$"

    def _refused(self, content: Content, encoding: str, line: str) -> Rejection | None:
        if not content.head:
            return Rejection("the file is empty" + ": it has no header" * self._options.header)
        if refused := compression(content):
            return refused
        is_wide = "\n".encode(encoding) != b"\n"
        if not is_wide and (wide := wide_encoding(content.head)):
            return Rejection(f"it looks like {wide.upper()}: set the feed's option `encoding: {wide}`")
        if not is_wide and is_binary(content.head, encoding):
            return Rejection("not a CSV file: it contains NUL bytes")
        return self._header_refused(encoding, line) if self._options.header else None

    def _header_refused(self, encoding: str, line: str) -> Rejection | None:
        if len(line.encode(encoding, "replace")) > HEAD_BYTES - CUT_BYTES:
            return Rejection(f"its header is longer than {decimal(HEAD_BYTES)}")
        if "\x00" in line:
            return Rejection("its header contains NUL bytes")
        if REPLACEMENT in line:
            return Rejection(f"the header is not {encoding.upper()} (option `encoding`): {line[:60]!r}")
        return None

    def _first_line(self, head: bytes, encoding: str) -> str:
        """Return the first line that is neither blank nor a comment."""
        text = codecs.getincrementaldecoder(encoding)("replace").decode(head)
        lines = (found[0] for found in LINE.finditer(text) if found[0].strip())
        comment = self._options.comment
        return next((line for line in lines if not (comment and line.startswith(comment))), "")

    def _fields(self, line: str) -> list[str]:
        reader = csv.reader(
            io.StringIO(line), delimiter=self._options.delimiter, quotechar=self._options.quote, strict=False
        )
        return [name.strip() for name in next(reader, [])]
