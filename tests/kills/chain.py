"""A chain of killed runs on one lake: each process recovers from the last kill, and is killed in turn."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter, deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from dev.servers.object_store import ObjectStore
from tests.conftest import FEW_ROWS, QUICK_COMPILER, ROOT
from tests.kills.killed_run import NEVER_REACHED, Order
from tests.kills.people import Row, expected_tables, write_file
from tests.kills.points import Files, Point, warehouse_of

PATIENCE = 1800  # seconds for one process, many times what it takes: the machine may be busy
TIMED_OUT = 124
MAX_ROWS_SHOWN = 8
QUICK = {"TIDEMARK_JAVA_OPTIONS": QUICK_COMPILER, "PYSPARK_SUBMIT_ARGS": FEW_ROWS}


@dataclass
class Link:
    """A kill and the run after it.

    Attributes:
        missed: why the kill does not count, or empty.
        wrong: what the tables hold too much, too little or otherwise after one more run, a line each.
    """

    missed: str = ""
    wrong: list[str] = field(default_factory=list)


class Chain:
    """Kills runs at the points of a queue, which other chains may share.

    Args:
        folder: an empty folder for the run folder and the lakes.
        queue: the points; those of a first run come first.
        links: where the outcomes go.
        own: points for this chain alone, after which it takes those of the queue.
        store: where the raw files are; None for a folder.
        target: dbt's target, `local` or `iceberg`.
    """

    def __init__(
        self,
        folder: Path,
        queue: deque[Point],
        links: dict[Point, Future[Link]],
        own: deque[Point],
        store: ObjectStore | None,
        *,
        target: str = "local",
    ) -> None:
        self._folder = folder
        self._own = own
        self._store = store
        self._target = target
        self._project = run_folder(folder / "project", "killed")
        self._queue = queue
        self._links = links
        self._processes = 0
        self._process: subprocess.Popen[str] | None = None
        self._start_lake()

    def run(self) -> None:
        """Run until the queue is empty and the last kill recovered from."""
        while True:
            try:
                point = (self._own or self._queue).popleft()
            except IndexError:
                point = None
            if point is None and self._pending is None:
                return
            self._advance(point)

    def stop(self) -> None:
        """End what runs."""
        self._queue.clear()
        self._own.clear()
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)

    def _start_lake(self) -> None:
        self._lake = self._folder / f"lake {self._processes}"
        self._raw, self._location = self._lake / "raw", str(self._lake / "raw")
        if self._store is not None:
            bucket = f"lake-{self._processes}"
            self._raw, self._location = self._store.bucket(bucket) / "raw", f"s3a://{bucket}/raw"
        self._raw.mkdir(parents=True)
        self._sent = 0
        self._pending: Point | None = None

    def _advance(self, point: Point | None) -> None:
        """Run one process: it recovers from the last kill, and is killed at the point if there is one."""
        killed_before, self._pending = self._pending, None
        first_run = point is not None and point.first_run
        if not first_run and (not self._sent or (killed_before is not None and killed_before.more_comes)):
            self._send()
        number = 1 if first_run else self._sent + 1
        result, reached = (self._folder / f"{self._processes} {what}.json" for what in ("result", "reached"))
        name = None if point is None else point.name
        order = Order(not first_run, name, number, str(self._raw), str(result), str(reached))
        returncode, output = self._run(order)
        missed = "" if point is None else self._missed(point, reached, returncode, output)
        if killed_before is not None:
            failed = ["the next run failed:", output] if missed else []
            wrong = failed if first_run else _wrong(result, expected_tables(self._sent), output)
            self._links[killed_before].set_result(Link(wrong=wrong))
            if wrong and point is not None:
                queue = self._own if point.from_store or point.on_iceberg else self._queue
                queue.appendleft(point)  # for a lake that is sound
                self._start_lake()
                return
        if point is not None and missed:
            self._links[point].set_result(Link(missed))
            self._start_lake()
        elif point is not None:
            self._sent, self._pending = number, point

    def _send(self) -> None:
        self._sent += 1
        write_file(self._raw, self._sent)

    def _run(self, order: Order) -> tuple[int, str]:
        self._processes += 1
        path = self._folder / f"{self._processes} order.json"
        order.save(path)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TIDEMARK_")}
        environment |= QUICK | {"PYTHONPATH": str(ROOT)}
        environment |= {"TIDEMARK_LAKE": str(self._lake), "TIDEMARK_RAW": self._location}
        environment |= {"DBT_TARGET": self._target}
        if self._store:
            submit = f"{self._store.options} {QUICK['PYSPARK_SUBMIT_ARGS']}"
            environment |= self._store.environment | {"PYSPARK_SUBMIT_ARGS": submit}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.kills.killed_run", str(path)],
            cwd=self._project,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            # the JVM holds the pipe too: its end means that all of the group are gone
            output, _ = self._process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            return TIMED_OUT, f"not ended after {PATIENCE} s"
        return self._process.returncode, "\n".join(output.splitlines()[-30:])

    def _missed(self, point: Point, reached: Path, returncode: int, output: str) -> str:
        """Say why the process was not killed at its point, if it was not."""
        if returncode == NEVER_REACHED:
            return f"the run ended before it reached the point:\n{output}"
        if returncode != -signal.SIGKILL or not reached.exists():
            return f"the process ended with {returncode} before its point:\n{output}"
        before = {name: set(found) for name, found in json.loads(reached.read_text("utf-8")).items()}
        now = Files.of(warehouse_of(self._lake, self._target), point.table)
        if point.when == "writing" and not (now.data > before["data"] and now.commits == before["commits"]):
            return f"killed too late: {sorted(now.commits - before['commits'])} was committed"
        if point.when == "committed" and not now.commits > before["commits"]:
            return "killed too early: nothing was committed"
        return ""


def run_folder(folder: Path, fixture: str) -> Path:
    """Make a small project of the real project's settings and macros, and of the models of a fixture."""
    folder.mkdir(parents=True)
    for name in ("dbt_project.yml", "profiles.yml", "macros", ".jars"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "models").symlink_to(ROOT / "tests/fixtures" / fixture / "models")
    return folder


def _wrong(result: Path, expected: dict[str, Counter[Row]], output: str) -> list[str]:
    """Compare what the tables were told to hold with what they must hold."""
    if not result.exists():
        return ["the next run failed:", output]
    tables = json.loads(result.read_text(encoding="utf-8"))
    wrong = []
    for table, rows in expected.items():
        found = Counter(tuple(row) for row in tables["rows"].get(table, []))
        for row in sorted(set(found) | set(rows), key=str):
            if found[row] != rows[row]:
                what = "lost" if not found[row] else "doubled" if rows[row] else "not expected"
                wrong.append(f"{table:<20} {what:<12} {found[row]} of {rows[row]} × {row}")
    proofs = [
        f"{table:<20} verify says {message}" for table, message in tables["differing"].items() if message
    ]
    return (
        wrong[:MAX_ROWS_SHOWN]
        + ([f"… {len(wrong)} rows in all"] if len(wrong) > MAX_ROWS_SHOWN else [])
        + proofs
    )
