"""The targets `connect` and, at night, `thrift`: dbt in a process without Spark builds the same tables."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dev.servers.programs import free_port
from dev.servers.spark_thrift import spark_thrift
from tests.conftest import ROOT
from tests.lakehouse.conftest import FIXTURES, FixtureProject
from tests.lakehouse.histories import BATCHES, SCHEMA, random_history
from tests.night import is_night
from tidemark.lake.table_format import append, location_of
from tidemark.operate.report.reading import read_report
from tidemark.project_with_feeds import ProjectWithFeeds
from tidemark.spark.server.connect import address_of, spark_connect
from tidemark.spark.settings import embedded_settings

pytestmark = [pytest.mark.R1, pytest.mark.R2]
# by table, the columns that are compared; a snapshot's times are those of its run
TABLES = {
    **dict.fromkeys(("entities", "part_totals", "value_counts", "names"), "*"),
    "counts_kept": "id, entities, dbt_valid_to is null as is_valid",
}
LEFT_OUT = ("first_values", "bucketed")  # embedded tests try them; each statement here takes its time
FEW_ROWS = {
    "spark.driver.memory": "1g",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}


@dataclass(frozen=True)
class Server:
    """A server with a lake of its own.

    Attributes:
        target: the target of profiles.yml.
        folder: the folder of its lake, and of what dbt writes.
        environment: the environment variables of its clients.
        run: runs SQL.
    """

    target: str
    folder: Path
    environment: dict[str, str]
    run: Callable[[str], Any]

    def dbt(self, command: str) -> None:
        """Run a command of dbt in a process of its own."""
        words = [sys.executable, "-m", "dbt.cli.main", command, "--target", self.target]
        words += [
            "--exclude",
            *LEFT_OUT,
            "--project-dir",
            str(FIXTURES / "histories"),
            "--profiles-dir",
            str(ROOT),
        ]
        folders = {"DBT_TARGET_PATH": str(self.folder / "target"), "DBT_LOG_PATH": str(self.folder / "logs")}
        environment = {**os.environ, **self.environment, **folders, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def differing(self, spark: SparkSession, prefix: str) -> dict[str, int]:
        """Return the number of differing rows of each table that is not the same as in a session."""
        found = {}
        for name, columns in TABLES.items():
            path = self.folder / "lake" / "warehouse" / f"{prefix}_silver.db" / name
            ours = spark.sql(f"select {columns} from {prefix}_silver.{name}")
            theirs = spark.sql(f"select {columns} from delta.`{path}`")
            number = ours.exceptAll(theirs).count() + theirs.exceptAll(ours).count()
            if number or ours.schema.simpleString() != theirs.schema.simpleString():
                found[name] = number
        return found

    def commits(self) -> dict[str, int]:
        """Return the number of commits of each table, those of the state tables too."""
        logs = (self.folder / "lake" / "warehouse").glob("*/*/_delta_log")
        return {str(log.parent.name): len([*log.glob("*.json")]) for log in logs}


@contextmanager
def connect(folder: Path) -> Iterator[Server]:
    """Start a Spark Connect server."""
    from pyspark.sql.connect.session import SparkSession as Session

    port = free_port()
    with spark_connect(_settings(folder), port):
        session = Session.builder.remote(address_of(port)).create()
        yield Server("connect", folder, {"TIDEMARK_CONNECT": address_of(port)}, session.sql)
        session.stop()


@contextmanager
def thrift(folder: Path) -> Iterator[Server]:
    """Start a Thrift server."""
    from pyhive import hive

    port = free_port()
    with spark_thrift(_settings(folder), port), hive.connect("127.0.0.1", port, auth="NONE") as connection:
        yield Server("thrift", folder, {"TIDEMARK_THRIFT_PORT": str(port)}, connection.cursor().execute)


def _settings(folder: Path) -> dict[str, str]:
    with pytest.MonkeyPatch.context() as there:
        there.setenv("TIDEMARK_LAKE", str(folder / "lake"))
        return embedded_settings("delta") | FEW_ROWS


@pytest.mark.R4
def test_servers_build_what_an_embedded_spark_builds(
    spark: SparkSession, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R2.2, R4.4: a first batch, late rows, nothing new; all read the same landed table.

    A build has models in macros and in plain SQL, data tests, a seed with hostile texts, and a snapshot.
    """
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    local = FixtureProject(spark, "histories", prefix)
    landed = local.create_source("histories_in", SCHEMA)
    chance = random.Random(7)
    rows = [row for number in range(40) for row in random_history(number, chance)]
    kinds = {"connect": connect, "thrift": thrift} if is_night("thrift") else {"connect": connect}
    with ExitStack() as started:
        servers = [started.enter_context(start(tmp_path / name)) for name, start in kinds.items()]
        for server in servers:
            server.run(f"create schema {prefix}_bronze")
            server.run(f"create table {landed} using delta location '{location_of(spark, landed)}'")
        for command, first, last in (("build", 1, BATCHES - 2), ("run", BATCHES - 1, BATCHES)):
            arrived = [tuple(row) for row in rows if first <= row.batch <= last]
            append(spark.createDataFrame(arrived, SCHEMA).coalesce(1), landed)
            assert local.dbt(command, "--exclude", *LEFT_OUT).failed == []
            _on_each(servers, command)
            differing = {server.target: server.differing(spark, prefix) for server in servers}
            assert differing == {name: {} for name in kinds}
        commits = [server.commits() for server in servers]
        _on_each(servers, "run")
        assert [server.commits() for server in servers] == commits, "nothing was new"
        _report_on(servers[0], local, tmp_path)


def _report_on(server: Server, local: FixtureProject, folder: Path) -> None:
    """Read a report by Spark Connect, where there is no JVM to ask."""
    session, ops, table = server.run("select 1").sparkSession, f"{local.prefix}_ops", local.table("entities")
    project = ProjectWithFeeds(ROOT, ops, (table,), local.manifest())
    report = read_report(session, project, folder / "report.html", days=1)
    assert report.run_count == session.table(f"{ops}.runs").count()
    assert {size.table for size in report.sizes} == {table, f"{ops}.runs"}
    assert sum(one.runs for one in report.model_periods) == session.table(f"{ops}.model_runs").count()


def _on_each(servers: Sequence[Server], command: str) -> None:
    """Run a command of dbt on each server, at the same time."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda server: server.dbt(command), servers))
