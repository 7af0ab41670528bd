"""Which file made a Spark job fail, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from python_ingest.build import plain_message
from python_ingest.errors import SparkLostError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

READING = re.compile(r"(?:while reading file|Could not read footer for file:?) (\S+?)\.?(?: SQLSTATE|\s|$)")
DEPTH = 20
SHOWN = 20  # files in a message


def broken_file(error: Exception) -> tuple[str, str] | None:
    """Return the file that Spark was reading when a job failed, and the innermost reason.

    Args:
        error: what a Spark action raised.

    Returns:
        The file as Spark names it (a URI) and one sentence, or None when the job did not fail in a file.
    """
    messages = _causes(error)
    for message in messages:
        if found := READING.search(message):
            inner = [said for said in messages if said and not READING.search(said)]
            return found[1], first_sentence(inner[-1] if inner else message)
    return None


def innermost(error: Exception) -> str:
    """Return what the first cause of an error says, in one sentence."""
    return first_sentence(_causes(error)[-1])


def spark_is_lost(spark: SparkSession) -> bool:
    """Return whether the JVM in which Spark runs has ended, or is ending."""
    context: Any = spark.sparkContext._jsc
    try:
        return bool(context.sc().isStopped())
    except (Py4JError, OSError):
        return True


def spark_lost(feed: str, paths: Sequence[str]) -> SparkLostError:
    """Return the error for a feed during whose landing the JVM ended.

    Args:
        feed: the feed's name.
        paths: the files of the batch under way; empty when there was none.
    """
    more = f" and {len(paths) - SHOWN:,} more" * (len(paths) > SHOWN)
    reading = f" while it read {', '.join(paths[:SHOWN])}{more}" * bool(paths)
    return SparkLostError(
        f"Feed '{feed}': Spark's process (the JVM) ended{reading}.",
        "Run the same command again: it finishes what was begun, and nothing lands twice. If Spark ends "
        "again, give it more memory (TIDEMARK_DRIVER_MEMORY), or move these files away one by one; "
        "logs/spark.log says more.",
    )


def first_sentence(message: str) -> str:
    """Return the first line of a message, without the Java class that it may begin with."""
    lines = plain_message(message).splitlines() or [message.strip()]
    return re.sub(r"^(?:[\w$]+\.)+[\w$]+(?:Exception|Error): ", "", lines[0].strip())[:300]


def _causes(error: Exception) -> list[str]:
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
