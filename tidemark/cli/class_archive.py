"""Archive the classes that a run loads, so that the JVM maps them instead of reading the jars.

This is Java's class data sharing. `make classes` runs `python -m tidemark.cli.class_archive`. It
lands a week of small files and builds their models on a scratch lake. When the JVM ends, it writes
`.jars/classes.jsa`. The session's settings use this file (tidemark/spark/spark.yml). A JVM of another
version, or with other jars, ignores it.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from pyspark import SparkContext

from tidemark.base.errors import TidemarkError
from tidemark.cli.build import DATA_ONLY, build_models
from tidemark.cli.landing import land
from tidemark.engine.project.session import warm_session
from tidemark.project_with_feeds import ProjectWithFeeds

FEED = "user_events"


def main() -> None:
    """Run the steps of a usual run, and wait until the JVM has written the archive."""
    with tempfile.TemporaryDirectory(prefix="tidemark-classes-") as scratch:
        folder = Path(scratch)
        os.environ |= {"TIDEMARK_ARCHIVES_CLASSES": "1", "TIDEMARK_LAKE": str(folder / "lake")}
        os.environ |= {"DBT_TARGET_PATH": str(folder / "target"), "DBT_LOG_PATH": str(folder / "logs")}
        lakehouse = ProjectWithFeeds.load()
        spark = warm_session(lakehouse.root)
        with suppress(TidemarkError, KeyError):  # without this feed most classes are still loaded
            land(spark, lakehouse, [lakehouse.feeds[FEED]])
            build_models([*DATA_ONLY, "--select", f"source:bronze.{FEED}+", "event_types"])
        spark.stop()
        jvm = SparkContext._gateway.proc  # type: ignore[union-attr]
        jvm.stdin.close()
        jvm.wait()


if __name__ == "__main__":
    main()
