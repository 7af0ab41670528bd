"""A session on a Spark Connect server."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tidemark.base.distribution import pip_install
from tidemark.base.errors import TidemarkError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REMOTE = "spark.remote"
PORT = 15002  # if the address has none


@lru_cache
def check_server(remote: str) -> None:
    """Stop if no server listens, or if the packages of its client are missing; Spark would retry for minutes.

    Args:
        remote: the server's address, `sc://host:port/…`.

    Raises:
        TidemarkError: in these cases.
    """
    place = urlsplit(remote)
    try:
        socket.create_connection((place.hostname or "", place.port or PORT), timeout=10).close()
    except OSError as error:
        raise TidemarkError(
            f"No Spark Connect server answers at sc://{place.hostname}:{place.port or PORT} "
            f"({error.strerror or error}).",
            "Start one with `tidemark serve`, or give the address of yours in TIDEMARK_CONNECT.",
        ) from None
    try:
        import pyspark.sql.connect.session  # noqa: F401
    except ImportError as error:
        raise TidemarkError(
            f"The client of Spark Connect lacks a package: {str(error).splitlines()[0]}",
            f"Install it with `{pip_install('connect')}`.",
        ) from None


def connect_session(settings: Mapping[str, str]) -> SparkSession:
    """Return the session of this process on a server.

    Args:
        settings: the settings of the target, with the server's address.

    Raises:
        TidemarkError: if no server answers.
    """
    check_server(settings[REMOTE])
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
