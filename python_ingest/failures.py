"""Which file made a Spark job fail, and why."""

from __future__ import annotations

import re
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from python_ingest.build import plain_message

READING = re.compile(r"(?:while reading file|Could not read footer for file:?) (\S+?)\.?(?: SQLSTATE|\s|$)")
DEPTH = 20


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
