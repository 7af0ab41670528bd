"""Cut the log of a Delta table off before its present version."""

from __future__ import annotations

import re

from tidemark.lake.delta_log import DeltaLog
from tidemark.lake.jvm import java_class

NUMBERED = re.compile(r"(\d{20})\.")


class DeltaCut(DeltaLog):
    """The log of one Delta table, to be cut off. Only its present version can be read afterwards.

    Delta's own cleaning of logs keeps those of the present day.
    """

    def cut(self) -> int:
        """Write a checkpoint of the present version, then delete the files of earlier ones, the oldest first.

        At each moment, the files that are left are a log that Delta can read.

        Returns:
            The number of deleted files.
        """
        present = self.version
        folder = self._log.logPath()
        system = folder.getFileSystem(self._conf)
        self._log.checkpoint(self._snapshot, self._option.empty())
        paths = {status.getPath().getName(): status.getPath() for status in system.listStatus(folder)}
        numbers = {name: int(found[1]) for name in paths if (found := NUMBERED.match(name))}
        old = sorted(name for name, number in numbers.items() if number < present)
        if old and f"{present:020}.json" not in paths:
            raise FileNotFoundError(f"{folder} has no commit of version {present}")
        for name in old:
            system.delete(paths[name], False)
        # a snapshot that this process has may still name the deleted files
        logs = java_class(self._spark, "org.apache.spark.sql.delta.DeltaLog")
        logs.invalidateCache(self._spark._jsparkSession, self._log.dataPath())
        return len(old)
