"""Stop servers when the test process that started them ends, even if it is killed.

A killed test process runs no clean-up. The watchdog is a second process that waits for the end of its
standard input. This is a pipe that the kernel closes when the test process ends. The watchdog finds the
servers by their folder in the command lines of /proc, so it works only on Linux.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def watchdog(folder: Path) -> Iterator[None]:
    """Kill the processes that name a folder and delete it, if this process ends within the block."""
    command = [sys.executable, str(Path(__file__).resolve()), str(folder)]
    watcher = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    try:
        yield
    finally:
        watcher.kill()
        watcher.communicate()


def kill_all(folder: Path) -> None:
    """Kill each process with the folder in its command line, and its group if it leads one."""
    for entry in Path("/proc").glob("[0-9]*"):
        pid = int(entry.name)
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if pid == os.getpid() or not any(os.fsencode(folder) in word for word in words):
                continue
            if os.getpgid(pid) == pid:
                os.killpg(pid, signal.SIGKILL)
            else:
                os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    held = Path(sys.argv[1])
    sys.stdin.read()
    kill_all(held)
    shutil.rmtree(held, ignore_errors=True)
