"""Archive the classes that a run loads, so that the JVM maps them instead of reading the jars (Java's CDS).

Run as `python -m python_ingest.class_archive` (`make classes` does): it lands a week of small files and builds
their models on a scratch lake, and the JVM writes `.jars/classes.jsa` when it ends. profiles.yml names the
file; a JVM that has no use for it, or other jars, starts without.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pyspark import SparkContext

from python_ingest import project, steps
from python_ingest.landing_steps import land
from python_ingest.session import warm_session

FEED = "user_events"


def main() -> None:
    """Run what every run does, and wait until the JVM has written the archive."""
    with tempfile.TemporaryDirectory(prefix="tidemark-classes-") as scratch:
        os.environ |= {"TIDEMARK_ARCHIVES_CLASSES": "1", "TIDEMARK_LAKE": str(Path(scratch) / "lake")}
        lakehouse = project.load()
        spark = warm_session(lakehouse.root)
        land(spark, lakehouse, [lakehouse.feeds[FEED]])
        steps.build(["--select", f"source:bronze.{FEED}+", "event_types", "--exclude-resource-type", "unit_test"])
        spark.stop()
        jvm = SparkContext._gateway.proc  # type: ignore[union-attr]
        jvm.stdin.close()
        jvm.wait()


if __name__ == "__main__":
    main()
