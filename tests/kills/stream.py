"""Messages of devices: repeats, corrections and late ones, and what the tables must hold after them."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from dev.servers.kafka import Kafka
from tests.kills.reader import BUILD, Reader

DEVICES, PARTITIONS = 500, 3
SCHEMA = "number bigint, device_id string, event_ts timestamp, reading decimal(6,2), ingest_ts timestamp"
LAND = "from tidemark.cli.land import land; land(['device_events']);"
RUN = LAND + BUILD.format("device_events+")


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


def send(broker: Kafka, sent: Path, messages: int) -> None:
    """Send messages, repeats, corrections and late ones, and write the same to a file of JSON lines."""
    admin = AdminClient({"bootstrap.servers": broker.servers})
    admin.create_topics([NewTopic("device_events", PARTITIONS, 1)])["device_events"].result()
    producer = Producer({"bootstrap.servers": broker.servers, "linger.ms": 50, "compression.type": "lz4"})
    chance = random.Random(5)
    earlier: list[int] = []
    with sent.open("wb") as file:
        for number in range(messages):
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


def check(spark: SparkSession, reader: Reader, sent: Path, messages: int) -> None:
    """Compare bronze, silver, gold and the batches with the messages that were sent."""
    expected = spark.read.schema(SCHEMA).json(str(sent)).cache()
    bronze = reader.table(spark, "bronze.db/device_events")
    assert bronze.count() == messages
    assert bronze.select("_message_partition", "_message_offset").distinct().count() == messages
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
    gold = reader.table(spark, "gold.db/readings_by_device")
    totals = kept.groupBy("device_id").agg(f.count("*"), f.sum("reading"))
    assert sorted(map(tuple, gold.collect())) == sorted(map(tuple, totals.collect()))
    batches = reader.table(spark, "ops.db/ingested_batches").where("state = 'landed'")
    counted = batches.selectExpr(
        "count(distinct batch_id) = count(*) as once", "sum(row_count) as messages"
    ).first()
    assert counted is not None
    assert tuple(counted) == (True, messages)
