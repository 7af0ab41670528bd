"""Locks of tables in a shared catalog: processes on the same table, on others, killed, and cut off."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import date

import pytest
from pyspark.sql import SparkSession

from dev.servers.postgresql import Postgres, postgres
from tests.conftest import ROOT
from tidemark.base.errors import LakeBusyError, TidemarkError
from tidemark.cli.maintain import maintain_tables
from tidemark.engine.project import Project
from tidemark.lake.metastore import METASTORE
from tidemark.lake.retention import Kept
from tidemark.lake.table_locks import LOST, PAUSE, WAIT, lock_tables, locked, unlock_tables
from tidemark.operate.doctor.catalog import check_catalog
from tidemark.operate.doctor.subject import Subject

pytestmark = pytest.mark.R4
HOLDER = """
import sys
from tidemark.lake.table_locks import lock_tables
lock_tables(sys.argv[1:])
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with postgres() as started:
        started.create_database("metastore")
        yield started


@pytest.fixture
def shared(server: Postgres, monkeypatch: pytest.MonkeyPatch) -> Postgres:
    monkeypatch.setenv(METASTORE, server.url("metastore"))
    return server


def holder(*tables: str) -> subprocess.Popen[str]:
    """Start a process that locks tables and waits for the end of its input."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, *tables],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert process.stdout
    assert process.stdout.readline() == "locked\n"
    return process


def test_two_processes_share_the_lake_but_not_a_table(shared: Postgres) -> None:
    """R4.5: disjoint tables proceed; for the same table the message names the other process."""
    other = holder("gold.a", "gold.b")
    with locked("gold.c"), pytest.raises(LakeBusyError, match=rf"gold\.b is held by process {other.pid} on "):
        lock_tables(["silver.x", "gold.b"])
    probe = holder("silver.x", "gold.c")  # a refused command keeps nothing
    probe.communicate("")
    other.kill()
    other.wait()
    with locked("gold.a", "gold.b", seconds=60):  # as soon as the server sees that the process is gone
        pass


def test_threads_of_a_process_share_its_locks(shared: Postgres) -> None:
    """R4.5: feeds that land side by side hold the state tables; other processes wait for the last of them."""
    first, second = lock_tables(["gold.a", "gold.b"]), lock_tables(["gold.a"])
    unlock_tables(first)
    other = holder("gold.b")
    with pytest.raises(LakeBusyError, match=r"gold\.b is held"):
        lock_tables(["gold.a", "gold.b"])  # it keeps its first lock of gold.a, and not a second
    other.communicate("")
    refused = subprocess.run(
        [sys.executable, "-c", HOLDER, "gold.a"], check=False, capture_output=True, text=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert f"gold.a is held by process {os.getpid()} on " in refused.stderr
    unlock_tables(second)
    holder("gold.a").communicate("")


def test_maintenance_leaves_out_a_table_that_another_process_writes(
    shared: Postgres, spark: SparkSession, prefix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """R4.4: it maintains the others, and says at the end who held which."""
    spark.sql(f"create schema {prefix}_gold")
    tables = (f"{prefix}_gold.busy", f"{prefix}_gold.free")
    for table in tables:
        for number in range(2):
            spark.range(number, number + 1).coalesce(1).write.mode("append").saveAsTable(table)
    other = holder(tables[0])
    with pytest.raises(TidemarkError, match=rf"{tables[0]} is held by process {other.pid} on "):
        maintain_tables(spark, Project(ROOT, f"{prefix}_ops", tables), [], Kept())
    other.kill()
    other.wait()
    shown = capsys.readouterr().out
    assert f"{tables[1]} " in shown
    assert "2 files into 1" in shown
    assert tables[0] not in shown


def test_a_command_waits_for_the_configured_time(shared: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is free as soon as the other process ends."""
    other = holder("gold.a")
    monkeypatch.setenv(WAIT, "60")
    ender = subprocess.Popen(["/bin/sh", "-c", f"sleep 1; kill -9 {other.pid}"])
    unlock_tables(lock_tables(["gold.a"]))
    other.wait()
    ender.wait()
    monkeypatch.setenv(WAIT, "soon")
    with pytest.raises(TidemarkError, match=f"{WAIT} is 'soon'"):
        lock_tables(["gold.a"])


def test_a_command_that_loses_its_locks_stops(shared: Postgres) -> None:
    """Another process may take them at once, so nothing may be written any more."""
    other = holder("gold.a")
    with shared.connect() as connection:
        connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name like %s",
            [f"process {other.pid} %"],
        )
    assert other.wait(60) == LOST
    assert other.stderr
    assert "the locks with it" in other.stderr.read()


def test_a_process_without_locks_connects_again(shared: Postgres) -> None:
    """A database that restarts between two runs of one process does not matter."""
    with locked("gold.a"):
        pass
    with shared.connect() as connection:
        query = "select pg_terminate_backend(pid) from pg_stat_activity where application_name like %s"
        connection.execute(query, [f"process {os.getpid()} %"])
    time.sleep(2 * PAUSE)
    with locked("gold.a"):
        pass


def test_a_database_that_does_not_answer(server: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong and where to look, without the password."""
    monkeypatch.setenv(METASTORE, server.url("nowhere", password="wrong one"))  # noqa: S106
    with pytest.raises(TidemarkError, match="does not answer") as caught:
        lock_tables(["gold.a"])
    assert METASTORE in str(caught.value)
    assert "wrong" not in str(caught.value)
    monkeypatch.setenv(METASTORE, "mysql://user:secret@host/db")
    with pytest.raises(TidemarkError, match=f"{METASTORE} is not a URL") as caught:
        lock_tables(["gold.a"])
    assert "secret" not in str(caught.value)


def test_the_doctor_says_who_has_locked_which_tables(
    shared: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables of the project by name; a database that does not answer is an error, without the password."""
    subject = Subject(date(2026, 11, 1), root=ROOT, tables=("gold.a", "gold.b"))
    assert check_catalog(subject).findings == ()
    other = holder("gold.a", "elsewhere.table")
    (finding,) = check_catalog(subject).findings
    assert finding.message.startswith(f"process {other.pid} on ")
    assert sorted(finding.message.partition(" has locked ")[2].rstrip(".").split(", ")) == [
        "a table of another project",
        "gold.a",
    ]
    other.kill()
    other.wait()
    monkeypatch.setenv(METASTORE, shared.url("metastore", password="wrong one"))  # noqa: S106
    (finding,) = check_catalog(subject).findings
    assert finding.message.startswith("The shared catalog's database does not answer")
    assert "wrong" not in finding.message


def test_one_process_needs_no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a catalog in files, the lake is locked as a whole."""
    monkeypatch.delenv(METASTORE, raising=False)
    assert lock_tables(["gold.a"]) == []
