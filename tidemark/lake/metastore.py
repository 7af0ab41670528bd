"""Catalogs outside the lake: a PostgreSQL database behind Hive's metastore or Iceberg's JDBC catalog, and
a catalog server with Iceberg's REST interface."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

import psycopg

from tidemark.base.connections import Connection, connection_in
from tidemark.base.databases import parameters
from tidemark.base.errors import TidemarkError

METASTORE = "TIDEMARK_METASTORE"
ICEBERG_REST = "TIDEMARK_ICEBERG_REST"


def metastore() -> Connection | None:
    """Return the database that TIDEMARK_METASTORE names; None for a catalog in files, for one process.

    Raises:
        TidemarkError: if the variable is not a URL of a PostgreSQL database.
    """
    if not os.environ.get(METASTORE, "").strip():
        return None
    return connection_in(METASTORE, "metastore", "postgresql")


def rest_catalog() -> str:
    """Return the URL of the catalog server that TIDEMARK_ICEBERG_REST names; empty without one.

    Raises:
        TidemarkError: if the variable is not a URL of the web.
    """
    url = os.environ.get(ICEBERG_REST, "").strip()
    parts = urlsplit(url)
    if url and (parts.scheme not in ("http", "https") or not parts.hostname or parts.username):
        raise TidemarkError(
            f"{ICEBERG_REST} is not the URL of a catalog server.",
            "Write it like https://HOST/api/catalog; TIDEMARK_ICEBERG_CREDENTIAL has the credential.",
        )
    return url


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
