"""How the drivers of Python and Java reach a PostgreSQL database."""

from __future__ import annotations

from typing import Any

from psycopg import conninfo

from tidemark.base.connections import Connection

CONNECT_SECONDS = 10
SHARED_OPTIONS = ("sslmode", "sslrootcert", "sslcert", "sslkey")  # the Java driver has the same names


def parameters(to: Connection) -> dict[str, Any]:
    """Return a connection's parameters for libpq."""
    places = {"port": "5432"} | conninfo.conninfo_to_dict(f"postgresql://{to.hosts}/")
    given = {"dbname": to.database, "user": to.user, "password": to.password}
    ours = {"connect_timeout": CONNECT_SECONDS, "application_name": "tidemark"}
    return places | {name: value for name, value in given.items() if value} | ours | to.options


def jdbc(to: Connection) -> tuple[str, dict[str, str]]:
    """Return a connection's URL and properties for the Java driver."""
    options = {"ApplicationName": "tidemark", "connectTimeout": str(CONNECT_SECONDS), "tcpKeepAlive": "true"}
    options |= {name: to.options[name] for name in SHARED_OPTIONS if name in to.options}
    url = f"jdbc:postgresql://{to.hosts}/{to.database}?" + "&".join(f"{k}={v}" for k, v in options.items())
    return url, {"user": to.user, "password": to.password, "driver": "org.postgresql.Driver"}
