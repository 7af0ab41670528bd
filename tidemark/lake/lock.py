"""The lock of a lake whose catalog is in files: one process at a time can hold it."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from tidemark.base.errors import LakeBusyError, TidemarkError
from tidemark.base.process import command_name
from tidemark.lake.metastore import metastore

LOCK = ".lock"
LEAST_FREE = 32 * 2**20  # bytes; the catalog's database waits for ever if it can write nothing
PRIVATE = 0o600
INSTANT = 0.05  # seconds; `holder` locks the lake for less
_held: dict[Path, TextIO] = {}


def hold(lake: Path) -> None:
    """Lock the lake until this process ends; a second call in the same process does nothing.

    The kernel releases the lock when the process ends, so a killed process leaves no lock behind. A lake
    with a shared catalog is not locked as a whole: see table_locks.py. Only this user can read the lock.

    Args:
        lake: the lake's folder; it is created if it is missing.

    Raises:
        LakeBusyError: if another process holds it.
        TidemarkError: if its disk is full, or the lock belongs to another user.
    """
    place = lake.resolve()
    if place in _held or metastore():
        return
    place.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(place).free
    if free < LEAST_FREE:
        raise TidemarkError(
            f"The disk of the lake {lake} has {free / 2**20:.0f} MiB free; a command needs at least "
            f"{LEAST_FREE / 2**20:.0f} MiB.",
            "Free disk space and run the same command again.",
        )
    lock = _opened(place / LOCK)
    is_ours = _locks(lock, fcntl.LOCK_EX)
    if not is_ours:
        time.sleep(INSTANT)
        is_ours = _locks(lock, fcntl.LOCK_EX)
    if not is_ours:
        by = _name_in(lock)
        lock.close()
        raise LakeBusyError(
            f"The lake {lake} is held by {by}.",
            "Wait until it ends, or choose another lake with TIDEMARK_LAKE.",
        )
    lock.truncate(0)
    lock.write(f"process {os.getpid()} ({command_name()})")
    lock.flush()
    _held[place] = lock


def holder(lake: Path) -> str:
    """Return which process holds the lake, such as `process 4711 (tidemark run)`; empty if none does.

    Args:
        lake: the lake's folder, which may be missing.
    """
    if not (lake / LOCK).is_file():
        return ""
    try:
        with (lake / LOCK).open(encoding="utf-8") as lock:
            return "" if _locks(lock, fcntl.LOCK_SH) else _name_in(lock)
    except PermissionError:
        return "another user, if anybody"


def _opened(path: Path) -> TextIO:
    try:
        lock = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, PRIVATE), "a+", encoding="utf-8")
    except PermissionError:
        raise TidemarkError(
            f"{path} belongs to another user, and one user at a time can hold a lake.",
            "Delete the file if that user runs no command, or choose another lake with TIDEMARK_LAKE.",
        ) from None
    with suppress(PermissionError):
        os.fchmod(lock.fileno(), PRIVATE)
    return lock


def _locks(lock: TextIO, how: int) -> bool:
    try:
        fcntl.flock(lock, how | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _name_in(lock: TextIO) -> str:
    lock.seek(0)
    return lock.read().strip() or "another process"
