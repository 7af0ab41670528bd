"""Connections to servers: a feed's declaration names one, and the environment holds its URL.

A connection `shop` is the URL in `TIDEMARK_CONNECTION_SHOP`: `postgresql://user:password@host:5432/database`
or `kafka://host:9092,host:9092`, with `?name=value` for further settings of the driver.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from tidemark.base.errors import TidemarkError

SCHEMES = {"postgresql": "postgresql", "postgres": "postgresql", "kafka": "kafka"}
EXAMPLES = {
    "postgresql": "postgresql://USER:PASSWORD@HOST:5432/DATABASE",
    "kafka": "kafka://HOST:9092",
}


@dataclass(frozen=True)
class Connection:
    """How to reach a server.

    Attributes:
        name: the name that feeds use.
        hosts: `host:port`; several are separated by commas.
        database: the path of the URL; empty for Kafka.
        user, password: empty if the URL has none.
        options: the parameters after `?` in the URL.
    """

    name: str
    hosts: str
    database: str = ""
    user: str = ""
    password: str = field(default="", repr=False)
    options: dict[str, str] = field(default_factory=dict)

    def redacted(self, text: str) -> str:
        """Return a text without the password."""
        secrets = {self.password, *(value for name, value in self.options.items() if _is_secret(name))}
        for secret in sorted(filter(None, secrets), key=len, reverse=True):
            text = text.replace(secret, "***")
        return text


def variable(name: str) -> str:
    """Return the name of the environment variable that holds a connection's URL."""
    return f"TIDEMARK_CONNECTION_{name.upper()}"


def connection(name: str, kind: str) -> Connection:
    """Return a connection.

    Args:
        name: its name: lower-case letters, digits and `_`.
        kind: `postgresql` or `kafka`.

    Raises:
        TidemarkError: if the variable is not set or is not a URL of this kind; the URL is not shown.
    """
    if not os.environ.get(variable(name), "").strip():
        raise TidemarkError(
            f"The connection '{name}' is not in the environment.",
            f"Set {variable(name)} to a URL like {EXAMPLES[kind]}.",
        )
    return connection_in(variable(name), name, kind)


def connection_in(variable: str, name: str, kind: str) -> Connection:
    """Return the connection whose URL is in an environment variable, which must be set.

    Args:
        variable: the environment variable.
        name: the connection's name.
        kind: `postgresql` or `kafka`.

    Raises:
        TidemarkError: if it is not a URL of this kind; the URL is not shown.
    """
    text = os.environ[variable].strip()
    try:
        parts = urlsplit(text)
        user, _, hosts = parts.netloc.rpartition("@")
        name_of_user, _, password = user.partition(":")
        # a password with a `/` would be taken for a host and a database, and shown in errors
        known = SCHEMES.get(parts.scheme) == kind and bool(hosts) and "@" not in parts.path
        options = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    except ValueError:
        known = False
    if not known or (kind == "postgresql" and not parts.path.strip("/")):
        raise TidemarkError(
            f"{variable} is not a URL of a {kind} connection.",
            f"Write it like {EXAMPLES[kind]}, with special characters of the password as %XX.",
        )
    return Connection(
        name, hosts, unquote(parts.path.strip("/")), unquote(name_of_user), unquote(password), options
    )


def _is_secret(name: str) -> bool:
    return any(word in name.lower() for word in ("password", "secret", "jaas", "token"))
