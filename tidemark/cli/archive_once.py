"""Make the class archive in the background, once, after the first command that started Spark.

Spark starts in a third less time with it. The process is apart from the command: it has its own scratch lake
and the lowest priority, and nothing depends on its success.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from tidemark.base.output import output
from tidemark.lake.delta_log import has_jvm
from tidemark.lake.table_format import table_format
from tidemark.spark.jars import ARCHIVE, FOLDER, has_plain_path

MAKING, LOG = "classes.making", "classes.log"
SETTING = "TIDEMARK_CLASS_ARCHIVE"
BACKGROUND = "--background"
OWN = ("TIDEMARK_", "DBT_", "PYSPARK_SUBMIT_ARGS")
RETRY = 24 * 60 * 60  # seconds until a failed attempt is made again


def archive_once(folder: Path | None = None) -> bool:
    """Start a process that makes the archive, if it is missing and this process had a Spark of its own.

    Args:
        folder: where the jars are; None for the present project's.

    Returns:
        Whether it was started.
    """
    folder = folder or Path(FOLDER)
    kind = _format_used()
    if kind is None or not claim(folder):
        return False
    command = [sys.executable, "-m", "tidemark.cli.class_archive", BACKGROUND, kind]
    # nothing that names a lake, a catalog, a cluster or a secret of the project
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}
    try:
        with (folder / LOG).open("w", encoding="utf-8") as log:
            subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=kept, start_new_session=True
            )
    except OSError:  # the folder is not ours, or there are too many processes
        return False
    output.note(
        "once", f"Spark's classes are archived in the background, so that it starts sooner ({folder / LOG})"
    )
    return True


def claim(folder: Path) -> bool:
    """Claim the making of the archive; return False if it is there, of no use, or of another process.

    Args:
        folder: where the jars are.
    """
    if os.environ.get("CI"):
        return False  # the machine is thrown away
    if os.environ.get(SETTING, "").lower() in ("0", "off", "false", "no") or (folder / ARCHIVE).exists():
        return False
    if not has_plain_path(folder):
        return False  # Java 17 would ignore it
    making = folder / MAKING
    try:
        if making.exists() and time.time() - making.stat().st_mtime > RETRY:
            making.unlink()
        making.touch(exist_ok=False)
    except OSError:  # another process makes it, has failed, or the folder cannot be written
        return False
    return True


def _format_used() -> str | None:
    """Return the table format of the Spark that this process has started; None if it has none of its own."""
    spark = sys.modules.get("pyspark.sql.session")
    session = spark.SparkSession._instantiatedSession if spark else None
    return table_format(session) if session is not None and has_jvm(session) else None
