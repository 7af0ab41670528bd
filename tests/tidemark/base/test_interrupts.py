"""Ctrl-C ends the process within seconds, and Spark's, in one sentence."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.R1

INTERRUPTED = "Interrupted. Committed data is safe; run the same command again to continue."
# a thread that waits, as dbt's for Spark, keeps a process from ending; a child stands for the JVM
WAITING = """
import multiprocessing, subprocess, sys, threading, time
import pyspark
from tidemark.cli import main as cli
from tidemark.base.output import output

class Gateway:
    proc = subprocess.Popen(["sleep", "600"])

pyspark.SparkContext._gateway = Gateway
dbts = multiprocessing.get_context("spawn").RLock()
output.as_json = "json" in sys.argv

def wait() -> None:
    threading.Thread(target=time.sleep, args=(600,)).start()
    threading.Thread(target=lambda: Gateway.proc.wait() and print("the other side has gone")).start()
    print(Gateway.proc.pid, flush=True)
    try:
        time.sleep(600)
    finally:
        time.sleep(600)  # dbt waits for its threads here

cli.app = wait
cli.main()
"""


def _interrupted(process: subprocess.Popen[str], within: float = 10) -> tuple[str, str]:
    process.send_signal(signal.SIGINT)
    started = time.monotonic()
    printed = process.communicate(timeout=60)
    assert time.monotonic() - started < within
    assert process.returncode == 130
    return printed


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_ctrl_c_ends_threads_and_spark(log_format: str) -> None:
    """R1.5: exit code 130 and a one-line message, while threads still wait for Spark."""
    command = [sys.executable, "-c", WAITING, log_format]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    jvm = int(process.stdout.readline())
    out, err = _interrupted(process)
    if log_format == "json":
        assert (json.loads(out), err) == ({"event": "interrupted", "message": INTERRUPTED}, "")
    else:
        assert (out, err.strip()) == ("", INTERRUPTED)
    with pytest.raises(ProcessLookupError):
        os.kill(jvm, 0)


@pytest.mark.spark
def test_ctrl_c_ends_plain_dbt(tmp_path: Path) -> None:
    """R1.5: dbt does not wait for a query that takes hours."""
    long = "select sum(a.id % 7) from range(100000000) as a cross join range(1000000) as b where a.id != b.id"
    command = [sys.executable, "-m", "dbt.cli.main", "show", "--inline", long]
    folders = {"TIDEMARK_LAKE": "lake", "DBT_TARGET_PATH": "target", "DBT_LOG_PATH": "logs"}
    variables = os.environ | {name: str(tmp_path / folder) for name, folder in folders.items()}
    process = subprocess.Popen(
        command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    log = tmp_path / "logs" / "dbt.log"
    deadline = time.monotonic() + 120
    while not (log.exists() and re.search(r"a.id != b.id\s+limit 5", log.read_text())):
        assert time.monotonic() < deadline
        time.sleep(0.5)
    time.sleep(3)  # the query is running
    out, err = _interrupted(process)
    assert err.splitlines()[-1] == INTERRUPTED
    assert "CANCEL" not in out + err
    assert "Traceback" not in out + err
