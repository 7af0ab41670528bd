"""The Spark session of this process."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
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

STARTS = threading.RLock()  # dbt's threads may ask for Spark at once
NO_REASON = re.compile(r"(NOTE: )?Picked up |WARNING: |Using |Spark Command: |=+$|::|.* WARN |.*VM warning: ")
CAUSE = re.compile(r"Error|Exception|Unrecognized|Invalid|Caused")
OF_NEXT_LINE = "Error occurred during initialization of VM"
IN_SCRIPT = re.compile(r"^.*: line \d+: ")
MAY_BE_SECRET = re.compile(r"""(?<==)("[^"]*"|'[^']*'|[^\s)]+)|(?<=://)[^/@\s]+(?=@)""")

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
    with STARTS:
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
    with on_interrupt(signal.getsignal(signal.SIGINT)):
        _start_jvm(conf, None)
        return SparkSession.builder.config(conf=conf).getOrCreate()


def _empty(lake: Path) -> None:
    for entry in lake.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        elif entry.name != LOCK:
            entry.unlink()


def _start_jvm(conf: SparkConf, logs: Path | None) -> None:
    """Start the JVM if it does not run; what it prints on its standard error is no message to a user.

    Args:
        conf: its settings.
        logs: the folder of spark.log, which gets it; None if it is kept nowhere.
    """
    with STARTS, _opened_log(logs) as log:
        if SparkContext._gateway is not None:
            return
        before = log.seek(0, os.SEEK_END)
        try:
            gateway = launch_gateway(conf, {"stderr": log})  # type: ignore[no-untyped-call]
        except (PySparkRuntimeError, OSError) as error:
            log.seek(before)
            reason = _reason(log.read().decode(errors="replace").splitlines()) or str(error)
            place = f" All that it printed is in {log.name}." if isinstance(log.name, str) else ""
            raise TidemarkError(
                f"Java did not start: {reason}",
                "Install Java 17, let JAVA_HOME name its folder, and look at TIDEMARK_JAVA_OPTIONS and "
                f"SPARK_HOME.{place}",
            ) from error
        SparkContext._ensure_initialized(gateway=gateway)


def _opened_log(logs: Path | None) -> Any:
    if logs is not None:
        with suppress(OSError):
            logs.mkdir(parents=True, exist_ok=True)
            return (logs / "spark.log").open("a+b")
    return TemporaryFile()


def _reason(printed: Sequence[str]) -> str:
    """Return why Java did not start, from the lines that it printed; nothing if none tells."""
    told = [line.strip() for line in printed if line.strip() and not NO_REASON.match(line)]
    if not told:
        return ""
    number = next((number for number, line in enumerate(told) if CAUSE.match(line)), 0)
    lines = told[number : number + (2 if told[number] == OF_NEXT_LINE else 1)]
    return MAY_BE_SECRET.sub("***", IN_SCRIPT.sub("", " ".join(lines)))[:200]
