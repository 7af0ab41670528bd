"""A standalone Spark cluster: a master and workers, each a process of the installed PySpark."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from dev.servers.programs import QUICK_JAVA, free_port
from tidemark.spark.server.common import scratch_folder, wait_until

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
PACKAGE = "org.apache.spark.deploy"


class SparkCluster:
    """A master and its workers, with one core and 2 GiB each.

    Args:
        folder: the folder of their logs and of the executors' files.
        workers: how many workers.

    Attributes:
        url: the master's URL, for `spark.master`.
    """

    def __init__(self, folder: Path, workers: int) -> None:
        self._folder, self._log = folder, folder / "master.log"
        port, self._page = free_port(), free_port()
        self.url = f"spark://127.0.0.1:{port}"
        settings = folder / "spark.properties"  # the watchdog finds the processes by the folder's name
        settings.write_text("spark.shuffle.service.enabled false\n", encoding="utf-8")
        self._settings = ["--properties-file", str(settings)]
        pages = ["--webui-port", f"{self._page}"]
        self._master = self._spawn("master", f"{PACKAGE}.master.Master", "--port", f"{port}", *pages)
        self._wait(0)
        self._workers = [self._worker(number) for number in range(workers)]
        self._wait(workers)

    def kill_busy_worker(self, seconds: float) -> None:
        """Kill the first worker that begins another task, with its executors, as a machine that fails.

        Args:
            seconds: how long to wait for a task.

        Raises:
            TimeoutError: if no task began.
        """
        before = [self._tasks_started(number) for number in range(len(self._workers))]
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for number, worker in enumerate(self._workers):
                if self._tasks_started(number) > before[number]:
                    _kill(worker)
                    wait_until(lambda: self.alive() == len(self._workers) - 1, self._master, self._log)
                    return
            time.sleep(0.1)
        raise TimeoutError(f"no task began within {seconds} seconds")

    def alive(self) -> int | None:
        """Return how many workers the master counts as alive; None if it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._page}/json/", timeout=5) as page:
                return int(json.load(page)["aliveworkers"])
        except (OSError, ValueError):
            return None

    def _tasks_started(self, number: int) -> int:
        """Return how many tasks the executors of a worker have begun, by their logs."""
        logs = (self._folder / f"work-{number}").glob("*/*/stderr")
        return sum(log.read_text(errors="replace").count("Executor: Running task") for log in logs)

    def stop(self) -> None:
        """Kill all processes."""
        for process in (*self._workers, self._master):
            _kill(process)

    def _worker(self, number: int) -> subprocess.Popen[bytes]:
        size = ["--cores", "1", "--memory", "2g", "--work-dir", f"{self._folder}/work-{number}"]
        return self._spawn(f"worker-{number}", f"{PACKAGE}.worker.Worker", *size, self.url)

    def _spawn(self, name: str, java_class: str, *words: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}
        environment["SPARK_DAEMON_JAVA_OPTS"] = " ".join(QUICK_JAVA)
        command = [str(SPARK_CLASS), java_class, "--host", "127.0.0.1", *self._settings, *words]
        with (self._folder / f"{name}.log").open("w") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)

    def _wait(self, workers: int) -> None:
        wait_until(lambda: self.alive() == workers, self._master, self._log)


def _kill(leader: subprocess.Popen[bytes]) -> None:
    """Kill a process and its children; it leads a group."""
    if leader.poll() is None:
        os.killpg(leader.pid, signal.SIGKILL)
    leader.wait()


@contextmanager
def spark_cluster(workers: int = 2) -> Iterator[SparkCluster]:
    """Start a cluster, and stop it at the end."""
    with scratch_folder() as folder:
        cluster = SparkCluster(folder, workers)
        try:
            yield cluster
        finally:
            cluster.stop()
