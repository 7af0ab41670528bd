"""CSV: check the header of each file against the declaration, and read its records as text."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f
from pyspark.sql.types import StringType, StructField, StructType

from python_ingest.bronze.columns import Target, fields_of
from python_ingest.bronze.contract import Rejection
from python_ingest.feeds.declarations import FileFeed
from python_ingest.feeds.external_files import CsvOptions
from python_ingest.feeds.source_file import SourceFile
from python_ingest.files.content import MAX_LINE_BYTES, Content
from python_ingest.files.formats.base import origin
from python_ingest.files.formats.csv_header import Header, header_of, numbered, read_header
from python_ingest.files.formats.encodings import is_wide
from python_ingest.files.formats.lines import (
    CONTROLS,
    HOLDS_NUL,
    ILLEGIBLE,
    OPEN,
    OPEN_LINE,
    SEVERAL,
    has_controls,
    holds_nul,
    is_legible,
    read_lines,
    read_plain_lines,
    read_records,
)
from python_ingest.files.formats.rescue import rescued
from python_ingest.files.storage import read_files

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

MOST_FIELDS = 20_000  # Spark's parser has room for 20,480
HAS_OTHER_WIDTH = "(_fields is null or _fields._broken is not null)"
WORKING = ("_line", "_is_legible", "_fields", "_corrupt_reason")


class Csv:
    """CSV files of one feed.

    Args:
        spark: the session.
        feed: the feed; its columns are text.
    """

    has = "its header"
    ignores_case = True
    has_lines = True

    def __init__(self, spark: SparkSession, feed: FileFeed) -> None:
        self._spark = spark
        self._declared = tuple(column.in_file for column in feed.columns)
        options = feed.external.options
        assert isinstance(options, CsvOptions)  # noqa: S101  # External validates it by file_format
        self._options = options
        self._is_of_bytes = options.encoding != "utf-8" and not is_wide(options.encoding)

    def survey(self, files: Sequence[SourceFile], targets: Sequence[Target]) -> None:
        """Do nothing: the header has all the information."""

    def layout(self, content: Content, file: SourceFile) -> Hashable | Rejection:
        """Read the header, whose columns may have any order and letter case."""
        return read_header(content, self._options, self._declared)

    def fields(self, layout: Hashable, file: SourceFile) -> StructType:
        """Return the header's columns, all with the type text."""
        return StructType([StructField(name, StringType()) for name in header_of(layout).names])

    def rows(self, layout: Hashable, files: Sequence[SourceFile], targets: Sequence[Target]) -> DataFrame:
        """Read the records and map their fields to columns by name."""
        header = header_of(layout)
        if header.is_streamed:
            return self._mapped(header.names, self._streamed(header, files), targets)
        if header.dropped is not None:
            grammar, footer = self._options.grammar, self._options.footer
            return self.parse(
                header.names, read_records(self._spark, files, header, grammar, footer), targets
            )
        lines = self._lines(header, files)
        return self.parse(header.names, lines, targets, is_line=True, stops=header.stops_at_open)

    def names(self, layout: Hashable) -> list[str]:
        """Return the header's columns."""
        return list(header_of(layout).names)

    def parse(
        self,
        names: Sequence[str],
        lines: DataFrame,
        targets: Sequence[Target],
        *,
        is_line: bool = False,
        stops: bool = False,
    ) -> DataFrame:
        """Parse each record separately, so that a broken quote affects no other record.

        Args:
            names, lines, targets: see `LineFormat`.
            is_line: whether the records are lines of files without open quotes.
            stops: whether an open quote fails the job with `OPEN_LINE`, since nobody has looked for one.
        """
        names = names if self._options.header else self._declared  # as the feed is declared now
        parsed = self.with_fields(names, lines)
        grammar = self._options.grammar
        must_stop = self.quote_is_open(names, grammar.closed_lines()) if stops else f.lit(False)
        reason = f.when(must_stop, f.raise_error(f.lit(OPEN_LINE))).when(~f.col("_is_legible"), ILLEGIBLE)
        reason = reason.when(holds_nul(f.col("_line")), HOLDS_NUL)
        if self._is_of_bytes:
            reason = reason.when(has_controls(f.col("_line")), CONTROLS)
        if not (is_line and self._options.multi_line and self._options.encoding == "utf-8"):
            reason = reason.when(self.quote_is_open(names, grammar.closed_record()), OPEN)
        if not is_line:
            reason = reason.when(self._has_several_lines(), SEVERAL)
        reason = reason.when(f.expr(HAS_OTHER_WIDTH), self._other_width(names))
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

    def _streamed(self, header: Header, files: Sequence[SourceFile]) -> DataFrame:
        names = numbered(header.names)
        reader = self._spark.read.schema(", ".join(f"{name} string" for name in (*names, "_broken")))
        comment = {"comment": self._options.comment} if self._options.comment else {}
        reader = (
            reader.options(**self._parsing(), **comment)
            .option("multiLine", True)
            .option("unescapedQuoteHandling", "RAISE_ERROR")
            .option("maxCharsPerColumn", MAX_LINE_BYTES)
            .option("header", self._options.header)
            .option("encoding", header.charset)
        )
        records = read_files(reader, "csv", files)
        text = f.coalesce("_broken", f.to_csv(f.struct(*names), {"sep": self._options.delimiter}))
        reason = (
            f.when(~is_legible(text), ILLEGIBLE)
            .when(holds_nul(text), HOLDS_NUL)
            .when(has_controls(text) & f.lit(self._is_of_bytes), CONTROLS)
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

    def with_fields(self, names: Sequence[str], lines: DataFrame) -> DataFrame:
        """Return records with their `_fields`: `c0` to the last column, and `_broken`."""
        schema = ", ".join(f"{name} string" for name in (*numbered(names), "_broken"))
        return lines.withColumn("_fields", f.from_csv(self._parsable(), schema, self._parsing()))

    def quote_is_open(self, names: Sequence[str], closed: str) -> Column:
        """Return whether a quote of a record is not closed; Spark would take the rest as one field.

        That field is the last one. Only records that may be affected are matched with the grammar.

        Args:
            names: the columns of records that have `_fields` and `_is_legible`.
            closed: the expression of the grammar that records with closed quotes match.
        """
        line, quote = f.col("_line"), f.lit(self._options.quote)
        field = f"_fields.{numbered(names)[-1]}"
        last = f.coalesce(field, f.lit(""))
        might_be = f.endswith(line, f.concat(quote, last)) | f.contains(last, quote) | f.expr(HAS_OTHER_WIDTH)
        # the parser changes the last field: to NULL, in some characters, or by dropping an escape
        might_be |= f.col(field).isNull() | ~f.col("_is_legible") | holds_nul(line)
        if self._options.escape != self._options.quote:
            might_be |= f.contains(line, f.lit(self._options.escape))
        return f.contains(line, quote) & might_be & ~f.rlike(line, f.lit(closed))

    def _other_width(self, names: Sequence[str]) -> str:
        return f"expected {len(names)} fields, as {'in the header' if self._options.header else 'declared'}"

    def _has_several_lines(self) -> Column:
        """Return whether a line break of a record is not inside quotes; Spark would parse the first line."""
        line = f.col("_line")
        has_break = f.contains(line, f.lit("\n")) | f.contains(line, f.lit("\r"))
        return has_break & ~f.rlike(line, f.lit(self._options.grammar.closed_record()))
