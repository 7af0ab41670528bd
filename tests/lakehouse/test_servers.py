"""The targets `connect` and `thrift`: dbt in a process without Spark builds the same tables on a server."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from python_ingest.adapter.settings import embedded_settings
from python_ingest.lake.table_format import append, location_of
from python_ingest.servers.common import free_port
from python_ingest.servers.spark_connect import address_of, spark_connect
from python_ingest.servers.spark_thrift import spark_thrift
from tests.conftest import ROOT
from tests.lakehouse.conftest import FIXTURES, FixtureProject
from tests.lakehouse.histories import BATCHES, SCHEMA, random_history

pytestmark = [pytest.mark.R1, pytest.mark.R2]
# by table, the columns that are compared; a snapshot's times are those of its run
TABLES = {
    **dict.fromkeys(("entities", "first_values", "part_totals", "value_counts", "bucketed", "names"), "*"),
    "counts_kept": "id, entities, dbt_valid_to is null as is_valid",
}
FEW_ROWS = {
    "spark.driver.memory": "1g",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}
Run = Callable[[str], Any]


@contextmanager
def connect(settings: dict[str, str]) -> Iterator[tuple[dict[str, str], Run]]:
    """Start a Spark Connect server; yield the environment of its clients, and a function that runs SQL."""
    from pyspark.sql.connect.session import SparkSession as Session

    port = free_port()
    with spark_connect(settings, port):
        session = Session.builder.remote(address_of(port)).create()
        yield {"TIDEMARK_CONNECT": address_of(port)}, session.sql
        session.stop()


@contextmanager
def thrift(settings: dict[str, str]) -> Iterator[tuple[dict[str, str], Run]]:
    """The same for a Thrift server."""
    from pyhive import hive

    port = free_port()
    with spark_thrift(settings, port), hive.connect("127.0.0.1", port, auth="NONE") as connection:
        yield {"TIDEMARK_THRIFT_PORT": str(port)}, connection.cursor().execute


@pytest.mark.R4
@pytest.mark.parametrize("server", [connect, thrift])
def test_a_server_builds_what_an_embedded_spark_builds(
    server: Callable[[dict[str, str]], Any],
    spark: SparkSession,
    prefix: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """R2.2, R4.4: a first batch, late rows, nothing new; both read the same landed table.

    A build has models in macros and in plain SQL, data tests, a seed with hostile texts, and a snapshot.
    """
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    local = FixtureProject(spark, "histories", prefix)
    landed = local.create_source("histories_in", SCHEMA)
    with monkeypatch.context() as there:
        there.setenv("TIDEMARK_LAKE", str(tmp_path / "lake"))
        settings = embedded_settings("delta") | FEW_ROWS
    chance = random.Random(7)
    rows = [row for number in range(40) for row in random_history(number, chance)]
    with server(settings) as (environment, run):
        run(f"create schema {prefix}_bronze")
        run(f"create table {landed} using delta location '{location_of(spark, landed)}'")
        for first, last in ((1, BATCHES - 2), (BATCHES - 1, BATCHES)):
            arrived = [tuple(row) for row in rows if first <= row.batch <= last]
            append(spark.createDataFrame(arrived, SCHEMA).coalesce(1), landed)
            assert local.dbt("build").failed == []
            said = _dbt(server.__name__, environment, tmp_path, "build")
            assert _differing(spark, tmp_path, prefix) == {}, said
        versions = _versions(tmp_path)
        _dbt(server.__name__, environment, tmp_path, "run")
        assert _versions(tmp_path) == versions, "nothing was new"


def _dbt(target: str, environment: dict[str, str], folder: Path, command: str) -> str:
    """Run a command of dbt on a target in a process of its own."""
    words = [sys.executable, "-m", "dbt.cli.main", command, "--target", target, "--profiles-dir", str(ROOT)]
    done = subprocess.run(
        [*words, "--project-dir", str(FIXTURES / "histories"), "--target-path", str(folder / "target")],
        env={**os.environ, **environment, "DBT_LOG_PATH": str(folder / "logs"), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _differing(spark: SparkSession, folder: Path, prefix: str) -> dict[str, int]:
    """Return the number of differing rows of each table that is not the same on the server."""
    found = {}
    for name, columns in TABLES.items():
        ours = spark.sql(f"select {columns} from {prefix}_silver.{name}")
        warehouse = folder / "lake" / "warehouse"
        path = warehouse / f"{prefix}_silver.db" / name
        theirs = spark.sql(f"select {columns} from delta.`{path}`")
        number = ours.exceptAll(theirs).count() + theirs.exceptAll(ours).count()
        if number or ours.schema.simpleString() != theirs.schema.simpleString():
            found[name] = number
    return found


def _versions(folder: Path) -> dict[str, int]:
    """Return the number of commits of each table on the server, those of the state tables too."""
    logs = (folder / "lake" / "warehouse").glob("*/*/_delta_log")
    return {str(log.parent.name): len([*log.glob("*.json")]) for log in logs}
