"""Read the first bytes and the checksums of files before a batch is planned."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from python_ingest.feeds.external_files import AnyFiles
from python_ingest.feeds.paths import spellings
from python_ingest.feeds.source_file import SourceFile
from python_ingest.files.content import (
    HEAD_BYTES,
    MAX_LINE_BYTES,
    TOO_LONG,
    WHOLE_BYTES,
    Content,
    first_line,
)
from python_ingest.files.failures import in_plain_words, innermost
from python_ingest.files.storage import read_files
from python_ingest.files.streams import Streams
from python_ingest.files.text_checks import LineCounts, TextChecks, count_lines, quotes_are_odd

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHUNK = 5_000  # files whose heads are collected at once
AT_ONCE = 8  # streams
FIRST_LINE = (
    "regexp_replace(substring_index(substring_index(cast(head as string), "
    "'\\n', 1), '\\r', 1), '^\ufeff', '')"
)
FIRST_LINES = (
    "try_divide(octet_length(content) - octet_length(replace(text, first_line, '')), "
    "octet_length(first_line))"
)
MARK_BYTES = 3  # of a byte order mark, which Hadoop's reader skips
SMALL_BYTES = 16 * 2**20  # a Spark task reads a file up to this size as one value


class Contents:
    """Reads files from any Hadoop file system.

    Args:
        spark: the session whose Hadoop configuration is used.
        external: the block of the feed.
        has_lines: whether the files are text that is read line by line.

    Attributes:
        streams: reads one file at a time.
    """

    def __init__(self, spark: SparkSession, external: AnyFiles, *, has_lines: bool) -> None:
        jvm: Any = spark.sparkContext._jvm
        self._spark = spark
        self._jvm = jvm
        self._has_lines = has_lines
        self._checks = TextChecks.of(external)
        self.streams = Streams(spark, external.max_bytes, has_lines=has_lines)

    def read(self, files: Sequence[SourceFile], closely: Collection[str] = ()) -> dict[str, Content]:
        """Read the checksum and the first bytes of each file, decompressed.

        Spark tasks read small files, many at a time. The other files are read as parallel streams.

        Args:
            files: the files.
            closely: the paths of large files whose open quotes are counted, although reading finds them.
        """
        small = [file for file in files if file.size <= SMALL_BYTES and not self.streams.unpacks(file)]
        found: dict[str, Content] = {}
        for start in range(0, len(small), CHUNK):
            found |= self._small_contents(small[start : start + CHUNK])
        others = [file for file in files if file.path not in found]
        read = self._streamed(others)
        return found | (self._with_lines(read, others, closely) if self._has_lines else read)

    def _streamed(self, files: Sequence[SourceFile]) -> dict[str, Content]:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = pool.map(self.streams.content, files)
            return {file.path: content for file, content in zip(files, found, strict=True)}

    def _small_contents(self, files: Sequence[SourceFile]) -> dict[str, Content]:
        """Return the contents of the files that could be read and have the listed size."""
        by_whole = {file.whole: file for file in files}
        checks, found = self._checks, ["cast(null as bigint)", "0", "0"]
        if checks:
            is_open, spared = checks.is_open("text"), checks.spared("text")
            found = [FIRST_LINES, f"cast({is_open} as int)", f"coalesce({spared}, 0)"]
        try:
            rows = (
                read_files(self._spark.read, "binaryFile", files)
                .selectExpr("*", "cast(content as string) as text")
                .selectExpr("*", f"substring(content, 1, {HEAD_BYTES}) as head")
                .selectExpr("*", f"{FIRST_LINE} as first_line")
                .selectExpr("path", "length", "sha2(content, 256)", "head", *found)
                .collect()
            )
            return {
                by_whole[path].path: Content(checksum, bytes(head), None, length, *counts)
                for path, length, checksum, head, *counts in rows
                if by_whole[path].size == length
            }
        except (Py4JJavaError, PySparkException):
            return {}  # one of them cannot be read: the caller tries each separately

    def _with_lines(
        self, contents: dict[str, Content], files: Sequence[SourceFile], closely: Collection[str]
    ) -> dict[str, Content]:
        """Count the lines that equal a first line, in large or compressed files.

        Open quotes are counted only if the first bytes have one: to look at the quotes of each line takes
        longer than all the rest, and reading finds them, too.

        For compressed files, also add up the sizes of all lines. Hadoop's reader skips a line that is longer
        than its limit, so bytes are missing in the sum.
        """
        sound = [file for file in files if contents[file.path].error is None]
        kinds: dict[tuple[bool, bool], list[SourceFile]] = {}
        for file in sound:
            quotes = file.path in closely or self._looks_at_quotes(contents[file.path].head)
            kinds.setdefault((self.streams.unpacks(file), quotes), []).append(file)
        for (is_packed, quotes), some in kinds.items():
            contents = contents | self._counted(contents, some, is_packed=is_packed, quotes=quotes)
        return contents

    def _looks_at_quotes(self, head: bytes) -> bool:
        """Return whether to count open quotes: the lines of the first bytes say whether it is likely."""
        if self._checks is None or not self._checks.can_wait:
            return True
        lines = head.decode("utf-8-sig", "replace")
        end = max(lines.rfind("\n"), lines.rfind("\r")) + 1  # the last line may be cut
        return not self._jvm.java.util.regex.Pattern.matches(self._checks.grammar.closed_lines(), lines[:end])

    def _counted(
        self, contents: dict[str, Content], files: Sequence[SourceFile], *, is_packed: bool, quotes: bool
    ) -> dict[str, Content]:
        first_lines = {first_line(contents[file.path].head) for file in files if self._checks}
        if not first_lines and not is_packed:
            return {}
        try:
            longest = MAX_LINE_BYTES if is_packed else None
            checks = self._checks and replace(self._checks, quotes=quotes)
            found = count_lines(self._spark, files, first_lines, checks, longest=longest)
        except (Py4JJavaError, PySparkException) as error:
            if len(files) == 1:
                return {files[0].path: Content(error=in_plain_words(innermost(error)))}
            each = (self._counted(contents, [file], is_packed=is_packed, quotes=quotes) for file in files)
            return {path: content for one in each for path, content in one.items()}
        counted = {}
        for file in files:
            content = contents[file.path]
            counts = next((found[uri] for uri in spellings(file.uri) if uri in found), LineCounts())
            if is_packed and content.size - counts.size > MARK_BYTES:
                counted[file.path] = Content(content.checksum, error=TOO_LONG)
            else:
                known = self._with_counts(content, counts, file)
                counted[file.path] = known if quotes else replace(known, open_lines=None)
        return counted

    def _with_counts(self, content: Content, counts: LineCounts, file: SourceFile) -> Content:
        is_odd = (
            self._checks is not None
            and counts.open_lines > 0
            and content.size > WHOLE_BYTES
            and quotes_are_odd(self._spark, file, self._checks.grammar.quote)
        )
        return replace(
            content,
            first_lines=counts.first_lines,
            open_lines=counts.open_lines,
            spared=counts.spared,
            has_odd_quotes=is_odd,
        )
