"""The Spark session of this process."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from tidemark.base.errors import TidemarkError
from tidemark.base.interrupts import on_interrupt
from tidemark.lake.lock import LOCK, hold
from tidemark.lake.place import lake_folder
from tidemark.spark.connect import REMOTE, connect_session
from tidemark.spark.hive_schema import prepare_catalog
from tidemark.spark.jars import check_jars

# Spark itself needs others, such as spark.authenticate.secret, when it starts
SECRET = re.compile(r"spark\.(hadoop|sql\.catalog)\..*(password|secret|token|credential)", re.IGNORECASE)

# settings for many queries of few rows
FEW_ROWS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
PLAIN = {
    **FEW_ROWS,
    "spark.ui.enabled": "false",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.ui.retainedJobs": "1",
    "spark.ui.retainedStages": "1",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",  # as in most warehouses, a comparison of text and numbers is no error
}


def open_session(settings: Mapping[str, str], root: Path, *, empty: bool = False) -> SparkSession:
    """Lock the lake and return the Spark session of this process, or one on the server that `settings` name.

    A session on a Spark Connect server has no lock: the server has the lake.

    Args:
        settings: Spark's settings.
        root: the project's folder, which must be the current one.
        empty: whether to delete the lake's content first.

    Raises:
        LakeBusyError: if another process holds the lake.
        TidemarkError: if the jars of Spark are missing.
    """
    if REMOTE in settings:
        return connect_session(settings)
    check_jars(settings, root)
    hold(lake_folder())
    prepare_catalog()
    logging.getLogger("SQLQueryContextLogger").disabled = True  # it also prints stack traces of queries
    logging.getLogger().addFilter(_is_no_trace_of_py4j)
    if empty:
        _empty(lake_folder())
    # Spark installs its own handler for Ctrl-C, which calls the JVM and waits
    with on_interrupt(signal.getsignal(signal.SIGINT)):
        return embedded_session(settings, root / "logs")


def _is_no_trace_of_py4j(record: logging.LogRecord) -> bool:
    """Filter out the stack trace that py4j logs when the JVM ends; the error itself is reported."""
    return not str(record.msg).startswith("Exception while sending command")


def embedded_session(settings: Mapping[str, str], logs: Path | None = None) -> SparkSession:
    """Return the session of this process; start Spark if it does not run.

    Secrets are set after the start: PySpark puts settings into the command line of the JVM, which all users
    of a machine see.

    Args:
        settings: Spark's settings.
        logs: the folder of spark.log, for what the JVM prints; None for this process's standard error.

    Raises:
        TidemarkError: if Java does not start.
    """
    if SparkContext._active_spark_context is None:
        hadoop = {name: value for name, value in settings.items() if SECRET.match(name)}
        given = {name: value for name, value in settings.items() if name not in hadoop}
        conf = SparkConf().setAll([*given.items(), ("spark.sql.catalogImplementation", "hive")])
        if logs is not None:
            _start_jvm(conf, logs)
        context: Any = SparkContext.getOrCreate(conf)
        for name, value in hadoop.items():
            context._jsc.hadoopConfiguration().set(name.removeprefix("spark.hadoop."), value)
    builder = SparkSession.builder.enableHiveSupport()
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def plain_session() -> SparkSession:
    """Return a session without a lake, for many queries of few rows; the one that runs, if there is one."""
    logging.getLogger("SQLQueryContextLogger").disabled = True  # it also prints stack traces of queries
    memory = os.environ.get("TIDEMARK_DRIVER_MEMORY") or "2g"
    conf = SparkConf().setMaster("local[1]").setAppName("tidemark").set("spark.driver.memory", memory)
    conf.setAll([*PLAIN.items()])
    with TemporaryDirectory() as logs, on_interrupt(signal.getsignal(signal.SIGINT)):
        _start_jvm(conf, Path(logs))
        return SparkSession.builder.config(conf=conf).getOrCreate()


def _empty(lake: Path) -> None:
    for entry in lake.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        elif entry.name != LOCK:
            entry.unlink()


def _start_jvm(conf: SparkConf, logs: Path) -> None:
    """Start the JVM if it does not run, and send what it prints on its standard error to logs/spark.log."""
    logs.mkdir(parents=True, exist_ok=True)
    if SparkContext._gateway is None:
        path = logs / "spark.log"
        with path.open("ab") as log:
            before = log.tell()
            try:
                gateway = launch_gateway(conf, {"stderr": log})  # type: ignore[no-untyped-call]
            except PySparkRuntimeError as error:
                raise _not_started(path, before) from error
        SparkContext._ensure_initialized(gateway=gateway)


def _not_started(path: Path, before: int) -> TidemarkError:
    """Return why Java did not start, from what it has written into a log after a position."""
    printed = path.read_bytes()[before:].decode(errors="replace").splitlines()
    reason = next(
        (re.sub(r"^.*: line \d+: ", "", line) for line in printed if line.strip()), "it printed nothing"
    )
    return TidemarkError(
        f"Java did not start: {reason[:200]}.",
        "Install Java 17, let JAVA_HOME name its folder, and look at TIDEMARK_JAVA_OPTIONS. "
        f"All that it printed is in {path}.",
    )
