"""What processes of Spark leave in the temporary folder when they are killed."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tidemark.base.output import count_of
from tidemark.operate.doctor.finding import Finding, note

GLOBS = ("spark-*-*-*-*-*", "blockmgr-*-*-*-*-*", "tidemark_prove_*", "tidemark-classes-*", "tidemark-hive-*")
AGE = 24 * 3600  # seconds
LOCAL = "spark.local.dir"


def leftovers(settings: Mapping[str, str]) -> Iterator[Finding]:
    """Report folders of killed processes: those that nothing has changed for a day.

    Args:
        settings: Spark's settings, which may name other folders than the temporary one.
    """
    named = os.environ.get("SPARK_LOCAL_DIRS") or settings.get(LOCAL) or tempfile.gettempdir()
    for place in dict.fromkeys(map(Path, [*named.split(","), tempfile.gettempdir()])):
        old = [path for glob in GLOBS for path in place.glob(glob) if _is_old(path)]
        if old:
            message = (
                f"{count_of(len(old), 'folder')} of killed Spark processes in {place}, older than a day."
            )
            names = " ".join(f"'{glob}'" for glob in GLOBS[:2])
            yield note(
                message,
                "Delete them if no Spark runs for longer than a day: "
                f"`find {place} -maxdepth 1 -mtime +0 \\( -name {names.replace(' ', ' -o -name ')} \\) "
                "-exec rm -r {} +`.",
            )


def _is_old(path: Path) -> bool:
    try:
        state = path.stat()
    except OSError:
        return False
    return state.st_uid == os.getuid() and time.time() - state.st_mtime > AGE
