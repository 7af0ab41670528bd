"""Processes of the project `shop` that land, one after the other, on one lake."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from tests.conftest import ROOT
from tests.kills.chain import QUICK, run_folder

BUILD = "from tidemark.cli.build import build_models; build_models(['--select', '{}'])"


class Reader:
    """Processes on one lake.

    Args:
        folder: an empty folder.
        environment: what they find in theirs besides.
    """

    def __init__(self, folder: Path, **environment: str) -> None:
        self._project = run_folder(folder / "project", "shop")
        self._warehouse = folder / "lake" / "warehouse"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TIDEMARK_")}
        self._environment = kept | {
            "PYTHONPATH": str(ROOT),
            "TIDEMARK_JAVA_OPTIONS": QUICK["TIDEMARK_JAVA_OPTIONS"],
            "TIDEMARK_LAKE": str(folder / "lake"),
            **environment,
        }

    def start(self, code: str, **environment: str) -> subprocess.Popen[str]:
        """Start a process that runs Python code, with more in its environment."""
        return subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=self._project,
            env=self._environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def commits(self, table: str) -> int:
        """Return how many commits a bronze table has."""
        return len(list(self._warehouse.glob(f"bronze.db/{table}/_delta_log/*.json")))

    def table(self, spark: SparkSession, name: str) -> DataFrame:
        """Read a table by its folder, as in `bronze.db/orders`."""
        return spark.read.format("delta").load(str(self._warehouse / name))


def kill(process: subprocess.Popen[str]) -> None:
    """SIGKILL to a process and its JVM."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
