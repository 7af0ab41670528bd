"""A snapshot of a PostgreSQL database, held open so that several connections read the same rows.

No transaction is missed. A transaction that runs when the clock is read may commit later, with earlier
cursor values. A landing waits for short transactions and keeps long ones in the state. After they have ended,
a landing looks for all rows written since the snapshot at which they ran, whatever their cursor is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg
from psycopg import sql

from tidemark.base.connections import Connection, variable
from tidemark.base.databases import parameters
from tidemark.base.errors import LandingError

PATIENCE = 1.0  # seconds to wait for running transactions to end
POLL_SECONDS = 0.02
LOCK_SECONDS = 60  # seconds to wait for a table that another session has locked exclusively
REMEDIES: tuple[tuple[type[psycopg.Error], str], ...] = (
    (psycopg.errors.InvalidPassword, "Correct the user or password in {variable}."),
    (psycopg.errors.InvalidAuthorizationSpecification, "Correct the user in {variable}."),
    (psycopg.errors.InvalidCatalogName, "Correct the database name in {variable}."),
    (psycopg.errors.InsufficientPrivilege, "Grant SELECT on it to the connection's user, and land again."),
    (psycopg.errors.UndefinedTable, "Correct `table` or `query` in the declaration, or restore the table."),
    (psycopg.errors.UndefinedColumn, "Correct `key`, `cursor`, `lookback` or `query` in the declaration."),
    (
        psycopg.errors.LockNotAvailable,
        "Another session has locked the table: wait until it ends, then land again.",
    ),
    (
        psycopg.errors.InvalidParameterValue,
        "Correct `time_zone`, or the values that it applies to, and land again.",
    ),
    (psycopg.ProgrammingError, "Correct `table`, `query` or the names in the declaration, and land again."),
    (psycopg.OperationalError, "Check that the server is running and reachable, then land again."),
)


# The transactions of this database, except autovacuum and WAL senders; a prepared one has no process.
RUNNING = """
    select distinct locks.virtualtransaction
    from pg_locks as locks
    left join pg_stat_activity as activity on activity.pid = locks.pid
    where locks.locktype in ('virtualxid', 'transactionid') and locks.mode = 'ExclusiveLock' and locks.granted
    and coalesce(activity.datname, current_database()) = current_database()
    and coalesce(activity.backend_type, '') not in ('autovacuum worker', 'walsender')
    and locks.pid is distinct from pg_backend_pid()
"""


@dataclass(frozen=True)
class Snapshot:
    """A snapshot.

    Attributes:
        connection: the connection that holds the snapshot, until its transaction ends.
        name: the name by which other connections import the snapshot.
        clock: the server's time just before the snapshot.
        lowest: no transaction that runs at the snapshot, or begins later, has a number below it.
        running: the transactions that ran when the clock was read and did not end in time.
        all_running: all transactions that ran just before the snapshot.
    """

    connection: psycopg.Connection[Any]
    name: str
    clock: datetime
    lowest: str
    running: frozenset[str]
    all_running: frozenset[str]

    def one(self, query: sql.SQL | sql.Composed) -> tuple[Any, ...] | None:
        """Return the first row of a query."""
        row: tuple[Any, ...] | None = self.connection.execute(query).fetchone()
        return row


@contextmanager
def snapshot(to: Connection) -> Iterator[Snapshot]:
    """Take a read-only snapshot, and release it at the end."""
    with psycopg.connect(**parameters(to), autocommit=True) as connection:
        connection.execute("set time zone 'UTC'")
        connection.execute("set datestyle to 'ISO'")
        connection.execute(f"set lock_timeout to {LOCK_SECONDS * 1000}")
        # In this order, both sets have each transaction that begins before the clock is read and ends after
        # the snapshot is taken.
        clock: Any = connection.execute("select clock_timestamp()").fetchone()
        before = running = _running(connection)
        until = time.monotonic() + PATIENCE
        while before & running and time.monotonic() < until:
            time.sleep(POLL_SECONDS)
            running = _running(connection)
        connection.execute("begin isolation level repeatable read read only")
        taken: Any = connection.execute(
            "select pg_export_snapshot(), pg_snapshot_xmin(pg_current_snapshot())::text"
        ).fetchone()
        yield Snapshot(connection, taken[0], clock[0], taken[1], before & running, running)


@contextmanager
def with_plain_errors(feed: str, to: Connection) -> Iterator[None]:
    """Turn a server error into one that says what happened, where and what to do, without the password."""
    try:
        yield
    except psycopg.Error as error:
        message = (error.diag.message_primary or str(error).strip()).splitlines()[0].strip()
        remedy = next((fix for kind, fix in REMEDIES if isinstance(error, kind)), REMEDIES[-1][1])
        if "authentication failed" in message:  # libpq has no error code for a failed connection
            remedy = REMEDIES[0][1]
        raise LandingError(
            f"Feed '{feed}', connection '{to.name}': {to.redacted(message)}. The last position is unchanged.",
            remedy.format(variable=variable(to.name)),
        ) from None


def literal(text: str | None, of: str) -> sql.Composed:
    """Return a value as SQL.

    Args:
        text: the value as the server writes it.
        of: the server's name of its type.
    """
    return sql.SQL("cast({} as {})").format(sql.Literal(text), raw(of))


def raw(text: str) -> sql.SQL:
    """Return trusted text as SQL: our own, the server's or a declared query."""
    return sql.SQL(text)


def _running(connection: psycopg.Connection[Any]) -> frozenset[str]:
    return frozenset(row[0] for row in connection.execute(RUNNING).fetchall())
