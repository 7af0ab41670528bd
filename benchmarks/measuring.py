"""Measure one dbt command or other work: its seconds, what Spark read for it, and its SQL statements."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from rich.console import Console

from tidemark.base.errors import DbtError, TidemarkError
from tidemark.engine.project.session import warm_session

ROOT = Path(__file__).resolve().parent.parent
LAKE = ROOT / "lake-benchmark"


@contextmanager
def plain_errors() -> Iterator[None]:
    """End the program with the message of an expected error."""
    try:
        yield
    except TidemarkError as error:
        Console(highlight=False, markup=False).print(f"Error: {error}")
        sys.exit(1)


@contextmanager
def scratch_session() -> Iterator[SparkSession]:
    """Open a warm session on the scratch lake; at the end stop it and delete the lake."""
    spark = warm_session(ROOT, empty=True)
    try:
        yield spark
    finally:
        spark.stop()
        shutil.rmtree(LAKE, ignore_errors=True)


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
    """The cost of one dbt command or another job.

    Attributes:
        seconds: wall time, including dbt's own start and parsing.
        cpu_seconds: processor time of Spark and this process, which stays the same on a busy machine.
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
        root: the repository.
        name: the project's folder.
        prefix: the prefix of its schemas.
        bronze: the schema of its source.
        scratch: the folder for dbt's files.
        target: the target of the project's profile; without it, profiles.yml of the repository is used.
        variables: more variables of the project.
    """

    spark: SparkSession
    root: Path
    name: str
    prefix: str
    bronze: str
    scratch: Path
    target: Mapping[str, Any] | None = None
    variables: Mapping[str, str] = field(default_factory=dict)

    def dbt(self, *arguments: str) -> Run:
        """Run a dbt command in this process.

        Raises:
            DbtError: when a node fails, or dbt cannot run.
        """
        from dbt.cli.main import dbtRunner

        os.environ["TIDEMARK_SCHEMA"] = self.prefix
        words = ["--quiet", "--log-level-file", "none", *arguments]
        words += where(self.root, self.name, self.scratch / self.prefix, self.target)
        words += ["--vars", json.dumps({"bronze": self.bronze, **self.variables})]
        outcomes: list[Any] = []
        run = cost_of(self.spark, lambda: outcomes.append(dbtRunner().invoke(words)))
        os.chdir(self.root)
        if not outcomes[0].success:
            raise DbtError(
                f"dbt {arguments[0]} of benchmarks/{self.name} did not succeed: "
                f"{outcomes[0].exception or ''}",
                "Read dbt's messages above.",
            )
        return run


def cost_of(spark: SparkSession, work: Callable[[], object]) -> Run:
    """Call `work`, and return its cost."""
    stages = StageReads(spark)
    with timed_statements() as statements:
        started, started_cpu = time.monotonic(), _cpu_seconds(spark)
        work()
        seconds, cpu_seconds = time.monotonic() - started, _cpu_seconds(spark) - started_cpu
    return Run(seconds, cpu_seconds, *stages.read_since(), statements)


def _cpu_seconds(spark: SparkSession) -> float:
    jvm: Any = spark.sparkContext._jvm
    spent = jvm.java.lang.ProcessHandle.current().info().totalCpuDuration().get().toMillis() / 1000
    return float(spent) + time.process_time()


def table_versions(spark: SparkSession, prefix: str) -> dict[str, int]:
    """Return the latest version of each Delta table in the schemas with a prefix."""
    found = {}
    for (schema,) in spark.sql(f"show schemas like '{prefix}_*'").collect():
        views = {row["viewName"] for row in spark.sql(f"show views in {schema}").collect()}
        for row in spark.sql(f"show tables in {schema}").collect():
            if row["tableName"] not in views:
                table = f"{schema}.{row['tableName']}"
                newest = spark.sql(f"describe history {table} limit 1").head()
                found[table] = -1 if newest is None else int(newest["version"])
    return found


def where(root: Path, name: str, scratch: Path, target: Mapping[str, Any] | None = None) -> list[str]:
    """Return the options of a dbt command that select a project of this folder.

    Args:
        root: the repository.
        name: the project's folder.
        scratch: the folder for dbt's files.
        target: the target of the project's profile; without it, profiles.yml of the repository is used.
    """
    profiles = root
    if target is not None:
        profiles = scratch / "profiles"
        profiles.mkdir(parents=True, exist_ok=True)
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
