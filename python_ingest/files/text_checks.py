"""Count in the text of files what decides how they are read: first lines, open quotes, and UTF-8."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from python_ingest.feeds.csv_grammar import Grammar
from python_ingest.feeds.external_files import AnyFiles, csv_options
from python_ingest.feeds.source_file import SourceFile
from python_ingest.files.formats.rescue import text_in_sql
from python_ingest.files.storage import read_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LINE_LIMIT = "mapreduce.input.linerecordreader.line.maxlength"


@dataclass(frozen=True)
class TextChecks:
    """What to look for in the files of a CSV feed.

    Attributes:
        grammar: the grammar of the files.
        encoding: the encoding that the feed declares.
        quotes: whether to look for open quotes.
    """

    grammar: Grammar
    encoding: str
    quotes: bool = True

    @classmethod
    def of(cls, external: AnyFiles) -> TextChecks | None:
        """Return the checks for a feed, or None if its files are not CSV."""
        options = csv_options(external)
        return cls(options.grammar, options.encoding) if options else None

    @property
    def can_wait(self) -> bool:
        """Whether the reading of a file finds its open quotes, so that no other look at them is needed."""
        return self.grammar.spans and not self.may_be_utf8

    @property
    def may_be_utf8(self) -> bool:
        """Whether a file in UTF-8 would be read in another encoding."""
        return self.encoding != "utf-8"

    def is_open(self, text: str) -> str:
        """Return as SQL whether a line of a text has a quoted field that the line does not close."""
        if not (self.grammar.spans and self.quotes):
            return "false"
        if self.may_be_utf8 and not self.grammar.quote.isascii():
            return "true"  # the bytes of the quote are not those of UTF-8
        quote, closed = text_in_sql(self.grammar.quote), text_in_sql(self.grammar.closed_lines())
        return f"(contains({text}, {quote}) and not rlike({text}, {closed}))"

    def spared(self, text: str) -> str:
        """Return as SQL how many bytes a text has beyond its characters in UTF-8; NULL if it is not UTF-8."""
        if not self.may_be_utf8:
            return "0"
        return f"if(is_valid_utf8({text}), octet_length({text}) - char_length({text}), null)"


@dataclass(frozen=True)
class LineCounts:
    """The counts of one file.

    Attributes:
        first_lines: how many lines equal a first line; 0 if a line has a carriage return inside.
        size: the bytes of all lines and one byte for each line end, if it was counted.
        open_lines: how many lines have a quoted field that they do not close.
        spared: how many bytes the text has beyond its characters; 0 if it is not UTF-8.
    """

    first_lines: int = 0
    size: int = 0
    open_lines: int = 0
    spared: int = 0


def count_lines(
    spark: SparkSession,
    files: Sequence[SourceFile],
    first_lines: Iterable[str],
    checks: TextChecks | None,
    *,
    longest: int | None = None,
) -> dict[str, LineCounts]:
    """Read all lines of large or compressed files; return the counts by URI.

    Args:
        spark: the session.
        files: the files.
        first_lines: their first lines.
        checks: the checks of a CSV feed.
        longest: for compressed files, the bytes of the longest line; longer lines are not in the size.

    Returns:
        The counts; files without a line that counts may be left out.
    """
    line, is_open, spared = f.col("value"), f.lit(False), f.lit(0)
    if checks:
        is_open, spared = f.expr(checks.is_open("value")), f.expr(checks.spared("value"))
    is_first, size, has_break = line.isin(*first_lines), f.lit(0), f.lit(False)
    reader = spark.read
    if longest:
        reader = reader.option("lineSep", "\n").option(LINE_LIMIT, longest)
        is_first = line.isin(*first_lines, *(f"{first}\r" for first in first_lines))
        size = f.octet_length(line) + 1
        end = f.locate("\r", line)
        has_break = (end > 0) & (end < f.char_length(line))
    lines = read_files(reader, "text", files).select(
        f.col("_metadata.file_path").alias("uri"),
        is_first.alias("is_first"),
        size.alias("size"),
        is_open.alias("is_open"),
        spared.alias("spared"),
        has_break.alias("has_break"),
    )
    if not longest:
        lines = lines.where("is_first or is_open or spared is null or spared > 0")
    counts = lines.groupBy("uri").agg(
        f.when(f.bool_or("has_break"), 0).otherwise(f.count_if("is_first")),
        f.sum("size"),
        f.count_if("is_open"),
        f.when(f.bool_or(f.isnull("spared")), 0).otherwise(f.sum("spared")),
    )
    return {uri: LineCounts(*found) for uri, *found in counts.collect()}


def quotes_are_odd(spark: SparkSession, file: SourceFile, quote: str) -> bool:
    """Return whether a file has an odd number of quotes, so that one of them is not closed."""
    lines = read_files(spark.read, "text", [file])
    quotes = f.expr(f"octet_length(value) - octet_length(replace(value, {text_in_sql(quote)}, ''))")
    total = lines.where(f.contains("value", f.lit(quote))).agg(f.sum(quotes)).collect()[0][0] or 0
    return bool(total // len(quote.encode()) % 2)
