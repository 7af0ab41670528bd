"""Ends what was started in a folder when the process that started it ends, however it ends.

A test process that is killed or interrupted runs no clean-up. The leash is a process beside it that waits for
the end of its standard input, a pipe that the kernel closes with the test process. Linux only: it looks for
the folder in the command lines of /proc.
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
def leash(folder: Path) -> Iterator[None]:
    """Hold a folder: if this process ends inside, processes that name the folder are killed and it is deleted."""
    command = [sys.executable, str(Path(__file__).resolve()), str(folder)]
    watcher = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    try:
        yield
    finally:
        watcher.kill()
        watcher.communicate()


def kill_all(folder: Path) -> None:
    """Kill each process with the folder in its command line, and its group where it leads one."""
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
