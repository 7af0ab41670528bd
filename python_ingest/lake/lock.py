"""The lock of a lake whose catalog is in files: one process at a time can hold it."""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path
from typing import TextIO

from python_ingest.errors import LakeBusyError
from python_ingest.lake.metastore import metastore

LOCK = ".lock"
_held: dict[Path, TextIO] = {}


def hold(lake: Path) -> None:
    """Lock the lake until this process ends; a second call in the same process does nothing.

    The kernel releases the lock when the process ends, so a killed process leaves no lock behind. A lake
    with a shared catalog is not locked as a whole: see table_locks.py.

    Args:
        lake: the lake's folder; it is created if it is missing.

    Raises:
        LakeBusyError: if another process holds it.
    """
    place = lake.resolve()
    if place in _held or metastore():
        return
    place.mkdir(parents=True, exist_ok=True)
    lock = (place / LOCK).open("a+", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.seek(0)
        holder = lock.read().strip() or "another process"
        lock.close()
        raise LakeBusyError(
            f"The lake {lake} is held by {holder}.",
            "Wait until it ends, or choose another lake with TIDEMARK_LAKE.",
        ) from None
    lock.truncate(0)
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    lock.write(f"process {os.getpid()} ({command})")
    lock.flush()
    _held[place] = lock
