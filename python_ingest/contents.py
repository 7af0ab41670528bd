"""What files begin with, and their checksums: read before a batch is planned."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as f
from rich.filesize import decimal

from python_ingest.failures import innermost
from python_ingest.paths import spellings
from python_ingest.storage import SourceFile, hadoop_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HEAD_BYTES = 65_536
CHUNK = 5_000  # files whose heads are collected at once
STREAMS = 8
SUFFIXES = (".gz", ".bz2", ".zst", ".deflate", ".snappy", ".lz4")
FIRST_LINE = (
    "regexp_replace(split_part(translate(cast(head as string), '\\r', '\\n'), '\\n', 1), '^\ufeff', '')"
)
FIRST_LINES = (
    "try_divide(octet_length(content) - octet_length(replace(cast(content as string), first_line, '')), "
    "octet_length(first_line))"
)
GROWING = "still being written"
LINE_LIMIT = "mapreduce.input.linerecordreader.line.maxlength"
MAX_LINE_BYTES = 64 * 2**20
MARK_BYTES = 3  # of a byte order mark, which Hadoop's reader leaves out
SMALL_BYTES = 16 * 2**20  # a file up to this size is read by a Spark task as one value


@dataclass(frozen=True)
class Content:
    """What was read of a file.

    Attributes:
        checksum: SHA-256 of its bytes, in hexadecimal.
        head: the first bytes, decompressed.
        error: why it cannot be read.
        size: its bytes, decompressed.
        first_lines: how often the text of its first line occurs in it; None where that was not counted.
    """

    checksum: str | None = None
    head: bytes = b""
    error: str | None = None
    size: int = 0
    first_lines: int | None = None


def first_line(head: bytes) -> str:
    """Return the first line of a text in UTF-8, without its byte order mark."""
    return re.split("\r\n|\n|\r", head.decode("utf-8-sig", "replace"), maxsplit=1)[0]


class Contents:
    """Reads files of any Hadoop file system.

    Args:
        spark: the session whose Hadoop configuration is used.
        has_lines: whether the files are text that is read by lines.
        max_bytes: to how many bytes a compressed file may unpack.
    """

    def __init__(self, spark: SparkSession, *, has_lines: bool, max_bytes: int) -> None:
        jvm: Any = spark.sparkContext._jvm
        self._spark = spark
        self._jvm = jvm
        self._hadoop: Any = spark.sparkContext._jsc.hadoopConfiguration()
        self._codecs = jvm.org.apache.hadoop.io.compress.CompressionCodecFactory(self._hadoop)
        self._has_lines = has_lines
        self._max_bytes = max_bytes

    def read(self, files: Sequence[SourceFile]) -> dict[str, Content]:
        """Read each file's checksum and its first bytes, decompressed.

        Small files are read by Spark's tasks, many at a time; the others as streams, side by side.
        """
        small = [file for file in files if file.size <= SMALL_BYTES and self._codec(file) is None]
        found: dict[str, Content] = {}
        for start in range(0, len(small), CHUNK):
            found |= self._small_contents(small[start : start + CHUNK])
        others = [file for file in files if file.path not in found]
        with ThreadPoolExecutor(STREAMS) as pool:
            read = dict(zip((file.path for file in others), pool.map(self._content, others), strict=True))
        return found | (self._with_lines(read, others) if self._has_lines else read)

    def _small_contents(self, files: Sequence[SourceFile]) -> dict[str, Content]:
        """Return the contents of those files that could be read and have the size that was listed."""
        by_whole = {file.whole: file for file in files}
        first_lines = FIRST_LINES if self._has_lines else "cast(null as bigint)"
        try:
            rows = (
                self._spark.read.format("binaryFile")
                .load([file.glob for file in files])
                .selectExpr("*", f"substring(content, 1, {HEAD_BYTES}) as head")
                .selectExpr("*", f"{FIRST_LINE} as first_line")
                .selectExpr("path", "length", "sha2(content, 256)", "head", first_lines)
                .collect()
            )
            return {
                by_whole[path].path: Content(checksum, bytes(head), size=length, first_lines=number)
                for path, length, checksum, head, number in rows
                if by_whole[path].size == length
            }
        except (Py4JJavaError, PySparkException):
            return {}  # one of them cannot be read: each is tried alone

    def _with_lines(self, contents: dict[str, Content], files: Sequence[SourceFile]) -> dict[str, Content]:
        """Count, in large or compressed files, lines that are like a first one; refuse gigantic ones.

        Hadoop's reader passes over a line that is longer than its limit: then bytes are missing in the sum.
        """
        sound = [file for file in files if contents[file.path].error is None]
        if not sound:
            return contents
        try:
            found = self._counted_lines(sound, {first_line(contents[file.path].head) for file in sound})
        except (Py4JJavaError, PySparkException) as error:
            if len(sound) == 1:
                return contents | {sound[0].path: Content(error=innermost(error))}
            for file in sound:  # one went away or is broken: each is tried alone
                contents = contents | self._with_lines(contents, [file])
            return contents
        counted = {}
        for file in sound:
            content = contents[file.path]
            rows = (found[uri] for uri in spellings(file.uri) if uri in found)
            size, likes, has_other_ends = next(rows, (0, 0, False))
            if content.size - size > MARK_BYTES:
                too_long = f"a line is longer than {decimal(MAX_LINE_BYTES)}"
                counted[file.path] = Content(content.checksum, error=too_long)
            else:
                counted[file.path] = replace(content, first_lines=None if has_other_ends else likes)
        return contents | counted

    def _counted_lines(
        self, files: Sequence[SourceFile], first_lines: set[str]
    ) -> dict[str, tuple[Any, ...]]:
        """Return by URI: bytes read, lines like a first one, whether lines end in a carriage return alone."""
        line = f.col("value")
        end = f.locate("\r", line)
        counted = (
            self._spark.read.option("lineSep", "\n")
            .option(LINE_LIMIT, MAX_LINE_BYTES)
            .text([file.glob for file in files])
            .groupBy("_metadata.file_path")
            .agg(
                f.count("*") + f.sum(f.octet_length(line)),
                f.count_if(line.isin(*first_lines, *(f"{first}\r" for first in first_lines))),
                f.bool_or((end > 0) & (end < f.char_length(line))),
            )
        )
        return {row[0]: tuple(row[1:]) for row in counted.collect()}

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
            if size is not None and size > self._max_bytes:
                return Content(str(checksum), error=f"it unpacks to more than {decimal(self._max_bytes)}")
            return Content(str(checksum), head, size=file.size if size is None else size)
        except (Py4JJavaError, PySparkException) as error:
            return Content(error=innermost(error))

    def _unpacked(self, stream: Any, codec: Any) -> tuple[bytes, int | None]:
        """Return the first bytes, and of a compressed file, how many there are."""
        io = self._jvm.org.apache.commons.io.IOUtils
        plain = codec.createInputStream(stream) if codec else stream
        head = bytes(io.toByteArray(self._bounded(plain, HEAD_BYTES)))
        return head, len(head) + io.consume(self._bounded(plain, self._max_bytes)) if codec else None

    def _bounded(self, stream: Any, size: int) -> Any:
        return self._jvm.org.apache.commons.io.input.BoundedInputStream(stream, size)

    def _codec(self, file: SourceFile) -> Any:
        """Return the compression that Hadoop reads from the end of the name, or None."""
        if not file.path.endswith(SUFFIXES):
            return None
        return self._codecs.getCodec(hadoop_path(self._spark, file))
