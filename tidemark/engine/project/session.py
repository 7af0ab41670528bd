"""The Spark session of a project: its settings are those of the target in profiles.yml."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from tidemark.engine.dbt_core.profiles import spark_settings
from tidemark.lake.delta_log import make_active
from tidemark.spark.session import open_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SWITCHED = ("spark.sql.defaultCatalog", "spark.sql.sources.default", "spark.sql.catalog.lakehouse")


_starting: list[Future[SparkSession]] = []


def start_session(root: Path, *, empty: bool = False, may_be_remote: bool = False) -> None:
    """Begin to start Spark, so that it starts while the project is parsed; `warm_session` waits for it.

    Args:
        root: the project's folder, which must be the current one.
        empty: whether to delete the lake's content first.
        may_be_remote: whether the caller needs no JVM.

    Raises:
        TidemarkError: if the target's Spark is not embedded.
    """
    settings = spark_settings(root, may_be_remote=may_be_remote)
    started: Future[SparkSession] = Future()

    def start() -> None:
        try:
            started.set_result(open_session(settings, root, empty=empty))
        except BaseException as error:
            started.set_exception(error)

    _starting[:] = [started]
    Thread(target=start, name="spark").start()


def warm_session(root: Path, *, empty: bool = False, may_be_remote: bool = False) -> SparkSession:
    """Lock the lake and return the Spark session that dbt will also use; `start_session` may have begun it.

    Args:
        root: the project's folder, which must be the current one.
        empty: whether to delete the lake's content first.
        may_be_remote: whether the caller needs no JVM.

    Raises:
        LakeBusyError: if another process holds the lake.
        TidemarkError: if the target's Spark is not embedded, or its jars are missing.
    """
    if _starting:
        session = _starting.pop().result()
        make_active(session)  # it is active in the thread that has started it
        return session
    return open_session(spark_settings(root, may_be_remote=may_be_remote), root, empty=empty)


def retarget(spark: SparkSession, root: Path) -> None:
    """Switch a running session to the profile's target that DBT_TARGET names.

    Args:
        spark: the session.
        root: the project's folder.
    """
    for name, value in spark_settings(root).items():
        if name.startswith(SWITCHED):
            spark.conf.set(name, value)
