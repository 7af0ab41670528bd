"""Locks of single tables, for several processes that share a catalog in PostgreSQL.

They are advisory locks of a database session. PostgreSQL releases them when the session ends, so a killed
process leaves none behind. A process whose session is lost ends at once, because another one may now write
the same tables.
"""

from __future__ import annotations

import hashlib
import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from tidemark.base.connections import Connection
from tidemark.base.errors import LakeBusyError, TidemarkError
from tidemark.base.process import command_name
from tidemark.lake.metastore import connected, metastore, unanswered

WAIT = "TIDEMARK_LOCK_WAIT"  # seconds
PAUSE = 1.0  # seconds between two attempts, and between two checks of the session
STATE_WAIT = 300.0  # seconds for a state table, which other processes hold for one commit
LANDING = ".landing"  # `ops.landing`: no table, but held while feeds land
LOST = 75  # the exit code of a process that lost its locks: a temporary failure
HOLDER = """
    select coalesce(nullif(activity.application_name, ''), 'another process')
    from pg_locks as lock inner join pg_stat_activity as activity on lock.pid = activity.pid
    where lock.locktype = 'advisory' and lock.granted
        and (lock.classid::bigint << 32 | lock.objid::bigint) = %s::bigint
"""
HELD = """
    select activity.application_name, lock.classid::bigint << 32 | lock.objid::bigint
    from pg_locks as lock inner join pg_stat_activity as activity on lock.pid = activity.pid
    where lock.locktype = 'advisory' and lock.granted
        and lock.database = (select oid from pg_database where datname = current_database())
"""


class TableLocks:
    """The locks that this process holds in one database.

    Args:
        to: the database.

    Raises:
        TidemarkError: if the database does not answer.
    """

    def __init__(self, to: Connection) -> None:
        me = f"process {os.getpid()} on {socket.gethostname()} ({command_name()})"
        self._session = connected(to, keepalives_idle=10, application_name=me[:63])
        self._to = to
        self._held: Counter[str] = Counter()  # how many of this process's threads hold each
        self._mutex = threading.RLock()
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def is_lost(self) -> bool:
        """Whether the session has ended; it held no locks then."""
        return bool(self._session.closed)

    def acquire(self, names: Iterable[str], seconds: float) -> list[str]:
        """Lock names; return them, for `release`.

        All processes lock in one order, so that none waits for each other: what only one process does at a
        time comes before its tables, then by name. Several threads of
        this process can hold a name; the last one that releases it unlocks it for other processes.

        Args:
            names: tables as `schema.table`.
            seconds: how long to wait for another process.

        Raises:
            LakeBusyError: if another process still holds one of them.
        """
        until = time.monotonic() + seconds
        held: list[str] = []
        for name in sorted(set(names), key=lambda name: (not name.endswith(LANDING), name)):
            while not self._try(name):
                if time.monotonic() >= until:
                    holder = self._value(HOLDER, name)
                    if holder is None:  # it was released between the two queries
                        continue
                    self.release(held)
                    raise LakeBusyError(
                        f"The table {name} is held by {holder}.",
                        f"Wait until it ends, or let this command wait: {WAIT} is the number of seconds.",
                    )
                time.sleep(PAUSE)
            held.append(name)
        return held

    def release(self, names: Iterable[str]) -> None:
        """Release names that `acquire` returned; those that are not held are ignored."""
        with self._mutex:
            for name in self._held.keys() & {*names}:
                self._held[name] -= 1
                if not self._held[name]:
                    del self._held[name]
                    self._value("select pg_advisory_unlock(%s::bigint)", name)

    def _try(self, name: str) -> bool:
        with self._mutex:
            if name in self._held or self._value("select pg_try_advisory_lock(%s::bigint)", name):
                self._held[name] += 1
                return True
            return False

    def _value(self, query: str, name: str) -> Any:
        with self._mutex:
            try:
                row = self._session.execute(query, [_key(name)]).fetchone()
            except psycopg.Error as error:
                raise unanswered(self._to, error) from None
        return row[0] if row else None

    def _watch(self) -> None:
        """End this process when its session, and with it its locks, are lost."""
        while True:
            time.sleep(PAUSE)
            with self._mutex:
                try:
                    self._session.execute("select 1")
                except psycopg.Error:
                    break
        if self._held:
            text = (
                "Error: The connection to the shared catalog's database was lost, and the locks with it.\n"
                "  → Committed data is safe. Run the same command again to continue.\n"
            )
            os.write(2, text.encode())
            os._exit(LOST)


_locks: dict[tuple[str, str], TableLocks] = {}
_opening = threading.Lock()


def lock_tables(names: Iterable[str], seconds: float | None = None) -> list[str]:
    """Lock tables for this process if the catalog is shared; otherwise its lake is locked as a whole.

    Args:
        names: tables as `schema.table`.
        seconds: how long to wait for other processes; the default is TIDEMARK_LOCK_WAIT.

    Returns:
        The names, for `unlock_tables`; none if the catalog is not shared.

    Raises:
        LakeBusyError: if another process holds one of them for longer.
        TidemarkError: if the shared catalog does not answer.
    """
    locks = _shared()
    return locks.acquire(names, _seconds() if seconds is None else seconds) if locks else []


def unlock_tables(names: Iterable[str]) -> None:
    """Release tables that `lock_tables` returned."""
    if locks := _shared():
        locks.release(names)


@contextmanager
def locked(*names: str, seconds: float | None = None) -> Iterator[None]:
    """Lock tables within a block, as `lock_tables` does."""
    held = lock_tables(names, seconds)
    try:
        yield
    finally:
        unlock_tables(held)


def held_tables(session: psycopg.Connection[Any], names: Iterable[str]) -> dict[str, list[str]]:
    """Return which tables are locked, by the name of the process.

    Args:
        session: a session of the shared catalog's database.
        names: tables as `schema.table`; PostgreSQL has only a number for each lock, so others have no name.
    """
    known = {_key(name): name for name in names}
    held: dict[str, list[str]] = {}
    for process, key in session.execute(HELD).fetchall():
        held.setdefault(process or "another process", []).append(known.get(key, "a table of another project"))
    return held


def _shared() -> TableLocks | None:
    to = metastore()
    if to is None:
        return None
    key = (to.hosts, to.database)
    with _opening:
        if key not in _locks or _locks[key].is_lost:
            _locks[key] = TableLocks(to)
        return _locks[key]


def _seconds() -> float:
    text = os.environ.get(WAIT, "").strip() or "0"
    try:
        return float(text)
    except ValueError:
        raise TidemarkError(f"{WAIT} is '{text}'.", "Set it to a number of seconds.") from None


def _key(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
