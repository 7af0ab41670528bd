"""Spark's Thrift server."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tidemark.spark.server.spark import HOST, spark_server

MAIN_CLASS = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"


@contextmanager
def spark_thrift(settings: Mapping[str, str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server, and stop it at the end.

    Args:
        settings: Spark's settings, by name.
        port: the server's port on 127.0.0.1.
    """
    own = {"thrift.port": str(port), "thrift.bind.host": HOST, "enable.doAs": "false"}
    options = [word for name, value in own.items() for word in ("--hiveconf", f"hive.server2.{name}={value}")]
    with spark_server(MAIN_CLASS, port, settings, options) as process:
        yield process
