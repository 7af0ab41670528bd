"""What the servers have in common."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from python_ingest.servers.leash import leash

JARS = Path(__file__).resolve().parents[2] / ".servers"
PATIENCE = 60  # seconds until a server answers


class MissingServerError(Exception):
    """What a server needs is not installed; the message says what, and how to get it."""


def free_port() -> int:
    """Return a loopback port that nothing listens on."""
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        port: int = some.getsockname()[1]
        return port


def wait_until(answers: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait for a server's answer; an error with the end of its log when it ends or stays silent."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        if answers():
            return
        time.sleep(0.2)
    raise AssertionError(f"the server did not start: {log.read_text()[-2000:]}")


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a folder in the system's one, where any user may go; what runs in it ends with this process."""
    folder = Path(tempfile.mkdtemp(prefix="tidemark-server-"))
    try:
        with leash(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
