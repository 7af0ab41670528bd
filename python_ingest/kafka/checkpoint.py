"""The checkpoint of a stream, in the folder of its bronze table, under the table's id.

It is deleted together with the table.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from python_ingest.bronze.table import BronzeTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = "_checkpoints"  # Delta ignores names that begin with `_`
BEGUN = "begun"


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
        number = max(self._numbers(), default=last_batch)
        if last_batch > number and last_batch - number - 1 not in self._epochs(number, "offsets"):
            number = self.begin_anew(last_batch)
        return number, str(self._path(self._root, f"after-{number}").toString())

    def begin_anew(self, last_batch: int) -> int:
        """Make a new checkpoint the current one; return its number, which is higher if one of a replay is.

        A folder of this number has no landed batches: they would be higher.
        """
        number = max([last_batch, *self._numbers()])
        folder = self._path(self._root, f"after-{number}")
        self._system.delete(folder, True)
        self._system.mkdirs(folder)
        self._system.create(self._path(folder, BEGUN)).close()  # object stores keep no empty folders
        return number

    def highest_batch(self) -> int:
        """Return the highest number that a batch of the current checkpoint may have, with rows or without."""
        number = max(self._numbers(), default=0)
        return max([number, *(number + 1 + epoch for epoch in self._epochs(number, "offsets"))])

    def passed(self, topic: str, last_batch: int) -> dict[str, int]:
        """Return the offsets that the current checkpoint has passed, by partition; empty if it has none.

        It knows partitions without rows, and the places of transactions behind the last row.

        Args:
            topic: the topic.
            last_batch: the highest batch, in bronze or recorded.
        """
        number = max(self._numbers(), default=0)
        begun = self._epochs(number, "offsets")
        epochs = [last_batch - number - 1, *self._epochs(number, "commits")]
        last = max((epoch for epoch in epochs if epoch in begun), default=None)
        if last is None:
            return {}
        place = self._path(self._root, f"after-{number}/offsets/{last}")
        stream = self._system.open(place)
        try:
            text = bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()
        found: dict[str, dict[str, int]] = json.loads(text.splitlines()[-1])
        return found.get(topic, {})

    def _epochs(self, number: int, log: str) -> list[int]:
        """Return the epochs in a log of a checkpoint."""
        folder = self._path(self._root, f"after-{number}/{log}")
        if not self._system.exists(folder):
            return []
        names = [str(status.getPath().getName()) for status in self._system.listStatus(folder)]
        return [int(name) for name in names if name.isdigit()]

    def _numbers(self) -> list[int]:
        if not self._system.exists(self._root):
            return []
        names = [status.getPath().getName() for status in self._system.listStatus(self._root)]
        return [int(found[1]) for name in names if (found := re.fullmatch(r"after-(\d+)", name))]
