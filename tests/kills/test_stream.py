"""R5.1: a reader is killed, and the broker; at night twice, and a worker of the cluster that runs last, too.

Each message is in bronze once, and silver and gold are right.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dev.servers.kafka import Kafka, kafka
from dev.servers.spark_cluster import SparkCluster, spark_cluster
from tests.kills.reader import Reader, kill
from tests.kills.stream import LAND, RUN, check, send
from tests.night import is_night

pytestmark = pytest.mark.R5
MESSAGES = 1_000_000 if is_night("stream") else 100_000
KILLED_AT = (2, 3) if is_night("stream") else (2,)  # commits; the first one makes the table
PATIENCE = 600


@pytest.fixture
def broker() -> Iterator[Kafka]:
    with kafka() as started:
        yield started


@pytest.fixture
def cluster() -> Iterator[SparkCluster | None]:
    """Two workers, at night only."""
    if not is_night("stream"):
        yield None
        return
    with spark_cluster(workers=2) as started:
        yield started


def test_killed_readers_a_restarted_broker_and_a_killed_worker(
    spark: SparkSession, broker: Kafka, cluster: SparkCluster | None, tmp_path: Path
) -> None:
    """R5.1, R5.2: counts and content are exact in bronze, silver and gold."""
    sent = tmp_path / "sent.json"
    send(broker, sent, MESSAGES)
    reader = Reader(tmp_path, TIDEMARK_CONNECTION_STREAM=broker.url)
    for wanted in KILLED_AT:
        process = reader.start(LAND)
        until = time.monotonic() + PATIENCE
        while (
            reader.commits("device_events") < wanted and process.poll() is None and time.monotonic() < until
        ):
            time.sleep(0.02)
        assert process.poll() is None, process.communicate()[0][-3000:]
        time.sleep(0.15 * wanted)  # in the middle of the next batch
        kill(process)
        if wanted == KILLED_AT[-1]:
            broker.stop()
            broker.start()
    environment = {"DBT_TARGET": "cluster", "TIDEMARK_MASTER": cluster.url} if cluster else {}
    done = reader.start(RUN, **environment)
    if cluster:
        cluster.kill_busy_worker(PATIENCE)
    output, _ = done.communicate(timeout=PATIENCE)
    assert done.returncode == 0, output[-3000:]
    assert cluster is None or cluster.alive() == 1
    check(spark, reader, sent, MESSAGES)
