"""CSV: the header of each file checked against the declaration, its records as text, nothing guessed."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from python_ingest.contents import Content, first_line
from python_ingest.declarations import Feed
from python_ingest.external import CsvOptions
from python_ingest.formats.base import REPLACEMENT, Rejection, compression, lacking, origin
from python_ingest.formats.lines import read_lines, read_plain_lines
from python_ingest.storage import SourceFile

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


@dataclass(frozen=True)
class Header:
    """How a file begins.

    Attributes:
        names: its columns, in the file's order.
        encoding: as Python names it.
        line: the header's text, if no other line is like it: then lines can be read as plain text.
    """

    names: tuple[str, ...]
    encoding: str
    line: str | None = None

    def position(self, field: str) -> int:
        """Return where a field, in lower case, stands in the file."""
        return [name.lower() for name in self.names].index(field)

    @property
    def charset(self) -> str:
        """The encoding as Java names it."""
        return re.sub(r"^(utf-\d\d)-", r"\1", self.encoding)

    @property
    def is_wide(self) -> bool:
        """True when a line break is more than one byte, so that Spark cannot cut the file into lines."""
        return "\n".encode(self.encoding) != b"\n"


class Csv:
    """CSV files of one feed.

    Args:
        spark: the session.
        feed: the feed; its columns are text.
    """

    def __init__(self, spark: SparkSession, feed: Feed) -> None:
        self._spark = spark
        self._columns = {column.name: column.in_file.lower() for column in feed.columns}
        options = feed.external.options
        assert isinstance(options, CsvOptions)  # noqa: S101  # External validates it by file_format
        self._options = options

    def layout(self, content: Content, file: SourceFile) -> Hashable | Rejection:
        """Read the header, and compare it with the declared columns.

        Columns may come in any order and letter case, and there may be more than are declared (they are
        kept in `_rescued_data`). A file without one of the declared columns is not this feed's.
        """
        head = content.head
        if not head:
            return Rejection("the file is empty" + ": it has no header" * self._options.header)
        if refused := compression(content):
            return refused
        mark = next((mark for mark in MARKS if head.startswith(mark)), b"")
        encoding = MARKS.get(mark, self._options.encoding)
        if b"\x00" in head and "\n".encode(encoding) == b"\n":
            return Rejection("not a CSV file: it holds NUL bytes")
        line = self._first_line(head[len(mark) :], encoding)
        if self._options.header and REPLACEMENT in line:
            return Rejection(f"the header is not {encoding.upper()}: {line[:60]!r}")
        if not self._options.header:
            return Header(tuple(self._columns.values()), encoding)
        is_plain = encoding == "utf-8" and not self._options.comment and content.first_lines == 1
        text = line if is_plain and first_line(head) == line else None
        return self._compared(Header(tuple(self._fields(line)), encoding, text))

    def rows(self, layout: Hashable, files: Sequence[SourceFile]) -> DataFrame:
        """Read the records, mapped to the declared columns by name."""
        assert isinstance(layout, Header)  # noqa: S101  # only `layout` makes them
        if self._options.multi_line or layout.is_wide:
            records = self._multi_line(layout, files)
        else:
            records = self._single_line(layout, files)
        values = [self._nulled(f.col(f"_fields.{name}")) for name in _numbered(layout)]
        declared = [values[layout.position(field)].alias(name) for name, field in self._columns.items()]
        return records.select(
            *declared,
            self._rescued(layout, values).alias("_rescued_data"),
            f.when(f.col("_is_broken"), f.col("_line")).alias("_corrupt_record"),
            "_uri",
            "_source_modified_at",
        )

    def _single_line(self, header: Header, files: Sequence[SourceFile]) -> DataFrame:
        """Parse line by line, so that a broken quote harms no other record."""
        schema = ", ".join(f"{name} string" for name in (*_numbered(header), "_broken"))
        if header.line is not None:
            lines = read_plain_lines(self._spark, files, header.line)
        else:
            lines = read_lines(
                self._spark,
                files,
                header=self._options.header,
                encoding=header.charset,
                comment=self._options.comment,
            )
        broken = (
            f.col("_fields._broken").isNotNull()
            | f.contains(f.col("_line"), f.lit(REPLACEMENT))
            | self._quote_is_open()
        )
        parsed = lines.select("*", f.from_csv("_line", schema, self._parsing()).alias("_fields"))
        return parsed.withColumn("_is_broken", broken)

    def _multi_line(self, header: Header, files: Sequence[SourceFile]) -> DataFrame:
        names = _numbered(header)
        reader = self._spark.read.schema(", ".join(f"{name} string" for name in (*names, "_broken")))
        records = (
            reader.options(**self._parsing())
            .option("multiLine", True)
            .option("header", self._options.header)
            .option("encoding", header.charset)
            .csv([file.glob for file in files])
        )
        text = f.coalesce("_broken", f.to_csv(f.struct(*names), {"sep": self._options.delimiter}))
        unreadable = f.col("_broken").isNotNull() | f.contains(text, f.lit(REPLACEMENT))
        return records.select(
            f.struct(*names).alias("_fields"), text.alias("_line"), unreadable.alias("_is_broken"), *origin()
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

    def _quote_is_open(self) -> Column:
        """True for a line with an odd number of quotes: Spark would take the open field as it stands."""
        line, quote = f.col("_line"), self._options.quote
        if self._options.escape != quote:
            line = f.regexp_replace(line, re.escape(self._options.escape) + ".", "")
        gone = f.octet_length(line) - f.octet_length(f.replace(line, f.lit(quote), f.lit("")))
        width = len(quote.encode())
        return f.contains(f.col("_line"), f.lit(quote)) & (gone % (2 * width) == width)

    def _rescued(self, header: Header, values: Sequence[Column]) -> Column:
        extra = [
            value.alias(name)
            for name, value in zip(header.names, values, strict=True)
            if name.lower() not in self._columns.values()
        ]
        if not extra:
            return f.lit(None).cast("string")
        return f.nullif(f.to_json(f.struct(*extra)), f.lit("{}"))

    def _first_line(self, head: bytes, encoding: str) -> str:
        """Return the first line that is neither blank nor a comment."""
        text = codecs.getincrementaldecoder(encoding)("replace").decode(head)
        lines = (line for line in re.split("\r\n|\n|\r", text) if line.strip())
        comment = self._options.comment
        return next((line for line in lines if not (comment and line.startswith(comment))), "")

    def _fields(self, line: str) -> list[str]:
        reader = csv.reader(
            io.StringIO(line), delimiter=self._options.delimiter, quotechar=self._options.quote, strict=False
        )
        return [name.strip() for name in next(reader, [])]

    def _compared(self, header: Header) -> Header | Rejection:
        folded = [name.lower() for name in header.names]
        if refused := lacking([*self._columns.values()], folded, "its header has", "the header lacks"):
            return refused
        twice = sorted({name for name in folded if folded.count(name) > 1})
        if twice:
            return Rejection(f"the header names {', '.join(repr(name) for name in twice)} more than once")
        return header


def _numbered(header: Header) -> list[str]:
    return [f"c{position}" for position in range(len(header.names))]
