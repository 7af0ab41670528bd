"""The shared catalog: a PostgreSQL database behind Hive's metastore, or behind Iceberg's JDBC catalog."""

from __future__ import annotations

import os
from typing import Any

import psycopg

from python_ingest.errors import TidemarkError
from python_ingest.feeds.connections import Connection, connection_in
from python_ingest.feeds.databases import parameters

METASTORE = "TIDEMARK_METASTORE"


def metastore() -> Connection | None:
    """Return the database that TIDEMARK_METASTORE names; None for a catalog in files, for one process.

    Raises:
        TidemarkError: if the variable is not a URL of a PostgreSQL database.
    """
    if not os.environ.get(METASTORE, "").strip():
        return None
    return connection_in(METASTORE, "metastore", "postgresql")


def connected(to: Connection, **options: Any) -> psycopg.Connection[Any]:
    """Connect to the database; each statement is its own transaction.

    Args:
        to: the database.
        options: further parameters for libpq.

    Raises:
        TidemarkError: if it does not answer.
    """
    try:
        return psycopg.connect(**(parameters(to) | options), autocommit=True)
    except psycopg.Error as error:
        raise unanswered(to, error) from None


def unanswered(to: Connection, error: psycopg.Error) -> TidemarkError:
    """Return the error for a database that does not answer, without the password."""
    return TidemarkError(
        f"The shared catalog's database does not answer: {to.redacted(str(error).strip())}",
        f"Check {METASTORE}, the server and the network.",
    )
