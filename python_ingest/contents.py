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
SMALL_BYTES = 16 * 2**20  # a file up to this size is read by a Spark task as one value


@dataclass(frozen=True)
class Content:
    """What was read of a file.

    Attributes:
        checksum: SHA-256 of its bytes, in hexadecimal.
        head: the first bytes, decompressed.
        error: why it cannot be read.
        first_lines: how often the text of its first line occurs in it; None where that was not counted.
    """

    checksum: str | None = None
    head: bytes = b""
    error: str | None = None
    first_lines: int | None = None


def first_line(head: bytes) -> str:
    """Return the first line of a text in UTF-8, without its byte order mark."""
    return re.split("\r\n|\n|\r", head.decode("utf-8-sig", "replace"), maxsplit=1)[0]


class Contents:
    """Reads files of any Hadoop file system.

    Args:
        spark: the session whose Hadoop configuration is used.
        counts_first_lines: whether `first_lines` is wanted.
    """

    def __init__(self, spark: SparkSession, *, counts_first_lines: bool) -> None:
        jvm: Any = spark.sparkContext._jvm
        self._spark = spark
        self._jvm = jvm
        self._hadoop: Any = spark.sparkContext._jsc.hadoopConfiguration()
        self._codecs = jvm.org.apache.hadoop.io.compress.CompressionCodecFactory(self._hadoop)
        self._counts_first_lines = counts_first_lines

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
        return found | self._with_first_lines(read, others)

    def _small_contents(self, files: Sequence[SourceFile]) -> dict[str, Content]:
        """Return the contents of those files that could be read and have the size that was listed."""
        by_whole = {file.whole: file for file in files}
        first_lines = FIRST_LINES if self._counts_first_lines else "cast(null as bigint)"
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
                by_whole[path].path: Content(checksum, bytes(head), first_lines=number)
                for path, length, checksum, head, number in rows
                if by_whole[path].size == length
            }
        except (Py4JJavaError, PySparkException):
            return {}  # one of them cannot be read: each is tried alone

    def _with_first_lines(
        self, contents: dict[str, Content], files: Sequence[SourceFile]
    ) -> dict[str, Content]:
        """Count the lines of large files that are like the first one of any of them."""
        plain = [file for file in files if self._codec(file) is None and contents[file.path].error is None]
        if not self._counts_first_lines or not plain:
            return contents
        lines = {first_line(contents[file.path].head) for file in plain}
        try:
            counted = (
                self._spark.read.text([file.glob for file in plain])
                .where(f.col("value").isin(*lines))
                .groupBy("_metadata.file_path")
                .count()
                .collect()
            )
        except (Py4JJavaError, PySparkException):
            return contents  # one went away meanwhile; not counted, they are read the slower way
        counts = {row[0]: row[1] for row in counted}
        for file in plain:
            number = next((counts[uri] for uri in spellings(file.uri) if uri in counts), 0)
            contents[file.path] = replace(contents[file.path], first_lines=number)
        return contents

    def _content(self, file: SourceFile) -> Content:
        try:
            path = hadoop_path(self._spark, file)
            file_system = path.getFileSystem(self._hadoop)
            if file_system.getFileStatus(path).getLen() != file.size:
                return Content(error=GROWING)
            with closing(file_system.open(path)) as stream:
                checksum = self._jvm.org.apache.commons.codec.digest.DigestUtils.sha256Hex(stream)
            with closing(file_system.open(path)) as stream:
                return Content(str(checksum), self._head(stream, self._codec(file)))
        except (Py4JJavaError, PySparkException) as error:
            return Content(error=innermost(error))

    def _head(self, stream: Any, codec: Any) -> bytes:
        plain = codec.createInputStream(stream) if codec else stream
        bounded = self._jvm.org.apache.commons.io.input.BoundedInputStream(plain, HEAD_BYTES)
        return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(bounded))

    def _codec(self, file: SourceFile) -> Any:
        """Return the compression that Hadoop reads from the end of the name, or None."""
        if not file.path.endswith(SUFFIXES):
            return None
        return self._codecs.getCodec(hadoop_path(self._spark, file))
