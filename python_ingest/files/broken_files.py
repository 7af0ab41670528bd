"""Find files that break during reading, from the error of the failed job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from python_ingest.feeds.paths import spellings
from python_ingest.files.failures import broken_file
from python_ingest.files.formats.lines import OPEN_LINE
from python_ingest.files.inspect_files import BROKEN, Examined
from python_ingest.ops.candidate import Noted
from tidemark.spark.failures import causes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def is_open_quote(error: Exception) -> bool:
    """Return whether a job failed because a line has an open quote, and nobody had looked for one."""
    return any(OPEN_LINE in message for message in causes(error))


def split_broken(
    error: Exception, files: Sequence[Examined], read: Callable[[Sequence[Examined]], DataFrame]
) -> tuple[list[Examined], list[Noted]]:
    """Separate the files that can be read from those that cannot, after one of them made a job fail.

    Args:
        error: the job's error.
        files: the files that the job read.
        read: returns the rows of files.

    Returns:
        The files that can be read, or that may have open quotes, and the rejections of the others.
    """
    sound, noted = list(files), []
    while True:
        broken, reason = broken_one(error, sound)
        sound.remove(broken)
        noted.append(Noted(broken.plan, "rejected", reason))
        try:
            if sound:
                read(sound).write.format("noop").mode("overwrite").save()
            return sound, noted
        except (Py4JJavaError, PySparkException) as next_error:
            if is_open_quote(next_error):
                return sound, noted
            error = next_error


def broken_one(error: Exception, files: Sequence[Examined]) -> tuple[Examined, str]:
    """Return the file that made a job fail, with the reason; raise the error if no file is the cause."""
    found = broken_file(error)
    reads = [(one, part) for one in files for part, _ in one.reads]
    broken = next((pair for pair in reads if found and found[0] in spellings(pair[1].file.uri)), None)
    if broken is None or found is None:
        raise error
    examined, part = broken
    return examined, BROKEN + (f"its member {part.member}: " if part.member else "") + found[1]
