"""Measure one dbt command: its seconds, what Spark read for it, and the tables that it changed."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from python_ingest.adapter.settings import embedded_settings
from python_ingest.errors import DbtError

STOCK = "stock"  # the project that uses only dbt-spark


@dataclass
class Statement:
    """An SQL statement and its duration."""

    sql: str
    seconds: float = 0.0

    def __str__(self) -> str:
        """Return the seconds, the dbt node and the beginning of the statement."""
        return f"{self.seconds:6.2f} s  {self.node:<36}  {self.text[:160]}"

    @property
    def node(self) -> str:
        """The dbt node of the statement, such as `model.shop.orders`; empty if dbt does not name one."""
        node = re.search(r'"node_id": "(\w+\.\w+\.\w+)', self.sql)
        return node.group(1) if node else ""

    @property
    def text(self) -> str:
        """The statement on one line, without comments."""
        return " ".join(re.sub(r"/\*.*?\*/|^ *--.*?$", "", self.sql, flags=re.S | re.M).split())


@dataclass
class Run:
    """The cost of one dbt command.

    Attributes:
        seconds: wall time of the command, including dbt's own start and parsing.
        cpu_seconds: processor time of Spark and dbt, which stays the same on a busy machine.
        bytes_read: bytes that Spark's tasks read from files and from its cache.
        rows_read: rows that Spark's tasks read from files.
        statements: all SQL statements.
    """

    seconds: float
    cpu_seconds: float
    bytes_read: int
    rows_read: int
    statements: list[Statement]


@dataclass
class BenchmarkProject:
    """A dbt project of this folder, with its own schemas.

    Attributes:
        spark: the warm session, which dbt also uses.
        root: the repository; its profiles.yml is used, with dbt-spark's adapter for the stock project.
        name: the project's folder.
        prefix: the prefix of its schemas.
        bronze: the schema of its source.
        scratch: the folder for dbt's files.
    """

    spark: SparkSession
    root: Path
    name: str
    prefix: str
    bronze: str
    scratch: Path

    def dbt(self, *arguments: str) -> Run:
        """Run a dbt command in this process.

        Raises:
            DbtError: when a node fails, or dbt cannot run.
        """
        from dbt.cli.main import dbtRunner

        os.environ["TIDEMARK_SCHEMA"] = self.prefix
        variables = ["--vars", f"{{bronze: {self.bronze}}}"]
        words = [*where(self.root, self.name, self.scratch / self.prefix), *variables]
        stages = StageReads(self.spark)
        with timed_statements() as statements:
            started, started_cpu = time.monotonic(), self._cpu_seconds()
            outcome: Any = dbtRunner().invoke(["--quiet", "--log-level-file", "none", *arguments, *words])
            seconds, cpu_seconds = time.monotonic() - started, self._cpu_seconds() - started_cpu
        os.chdir(self.root)
        if not outcome.success:
            raise DbtError(
                f"dbt {arguments[0]} of benchmarks/{self.name} did not succeed: {outcome.exception or ''}",
                "Read dbt's messages above.",
            )
        bytes_read, rows_read = stages.read_since()
        return Run(seconds, cpu_seconds, bytes_read, rows_read, statements)

    def _cpu_seconds(self) -> float:
        jvm: Any = self.spark.sparkContext._jvm
        spark = jvm.java.lang.ProcessHandle.current().info().totalCpuDuration().get().toMillis() / 1000
        return float(spark) + time.process_time()

    def versions(self) -> dict[str, int]:
        """Return the latest version of each table of the project."""
        found = {}
        for (schema,) in self.spark.sql(f"show schemas like '{self.prefix}_*'").collect():
            views = {row["viewName"] for row in self.spark.sql(f"show views in {schema}").collect()}
            for row in self.spark.sql(f"show tables in {schema}").collect():
                if row["tableName"] not in views:
                    table = f"{schema}.{row['tableName']}"
                    newest = self.spark.sql(f"describe history {table} limit 1").head()
                    found[table] = -1 if newest is None else int(newest["version"])
        return found


def where(root: Path, name: str, scratch: Path) -> list[str]:
    """Return the options of a dbt command that select a project of this folder.

    Args:
        root: the repository.
        name: the project's folder.
        scratch: the folder for dbt's files.
    """
    profiles = root
    if name == STOCK:
        profiles = scratch / "profiles"
        profiles.mkdir(parents=True, exist_ok=True)
        target = {"type": "spark", "method": "session", "host": "localhost", "threads": 2}
        target |= {
            "schema": os.environ["TIDEMARK_SCHEMA"],
            "server_side_parameters": embedded_settings("delta"),
        }
        profile = {"tidemark": {"target": "local", "outputs": {"local": target}}}
        (profiles / "profiles.yml").write_text(json.dumps(profile), encoding="utf-8")
    folders = {
        "--project-dir": root / "benchmarks" / name,
        "--profiles-dir": profiles,
        "--target-path": scratch / "target",
        "--log-path": scratch / "logs",
    }
    return [word for option, folder in folders.items() for word in (option, str(folder))]


@dataclass
class StageReads:
    """The reads of Spark's stages since this object was created, from the store that Spark's UI uses."""

    spark: SparkSession
    _last: int = field(init=False)

    def __post_init__(self) -> None:
        self._last = max((stage.stageId() for stage in self._stages()), default=-1)

    def read_since(self) -> tuple[int, int]:
        """Return the bytes and rows read."""
        stages = [stage for stage in self._stages() if stage.stageId() > self._last]
        return sum(stage.inputBytes() for stage in stages), sum(stage.inputRecords() for stage in stages)

    def _stages(self) -> Iterator[Any]:
        context: Any = self.spark.sparkContext
        context._jsc.sc().listenerBus().waitUntilEmpty()
        empty = context._gateway.new_array(context._jvm.double, 0)
        nothing = context._jvm.java.util.ArrayList()
        stages = context._jsc.sc().statusStore().stageList(nothing, False, False, empty, nothing)
        return (stages.apply(number) for number in range(stages.size()))


@contextmanager
def timed_statements() -> Iterator[list[Statement]]:
    """Collect all SQL statements of dbt-spark's session with their seconds, including the fetch."""
    from dbt.adapters.spark.session import SessionConnectionWrapper as Session

    statements: list[Statement] = []
    latest: dict[int, Statement] = {}
    execute, fetchall = Session.execute, Session.fetchall

    def timed_execute(session: Session, sql: str, *parameters: Any) -> None:
        statement = latest[id(session)] = Statement(sql)
        statements.append(statement)
        started = time.monotonic()
        try:
            execute(session, sql, *parameters)
        finally:
            statement.seconds += time.monotonic() - started

    def timed_fetchall(session: Session) -> Any:
        started = time.monotonic()
        try:
            return fetchall(session)
        finally:
            latest[id(session)].seconds += time.monotonic() - started

    Session.execute, Session.fetchall = timed_execute, timed_fetchall  # type: ignore[method-assign, assignment]
    try:
        yield statements
    finally:
        Session.execute, Session.fetchall = execute, fetchall  # type: ignore[method-assign]
