"""Helpers that all servers use."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tidemark.spark.server.watchdog import watchdog

PATIENCE = 60  # seconds to wait until a server answers


class ServerEndedError(Exception):
    """A server ended, or did not answer in time; the message is the end of its log."""


def answers(port: int) -> bool:
    """Return whether something listens on a loopback port."""
    with socket.socket() as some:
        return some.connect_ex(("127.0.0.1", port)) == 0


def wait_until(is_there: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a server answers; if it ends or does not answer, raise an error with the end of its log."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        if is_there():
            return
        time.sleep(0.2)
    raise ServerEndedError(f"the server did not start: {log.read_text()[-2000:]}")


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a temporary folder that any user may enter; its servers end with this process."""
    folder = Path(tempfile.mkdtemp(prefix="tidemark-server-"))
    try:
        with watchdog(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
