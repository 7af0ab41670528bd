"""What the servers of this repository need: their jars, a quick Java, free ports."""

from __future__ import annotations

import socket
from pathlib import Path

JARS = Path(__file__).resolve().parents[2] / ".servers"
QUICK_JAVA = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")  # for what runs some minutes


class MissingServerError(Exception):
    """A program that a server needs is not installed; the message names it and says how to get it."""


def free_port() -> int:
    """Return an unused loopback port."""
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        port: int = some.getsockname()[1]
        return port
