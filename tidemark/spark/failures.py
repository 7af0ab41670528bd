"""What made a Spark job fail: its causes in Java, a full disk, the end of the JVM."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FULL = re.compile(r"No space left on device|Disk quota exceeded")
DEPTH = 20


def causes(error: Exception) -> list[str]:
    """Return the messages of an error and of its causes, the first cause last."""
    cause: Any = None
    if isinstance(error, Py4JJavaError):
        cause = error.java_exception
    elif isinstance(error, PySparkException):
        cause = getattr(error, "_origin", None)
    messages = [str(error)]
    while cause is not None and len(messages) < DEPTH:
        messages.append(str(cause.toString()))
        cause = cause.getCause()
    return messages


def is_disk_full(error: Exception) -> bool:
    """Return whether an error was caused by a full disk."""
    return any(FULL.search(message) for message in causes(error))


def spark_is_lost(spark: SparkSession) -> bool:
    """Return whether the JVM of Spark has ended or is shutting down."""
    context: Any = spark.sparkContext._jsc
    try:
        return bool(context.sc().isStopped())
    except (Py4JError, OSError):
        return True
