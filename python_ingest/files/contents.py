"""Read the first bytes and the checksums of files before a batch is planned."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from rich.filesize import decimal

from python_ingest.feeds.external_files import AnyFiles
from python_ingest.feeds.paths import spellings
from python_ingest.feeds.source_file import SourceFile
from python_ingest.files.failures import in_plain_words, innermost
from python_ingest.files.storage import hadoop_path, read_files
from python_ingest.files.text_checks import LineCounts, TextChecks, count_lines, quotes_are_odd
from tidemark.base.errors import PackedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from python_ingest.files.parts import Part

HEAD_BYTES = 65_536
CHUNK = 5_000  # files whose heads are collected at once
STREAMS = 8
SUFFIXES = (".gz", ".bz2", ".zst", ".deflate", ".snappy", ".lz4")
FIRST_LINE = (
    "regexp_replace(substring_index(substring_index(cast(head as string), "
    "'\\n', 1), '\\r', 1), '^\ufeff', '')"
)
FIRST_LINES = (
    "try_divide(octet_length(content) - octet_length(replace(text, first_line, '')), "
    "octet_length(first_line))"
)
GROWING = "still being written"
MAX_LINE_BYTES = 32 * 2**20
TOO_LONG = "it has a line of more than 32 MiB"
MARK_BYTES = 3  # of a byte order mark, which Hadoop's reader skips
SMALL_BYTES = 16 * 2**20  # a Spark task reads a file up to this size as one value
WHOLE_BYTES = 64 * 2**20  # the same for the text of a CSV file, if some record of it is not one line


@dataclass(frozen=True)
class Content:
    """What was read from a file.

    Attributes:
        checksum: SHA-256 of its bytes, in hexadecimal.
        head: the first bytes, decompressed.
        error: why it cannot be read.
        size: its size in bytes, decompressed.
        first_lines: how many lines of the file equal its first line; None if they were not counted.
        open_lines: how many lines have a quoted field that they do not close; at most 1 for small files.
        spared: how many bytes a text has beyond its characters; 0 if it is not UTF-8, or declared as UTF-8.
        has_odd_quotes: True if a large file with open lines has an odd number of quotes.
        parts: the files that were unpacked from it, which are read in its place; empty if it is read itself.
    """

    checksum: str | None = None
    head: bytes = b""
    error: str | None = None
    size: int = 0
    first_lines: int | None = None
    open_lines: int = 0
    spared: int = 0
    has_odd_quotes: bool = False
    parts: tuple[Part, ...] = ()


def first_line(head: bytes) -> str:
    """Return the first line of a text in UTF-8, without its byte order mark."""
    return re.split("\r\n|\n|\r", head.decode("utf-8-sig", "replace"), maxsplit=1)[0]


class Contents:
    """Reads files from any Hadoop file system.

    Args:
        spark: the session whose Hadoop configuration is used.
        external: the block of the feed.
        has_lines: whether the files are text that is read line by line.
    """

    def __init__(self, spark: SparkSession, external: AnyFiles, *, has_lines: bool) -> None:
        jvm: Any = spark.sparkContext._jvm
        self._spark = spark
        self._jvm = jvm
        self._hadoop: Any = spark.sparkContext._jsc.hadoopConfiguration()
        self._codecs = jvm.org.apache.hadoop.io.compress.CompressionCodecFactory(self._hadoop)
        self._has_lines = has_lines
        self._checks = TextChecks.of(external)
        self._max_bytes = external.max_bytes

    def read(self, files: Sequence[SourceFile]) -> dict[str, Content]:
        """Read the checksum and the first bytes of each file, decompressed.

        Spark tasks read small files, many at a time. The other files are read as parallel streams.
        """
        small = [file for file in files if file.size <= SMALL_BYTES and self._codec(file) is None]
        found: dict[str, Content] = {}
        for start in range(0, len(small), CHUNK):
            found |= self._small_contents(small[start : start + CHUNK])
        others = [file for file in files if file.path not in found]
        read = self._streamed(others)
        return found | (self._with_lines(read, others) if self._has_lines else read)

    def is_compressed(self, file: SourceFile) -> bool:
        """Return whether Spark decompresses a file, by the ending of its name."""
        return self._codec(file) is not None

    def decompress(self, file: SourceFile, target: Path) -> None:
        """Write the decompressed bytes of a file to a local one.

        Raises:
            PackedError: if they are more than `max_bytes`.
        """
        path = hadoop_path(self._spark, file)
        with closing(path.getFileSystem(self._hadoop).open(path)) as stream:
            plain = self._bounded(self._codec(file).createInputStream(stream), self._max_bytes + 1)
            self._jvm.org.apache.commons.io.FileUtils.copyToFile(plain, self._jvm.java.io.File(str(target)))
        if target.stat().st_size > self._max_bytes:
            raise PackedError(f"it unpacks to more than {decimal(self._max_bytes)}")

    def _streamed(self, files: Sequence[SourceFile]) -> dict[str, Content]:
        with ThreadPoolExecutor(STREAMS) as pool:
            return dict(zip((file.path for file in files), pool.map(self._content, files), strict=True))

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

    def _with_lines(self, contents: dict[str, Content], files: Sequence[SourceFile]) -> dict[str, Content]:
        """Count the lines that equal a first line, in large or compressed files.

        For compressed files, also add up the sizes of all lines. Hadoop's reader skips a line that is longer
        than its limit, so bytes are missing in the sum.
        """
        sound = [file for file in files if contents[file.path].error is None]
        for is_packed in (False, True):
            some = [file for file in sound if (self._codec(file) is not None) == is_packed]
            if some:
                contents = contents | self._counted(contents, some, is_packed=is_packed)
        return contents

    def _counted(
        self, contents: dict[str, Content], files: Sequence[SourceFile], *, is_packed: bool
    ) -> dict[str, Content]:
        first_lines = {first_line(contents[file.path].head) for file in files if self._checks}
        if not first_lines and not is_packed:
            return {}
        try:
            longest = MAX_LINE_BYTES if is_packed else None
            found = count_lines(self._spark, files, first_lines, self._checks, longest=longest)
        except (Py4JJavaError, PySparkException) as error:
            if len(files) == 1:
                return {files[0].path: Content(error=in_plain_words(innermost(error)))}
            each = (self._counted(contents, [file], is_packed=is_packed) for file in files)
            return {path: content for one in each for path, content in one.items()}
        counted = {}
        for file in files:
            content = contents[file.path]
            counts = next((found[uri] for uri in spellings(file.uri) if uri in found), LineCounts())
            if is_packed and content.size - counts.size > MARK_BYTES:
                counted[file.path] = Content(content.checksum, error=TOO_LONG)
            else:
                counted[file.path] = self._with_counts(content, counts, file)
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

    def _content(self, file: SourceFile) -> Content:
        try:
            path = hadoop_path(self._spark, file)
            file_system = path.getFileSystem(self._hadoop)
            if file_system.getFileStatus(path).getLen() != file.size:
                return Content(error=GROWING)
            with closing(file_system.open(path)) as stream:
                checksum = self._jvm.org.apache.commons.codec.digest.DigestUtils.sha256Hex(stream)
            with closing(file_system.open(path)) as stream:
                head, size = self._unpacked(stream, self._codec(file))
                if size is None and self._has_lines and self._lacks_line_ends(stream, file.size):
                    return Content(str(checksum), error=TOO_LONG)
            if size is not None and size > self._max_bytes:
                return Content(str(checksum), error=f"it unpacks to more than {decimal(self._max_bytes)}")
            return Content(str(checksum), head, size=file.size if size is None else size)
        except (Py4JJavaError, PySparkException) as error:
            return Content(error=in_plain_words(innermost(error)))

    def _unpacked(self, stream: Any, codec: Any) -> tuple[bytes, int | None]:
        """Return the first bytes and, for a compressed file, the decompressed size."""
        plain = codec.createInputStream(stream) if codec else stream
        head = self._bytes(plain, HEAD_BYTES)
        if not codec:
            return head, None
        rest = self._bounded(plain, self._max_bytes)
        return head, len(head) + self._jvm.org.apache.commons.io.IOUtils.consume(rest)

    def _lacks_line_ends(self, stream: Any, size: int) -> bool:
        """Return whether a file has a window of `MAX_LINE_BYTES` without a line end.

        A line of twice that length contains such a window. The search reads only some bytes of each window.
        """
        for window in range(0, size - MAX_LINE_BYTES + 1, MAX_LINE_BYTES):
            for start in range(window, window + MAX_LINE_BYTES, HEAD_BYTES):
                stream.seek(start)
                length = min(HEAD_BYTES, window + MAX_LINE_BYTES - start)
                some = self._bytes(stream, length)
                if b"\n" in some or b"\r" in some:
                    break
            else:
                return True
        return False

    def _bytes(self, stream: Any, size: int) -> bytes:
        """Read this number of bytes, or fewer if the stream ends."""
        return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(self._bounded(stream, size)))

    def _bounded(self, stream: Any, size: int) -> Any:
        return self._jvm.org.apache.commons.io.input.BoundedInputStream(stream, size)

    def _codec(self, file: SourceFile) -> Any:
        """Return the compression that the file name's suffix indicates, or None."""
        if not file.path.endswith(SUFFIXES):
            return None
        return self._codecs.getCodec(hadoop_path(self._spark, file))
