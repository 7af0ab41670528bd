"""The demo's lake in a file system with a URL, such as an object store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dev.demo.local_lake import MARK
from tidemark.base.errors import TidemarkError
from tidemark.lake.place import LAKE, lake_location

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class RemoteLake:
    """Copies raw files into the lake, and deletes a lake that the demo made.

    Args:
        spark: the session whose settings reach the file system.
    """

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark.sparkContext._jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        self._root = self._path(lake_location())
        self._system = self._root.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())

    def check(self) -> None:
        """Refuse a lake that the demo did not make, because the demo deletes all files there.

        Raises:
            TidemarkError: if the demo did not make the lake: it has files, and no mark.
        """
        is_ours = self._system.exists(self._path(self._root, MARK))
        if not is_ours and next(self._files(), None):
            raise TidemarkError(
                f"The lake {lake_location()} has files that the demo did not make and would delete.",
                f"Name another place in {LAKE}, or delete this one first.",
            )

    def clear(self) -> None:
        """Delete all files of the lake."""
        self._system.delete(self._root, True)
        self._system.mkdirs(self._root)
        self.mark()

    def copy(self, file: Path, folder: str) -> None:
        """Copy a local file into a folder of the lake."""
        to = self._path(self._path(self._root, folder), file.name)
        self._system.copyFromLocalFile(self._path(file.absolute().as_uri()), to)

    def make_folder(self, folder: str) -> None:
        """Make a folder of the lake."""
        self._system.mkdirs(self._path(self._root, folder))

    def mark(self) -> None:
        """Mark the lake as the demo's."""
        self._system.create(self._path(self._root, MARK), True).close()

    def _files(self) -> Iterator[Any]:
        if self._system.exists(self._root):
            found = self._system.listFiles(self._root, True)
            while found.hasNext():
                yield found.next()
