"""Files of a feed, listed and read through Hadoop's file system API: local, HDFS, object stores."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

from python_ingest.declarations import Feed
from python_ingest.errors import LandingError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HEADER_BYTES = 65_536


@dataclass(frozen=True)
class SourceFile:
    """A file as it is listed.

    Attributes:
        path: relative to the feed's location, `/` between folders.
        uri: the whole path, encoded as Spark shows it in `_metadata.file_path`.
        glob: the whole path, escaped as Spark's readers want it: they expand `*`, `[` and the like.
        size: bytes.
        modified_at: UTC, milliseconds.
    """

    path: str
    uri: str
    glob: str
    size: int
    modified_at: datetime


class Storage:
    """Read access to the location of one feed.

    Args:
        spark: the session whose Hadoop configuration is used.
        feed: the feed.
    """

    def __init__(self, spark: SparkSession, feed: Feed) -> None:
        jvm: Any = spark.sparkContext._jvm
        self._jvm = jvm
        self._feed = feed
        root = jvm.org.apache.hadoop.fs.Path(feed.external.location)
        self._fs = root.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
        self._root = self._fs.makeQualified(root)

    def files(self) -> list[SourceFile]:
        """List the feed's files in the order of their paths; hidden names are passed over.

        Raises:
            LandingError: when the location does not exist or is not a folder.
        """
        location = self._feed.external.location
        if not self._fs.exists(self._root):
            raise LandingError(
                f"Feed '{self._feed.name}': its location {location} does not exist.",
                f"Create the folder, or mend external.location in {self._feed.declared_in}.",
            )
        if not self._fs.getFileStatus(self._root).isDirectory():
            raise LandingError(
                f"Feed '{self._feed.name}': its location {location} is a file, not a folder.",
                f"Name the folder in {self._feed.declared_in}; choose files by `pattern`.",
            )
        return sorted(self._walk(), key=lambda file: file.path)

    def checksum(self, file: SourceFile) -> str:
        """Return the SHA-256 of the file's bytes, in hexadecimal; read as a stream."""
        stream = self._open(file)
        try:
            return str(self._jvm.org.apache.commons.codec.digest.DigestUtils.sha256Hex(stream))
        finally:
            stream.close()

    def head(self, file: SourceFile, size: int = HEADER_BYTES) -> bytes:
        """Return at most the first `size` bytes of the file."""
        stream = self._open(file)
        try:
            bounded = self._jvm.org.apache.commons.io.input.BoundedInputStream(stream, size)
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(bounded))
        finally:
            stream.close()

    def _open(self, file: SourceFile) -> Any:
        return self._fs.open(self._jvm.org.apache.hadoop.fs.Path(self._jvm.java.net.URI(file.uri)))

    def _walk(self) -> Iterator[SourceFile]:
        prefix = self._root.toUri().getPath().rstrip("/") + "/"
        found = self._fs.listFiles(self._root, True)
        while found.hasNext():
            status = found.next()
            path = status.getPath().toUri().getPath()[len(prefix) :]
            parts = path.split("/")
            if any(part.startswith((".", "_")) for part in parts):
                continue
            if fnmatch(parts[-1], self._feed.external.pattern):
                modified = datetime.fromtimestamp(status.getModificationTime() / 1000, timezone.utc)
                uri = str(status.getPath().toUri().toString())
                glob = re.sub(r"([\\*?\[\]{}])", r"\\\1", str(status.getPath().toString()))
                yield SourceFile(path, uri, glob, int(status.getLen()), modified)
