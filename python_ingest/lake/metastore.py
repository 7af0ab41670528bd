"""The shared catalog: a PostgreSQL database behind Hive's metastore, or behind Iceberg's JDBC catalog."""

from __future__ import annotations

import os

from python_ingest.feeds.connections import Connection, connection_in

METASTORE = "TIDEMARK_METASTORE"


def metastore() -> Connection | None:
    """Return the database that TIDEMARK_METASTORE names; None for a catalog in files, for one process.

    Raises:
        TidemarkError: if the variable is not a URL of a PostgreSQL database.
    """
    if not os.environ.get(METASTORE, "").strip():
        return None
    return connection_in(METASTORE, "metastore", "postgresql")
