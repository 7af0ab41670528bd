"""Archive the classes that a run loads, so that the JVM maps them instead of reading the jars.

This is Java's class data sharing. `make classes` runs `python -m tidemark.cli.class_archive`: it lands a week
of small files and builds their models on a scratch lake. The first command that starts Spark runs it with
`--background FORMAT` (archive_once.py): then it knows nothing of the project, its profile and its catalog,
and writes and reads a table. When the JVM ends, it writes the archive, which becomes `.jars/classes.jsa`. The
session's settings use this file (tidemark/spark/spark.yml). A JVM of another version, or with other jars,
ignores it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark import SparkContext

from tidemark.base.errors import TidemarkError
from tidemark.cli.archive_once import BACKGROUND, MAKING
from tidemark.cli.build import DATA_ONLY, build_models
from tidemark.cli.landing import land
from tidemark.engine.project.session import warm_session
from tidemark.lake.table_format import table_format
from tidemark.project_with_feeds import ProjectWithFeeds
from tidemark.spark.jars import ARCHIVE, FOLDER
from tidemark.spark.session import open_session
from tidemark.spark.settings import embedded_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEED = "user_events"
WRITTEN = f"{FOLDER}/classes.new"  # by the JVM: tidemark/spark/spark.yml


def main() -> None:
    """Run the steps of a usual run, and wait until the JVM has written the archive."""
    with tempfile.TemporaryDirectory(prefix="tidemark-classes-") as scratch:
        folder = Path(scratch)
        os.environ |= {"TIDEMARK_ARCHIVES_CLASSES": "1", "TIDEMARK_LAKE": str(folder / "lake")}
        os.environ |= {"DBT_TARGET_PATH": str(folder / "target"), "DBT_LOG_PATH": str(folder / "logs")}
        if sys.argv[1:2] == [BACKGROUND]:
            os.nice(19)
            spark = open_session(embedded_settings(sys.argv[2]), Path.cwd())
            exercise(spark, folder)
        else:
            lakehouse = ProjectWithFeeds.load()
            spark = warm_session(lakehouse.root)
            with suppress(TidemarkError, KeyError):  # without this feed most classes are still loaded
                land(spark, lakehouse, [lakehouse.feeds[FEED]])
                build_models([*DATA_ONLY, "--select", f"source:bronze.{FEED}+", "event_types"])
        spark.stop()
        jvm = SparkContext._gateway.proc  # type: ignore[union-attr]
        jvm.stdin.close()
        if jvm.wait() == 0 and Path(WRITTEN).exists():
            Path(WRITTEN).replace(Path(FOLDER) / ARCHIVE)
            (Path(FOLDER) / MAKING).unlink(missing_ok=True)


def exercise(spark: SparkSession, folder: Path) -> None:
    """Read files, and write, change and read a table, as runs of any project do.

    Args:
        spark: a session on an empty lake.
        folder: where files may be written.
    """
    rows = "select id, id % 7 as day, cast(id as decimal(10, 2)) as amount, cast(id as string) as name"
    for kind in ("csv", "json"):
        files = str(folder / kind)
        spark.sql(f"{rows} from range(1000)").write.format(kind).save(files)
        spark.read.format(kind).schema("id bigint, day bigint, amount decimal(10, 2), name string").load(
            files
        ).createOrReplaceTempView(kind)
    table = "exercise.numbers"
    spark.sql("create schema if not exists exercise")
    spark.sql(f"create table {table} using {table_format(spark)} as select * from csv")
    spark.sql(
        f"merge into {table} as t using (select id + 100 as id, day, amount, name from json) as s "
        "on t.id = s.id "
        "when matched and s.day = 1 then update set * when not matched then insert *"
    )
    newest = f"select *, row_number() over (partition by day order by id desc) as place from {table}"
    spark.sql(
        f"select a.day, count(*), sum(b.amount), max(a.place) from ({newest}) as a "
        f"left join {table} as b on a.id = b.id group by a.day order by a.day"
    ).collect()


if __name__ == "__main__":
    main()
