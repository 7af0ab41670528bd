"""The same tables on a cluster with an object store and a shared catalog, although a worker is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dev.servers.object_store import object_store
from dev.servers.postgresql import Postgres, postgres
from dev.servers.spark_cluster import SparkCluster, spark_cluster
from dev.simulators.user_events import simulate_user_events
from tests.conftest import ROOT, content_of
from tests.lakehouse.playing import FEED, STEPS, Found, Order, play
from tests.night import nightly

pytestmark = [pytest.mark.R1, pytest.mark.R2, nightly("cluster")]
TABLES = 6  # that dbt builds from the feed
PERSON = "u-0002"  # erased at the end
PATIENCE = 300  # seconds until a task of the late batch runs


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("user events")
    simulate_user_events(folder, days=4, events_per_day=150)
    return [str(path) for path in sorted(folder.glob("*.csv"))]


@pytest.fixture(scope="module")
def local(spark: SparkSession, files: list[str], tmp_path_factory: pytest.TempPathFactory) -> Found:
    """What the local target makes of the files."""
    raw = tmp_path_factory.mktemp("raw")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEMARK_SCHEMA", "played")
        patch.setenv("TIDEMARK_RAW", str(raw))
        return play(spark, files, raw / FEED, proves=False)


@pytest.fixture
def cluster() -> Iterator[SparkCluster]:
    with spark_cluster(workers=2) as started:
        yield started


def most_locks(database: Postgres, process: subprocess.Popen[str]) -> int:
    """Return how many tables the process has locked at once, while it runs."""
    most = 0
    with database.connect("metastore") as connection:
        while process.poll() is None:
            row = connection.execute("select count(*) from pg_locks where locktype = 'advisory'").fetchone()
            most = max(most, row[0] if row else 0)
            time.sleep(0.1)
    return most


def test_a_cluster_makes_the_same_tables(
    local: Found, files: list[str], cluster: SparkCluster, tmp_path: Path
) -> None:
    """R1.5, R2.3: files in an object store, catalog in PostgreSQL, a worker killed in mid-run; an erasure."""
    with object_store(tmp_path / "store") as store, postgres() as database:
        bucket = store.bucket("lakes")
        inbox, answer = str(bucket / "raw" / FEED), str(tmp_path / "found.json")
        order = Order(files, inbox, answer, erases=f"user_id={PERSON}")
        (tmp_path / "order.json").write_text(json.dumps(asdict(order)), encoding="utf-8")
        environment = os.environ | store.environment | {
            "DBT_TARGET": "cluster",
            "DBT_TARGET_PATH": str(tmp_path / "target"),
            "DBT_LOG_PATH": str(tmp_path / "logs"),
            "PYSPARK_SUBMIT_ARGS": f"{store.options} pyspark-shell",
            "TIDEMARK_ERASURE_KEY": "a secret of these tests",
            "TIDEMARK_LAKE": "s3a://lakes/demo",
            "TIDEMARK_MASTER": cluster.url,
            "TIDEMARK_METASTORE": database.create_database("metastore"),
            "TIDEMARK_RAW": "s3a://lakes/raw",
            "TIDEMARK_SCHEMA": "default",
        }  # fmt: skip
        command = [sys.executable, "-m", "tests.lakehouse.playing", str(tmp_path / "order.json")]
        with (tmp_path / "log").open("w") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=log, text=True
            )
            assert process.stdout
            killer = threading.Thread(target=cluster.kill_busy_worker, args=[PATIENCE])
            watcher = threading.Thread(target=lambda: most.append(most_locks(database, process)))
            most: list[int] = []
            watcher.start()
            for line in process.stdout:
                log.write(line)
                if line == f"step: {STEPS[1]}\n":
                    killer.start()
            assert process.wait() == 0, (tmp_path / "log").read_text()[-3000:]
        killer.join()
        watcher.join()
        found = Found(**json.loads(Path(order.found).read_text(encoding="utf-8")))
        assert (bucket / "demo" / "warehouse").is_dir()
        written = [path for path in (bucket / "demo").rglob("*") if path.is_file()]
        assert [path for path in written if PERSON in content_of(path)] == []
    assert cluster.alive() == 1
    assert most[0] >= TABLES
    assert set(found.differing.values()) == {0}
    assert found.written == local.written
    assert found.written[-1] == 0
    assert {table: len(rows) for table, rows in found.rows.items()} == {
        table: len(rows) for table, rows in local.rows.items()
    }
    assert found.rows == local.rows
