"""The checkpoint of a stream, in the folder of its bronze table, under the table's id.

It is deleted together with the table.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from python_ingest.bronze.table import BronzeTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = "_checkpoints"  # Delta ignores names that begin with `_`


class Checkpoint:
    """The checkpoints of one bronze table; the one with the highest number is current.

    Args:
        spark: the session.
        bronze: the table.
    """

    def __init__(self, spark: SparkSession, bronze: BronzeTable) -> None:
        jvm: Any = spark.sparkContext._jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        self._root = self._path(bronze.location(), f"{FOLDER}/{bronze.identity()}")
        self._system = self._root.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())

    def current(self, last_batch: int) -> tuple[int, str]:
        """Return the last batch before the checkpoint, and its folder.

        Iceberg's `remove_orphan_files` deletes the files of a checkpoint and leaves its folders. The stream
        would number its batches from the first on, and they would count as landed. So a new checkpoint takes
        the place of one that does not have the last batch.

        Args:
            last_batch: the highest batch, in bronze or recorded; the number of a new checkpoint.
        """
        found = self._numbers()
        number = max(found) if found else last_batch
        if last_batch > number and not self._has(number, last_batch - number - 1):
            self.begin_anew(last_batch)
            number = last_batch
        return number, str(self._path(self._root, f"after-{number}").toString())

    def begin_anew(self, last_batch: int) -> None:
        """Make a new checkpoint the current one."""
        folder = self._path(self._root, f"after-{last_batch}")
        self._system.delete(folder, True)  # it has no batches
        self._system.mkdirs(folder)

    def _has(self, number: int, epoch: int) -> bool:
        """Return whether a checkpoint has the offsets of an epoch, which Spark writes before the batch."""
        return bool(self._system.exists(self._path(self._root, f"after-{number}/offsets/{epoch}")))

    def _numbers(self) -> list[int]:
        if not self._system.exists(self._root):
            return []
        names = [status.getPath().getName() for status in self._system.listStatus(self._root)]
        return [int(found[1]) for name in names if (found := re.fullmatch(r"after-(\d+)", name))]
