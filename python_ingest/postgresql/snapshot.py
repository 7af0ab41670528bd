"""A snapshot of a PostgreSQL database, held open so that several connections read the same rows.

No transaction is passed over: PostgreSQL says which ones were writing when the snapshot was taken
(`pg_current_snapshot`). Short ones are waited for; while a long one goes on, its number is kept, and the next
landing looks for rows that were written since it began, whatever their cursor says.
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

from python_ingest.connections import Connection, variable
from python_ingest.errors import LandingError

WRITERS_PATIENCE = 1.0  # seconds for transactions that are writing to come to an end
POLL_SECONDS = 0.02
CONNECT_SECONDS = 10
SHARED_OPTIONS = (
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
)  # which the Java driver knows by the same names
REMEDIES: tuple[tuple[type[psycopg.Error], str], ...] = (
    (psycopg.errors.InvalidPassword, "Mend user or password in {variable}."),
    (psycopg.errors.InvalidAuthorizationSpecification, "Mend the user in {variable}."),
    (psycopg.errors.InvalidCatalogName, "Mend the database's name in {variable}."),
    (psycopg.errors.InsufficientPrivilege, "Grant SELECT on it to the connection's user, and land again."),
    (psycopg.errors.UndefinedTable, "Mend `table` or `query` in the declaration, or restore the table."),
    (psycopg.errors.UndefinedColumn, "Mend `key`, `cursor`, `lookback` or `query` in the declaration."),
    (psycopg.OperationalError, "See whether the server runs and is reached, then land again."),
)


@dataclass(frozen=True)
class Snapshot:
    """A snapshot.

    Attributes:
        connection: sees it, as long as its transaction goes on.
        name: by which other connections see it.
        clock: the server's time just before.
        open_since: the oldest transaction that was writing and did not come to an end in time; None if none.
    """

    connection: psycopg.Connection[Any]
    name: str
    clock: datetime
    open_since: str | None

    def one(self, query: sql.SQL | sql.Composed) -> tuple[Any, ...] | None:
        """Return the first row of a query."""
        row: tuple[Any, ...] | None = self.connection.execute(query).fetchone()
        return row


@contextmanager
def snapshot(to: Connection) -> Iterator[Snapshot]:
    """Take a snapshot, read-only, and let it go at the end."""
    with psycopg.connect(**parameters(to), autocommit=True) as connection:
        connection.execute("set time zone 'UTC'")
        connection.execute("set datestyle to 'ISO'")
        first = connection.execute(
            "select pg_snapshot_xmax(pg_current_snapshot())::text::numeric, clock_timestamp()"
        ).fetchone()
        assert first  # noqa: S101  # it is one row
        until = time.monotonic() + WRITERS_PATIENCE
        while _oldest(connection) < first[0] and time.monotonic() < until:
            time.sleep(POLL_SECONDS)
        connection.execute("begin isolation level repeatable read read only")
        # only those from before the clock was read: later ones write cursors after it
        row = connection.execute(
            "select pg_export_snapshot(), pg_snapshot_xmin(now)::text, pg_snapshot_xmin(now)::text::numeric "
            "from pg_current_snapshot() as now"
        ).fetchone()
        assert row  # noqa: S101
        yield Snapshot(connection, row[0], first[1], row[1] if row[2] < first[0] else None)


def parameters(to: Connection) -> dict[str, Any]:
    """Return a connection's parameters for libpq."""
    host, _, port = to.hosts.partition(":")
    known = {"host": host, "port": port or "5432", "dbname": to.database, "connect_timeout": CONNECT_SECONDS}
    secrets = {"user": to.user, "password": to.password}
    return known | {k: v for k, v in secrets.items() if v} | {"application_name": "tidemark"} | to.options


def jdbc(to: Connection) -> tuple[str, dict[str, str]]:
    """Return a connection's URL and properties for the Java driver."""
    options = {"ApplicationName": "tidemark", "connectTimeout": str(CONNECT_SECONDS), "tcpKeepAlive": "true"}
    options |= {name: to.options[name] for name in SHARED_OPTIONS if name in to.options}
    url = f"jdbc:postgresql://{to.hosts}/{to.database}?" + "&".join(f"{k}={v}" for k, v in options.items())
    return url, {"user": to.user, "password": to.password, "driver": "org.postgresql.Driver"}


@contextmanager
def told(feed: str, to: Connection) -> Iterator[None]:
    """Turn the server's errors into what happened, where, and what to do, without the password."""
    try:
        yield
    except psycopg.Error as error:
        said = (error.diag.message_primary or str(error).strip()).splitlines()[0].strip()
        remedy = next((fix for kind, fix in REMEDIES if isinstance(error, kind)), REMEDIES[-1][1])
        if "authentication failed" in said:  # libpq gives no code for what fails while it connects
            remedy = REMEDIES[0][1]
        raise LandingError(
            f"Feed '{feed}', connection '{to.name}': {to.redacted(said)}. The mark did not move.",
            remedy.format(variable=variable(to.name)),
        ) from None


def literal(text: str | None, of: str) -> sql.Composed:
    """Return a value as SQL.

    Args:
        text: the value as the server writes it.
        of: its type, as the server calls it.
    """
    return sql.SQL("cast({} as {})").format(sql.Literal(text), raw(of))


def raw(text: str) -> sql.SQL:
    """Return our own words, the server's, or a declared query, as SQL."""
    return sql.SQL(text)


def _oldest(connection: psycopg.Connection[Any]) -> int:
    row = connection.execute("select pg_snapshot_xmin(pg_current_snapshot())::text::numeric").fetchone()
    assert row  # noqa: S101
    return int(row[0])
