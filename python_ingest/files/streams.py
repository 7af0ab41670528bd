"""Read the first bytes and the checksums of files as streams, decompressed, from any Hadoop file system."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from rich.filesize import decimal

from python_ingest.feeds.source_file import SourceFile
from python_ingest.files.content import GROWING, HEAD_BYTES, MAX_LINE_BYTES, TOO_LONG, Content
from python_ingest.files.failures import in_plain_words, innermost
from python_ingest.files.storage import hadoop_path
from tidemark.base.errors import PackedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SUFFIXES = (".gz", ".bz2", ".zst", ".deflate", ".snappy", ".lz4")


class Streams:
    """Reads files in this process.

    Args:
        spark: the session whose Hadoop configuration is used.
        max_bytes: how many bytes a file may unpack to.
        has_lines: whether the files are text that is read line by line.
    """

    def __init__(self, spark: SparkSession, max_bytes: int, *, has_lines: bool) -> None:
        jvm: Any = spark.sparkContext._jvm
        self._spark = spark
        self._jvm = jvm
        self._hadoop: Any = spark.sparkContext._jsc.hadoopConfiguration()
        self._codecs = jvm.org.apache.hadoop.io.compress.CompressionCodecFactory(self._hadoop)
        self._has_lines = has_lines
        self._max_bytes = max_bytes

    def unpacks(self, file: SourceFile) -> bool:
        """Return whether a file is decompressed, by the ending of its name, as Spark does."""
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

    def content(self, file: SourceFile) -> Content:
        """Return the checksum and the first bytes of a file, decompressed."""
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
