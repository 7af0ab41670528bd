"""R5.1: a reader is killed three times, the broker once; each message is in bronze once, silver right."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession

from python_ingest.servers.kafka import Kafka, kafka
from tests.kills.reader import BUILD, Reader, kill

pytestmark = pytest.mark.R5
MESSAGES = 1_000_000 if os.environ.get("TIDEMARK_NIGHTLY") else 100_000
DEVICES, PARTITIONS = 500, 3
PATIENCE = 600
SCHEMA = "number bigint, device_id string, event_ts timestamp, reading decimal(6,2), ingest_ts timestamp"
LAND = "from python_ingest import cli; cli.land(['device_events']);"


@pytest.fixture
def broker() -> Iterator[Kafka]:
    with kafka() as started:
        yield started


def message(number: int, lag: int) -> bytes:
    """What a device says; the same event with another lag corrects its reading."""
    late = 3 * 86_400 if number % 50 == 0 else 0
    at = 1_735_689_600 + number // DEVICES * 10 - late
    event_ts, ingest_ts = (
        time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)) for seconds in (at, at + lag)
    )
    event = {"number": number, "device_id": f"d{number % DEVICES}", "event_ts": event_ts}
    reading = (number + lag) % 9999 / 100
    return json.dumps(event | {"reading": reading, "ingest_ts": ingest_ts}).encode()


def send(broker: Kafka, sent: Path) -> None:
    """Send messages, repeats, corrections and late ones, and write the same to a file of JSON lines."""
    admin = AdminClient({"bootstrap.servers": broker.servers})
    admin.create_topics([NewTopic("device_events", PARTITIONS, 1)])["device_events"].result()
    producer = Producer({"bootstrap.servers": broker.servers, "linger.ms": 50, "compression.type": "lz4"})
    chance = random.Random(5)
    earlier: list[int] = []
    with sent.open("wb") as file:
        for number in range(MESSAGES):
            event, lag = number, number % 7
            if earlier and number % 20 == 0:
                event = chance.choice(earlier)
                lag = event % 7 if number % 40 else 10 + chance.randrange(5)  # a repeat, a correction
            elif number % 100 == 1:
                earlier.append(number)
            sending = message(event, lag)
            file.write(sending + b"\n")
            while True:
                try:
                    producer.produce("device_events", sending, partition=number % PARTITIONS)
                    break
                except BufferError:
                    producer.poll(0.5)
    assert producer.flush(120) == 0


def test_killed_readers_and_a_restarted_broker(spark: SparkSession, broker: Kafka, tmp_path: Path) -> None:
    """R5.1, R5.2: counts and content are exact in bronze and silver."""
    sent = tmp_path / "sent.json"
    send(broker, sent)
    reader = Reader(tmp_path, TIDEMARK_CONNECTION_STREAM=broker.url)
    for wanted in (2, 3, 4):  # the first commit makes the table
        process = reader.start(LAND)
        until = time.monotonic() + PATIENCE
        while (
            reader.commits("device_events") < wanted and process.poll() is None and time.monotonic() < until
        ):
            time.sleep(0.02)
        assert process.poll() is None, process.communicate()[0][-3000:]
        time.sleep(0.15 * wanted)  # in the middle of the next batch
        kill(process)
        if wanted == 3:
            broker.stop()
            broker.start()
    done = reader.start(LAND + BUILD.format("device_events"))
    output, _ = done.communicate(timeout=PATIENCE)
    assert done.returncode == 0, output[-3000:]
    expected = spark.read.schema(SCHEMA).json(str(sent)).cache()
    bronze = reader.table(spark, "bronze.db/device_events")
    assert bronze.count() == MESSAGES
    assert bronze.select("_message_partition", "_message_offset").distinct().count() == MESSAGES
    landed = bronze.select("number", "device_id", "event_ts", "reading", "ingest_ts")
    assert expected.exceptAll(landed).isEmpty()  # as many rows, and none is lacking: the same rows
    newest = expected.selectExpr(
        "*",
        "row_number() over (partition by device_id, event_ts order by ingest_ts desc, number desc) as rank",
    )
    silver = reader.table(spark, "silver.db/device_events")
    kept = newest.where("rank = 1").select(silver.columns)
    assert silver.count() == kept.count()
    assert kept.exceptAll(silver).isEmpty()
    batches = reader.table(spark, "ops.db/ingested_batches").where("state = 'landed'")
    counted = batches.selectExpr(
        "count(distinct batch_id) = count(*) as once", "sum(row_count) as messages"
    ).first()
    assert counted is not None
    assert tuple(counted) == (True, MESSAGES)
