"""Servers that tests start end with the test process, even where that is killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT

HOLDER = """
import subprocess, sys
from pathlib import Path
from tidemark.spark.server.watchdog import watchdog
with watchdog(Path(sys.argv[1])):
    server = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", sys.argv[1] + "/data"])
    print(server.pid, flush=True)
    server.wait()
"""


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="a watchdog needs Linux's /proc")
def test_a_server_ends_with_its_test_process(tmp_path: Path) -> None:
    """No process stays behind, and no folder."""
    folder = tmp_path / "a server"
    folder.mkdir()
    command = [sys.executable, "-c", HOLDER, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT) as holder:
        assert holder.stdout
        server = int(holder.stdout.readline())
        holder.send_signal(signal.SIGKILL)
    until = time.monotonic() + 30
    while (folder.exists() or _runs(server)) and time.monotonic() < until:
        time.sleep(0.05)
    assert (folder.exists(), _runs(server)) == (False, False)


def _runs(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
