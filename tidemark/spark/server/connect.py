"""A Spark Connect server."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tidemark.spark.server.spark import HOST, spark_server

PORT = 15002  # Spark's own default


@contextmanager
def spark_connect(
    settings: Mapping[str, str], port: int = PORT, log: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server, and stop it at the end; its address is that of `address_of`.

    Args:
        settings: Spark's settings, by name.
        port: the server's port.
        log: the file for the server's output; None for one that is deleted at the end.
    """
    own = {"spark.connect.grpc.binding.address": HOST, "spark.connect.grpc.binding.port": str(port)}
    main_class = "org.apache.spark.sql.connect.service.SparkConnectServer"
    with spark_server(main_class, port, {**settings, **own}, log=log) as process:
        yield process


def address_of(port: int) -> str:
    """Return the address of the server on a port, for the setting `spark.remote`."""
    return f"sc://{HOST}:{port}"
