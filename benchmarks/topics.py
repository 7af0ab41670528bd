"""Landing from Kafka: a topic compared with a plain stream of the same messages."""

from __future__ import annotations

import json
import time

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import DataType

from benchmarks.pairs import BATCH, LAKE, MEGABYTE, STATE, compared, feed_of, timed
from benchmarks.report import markdown_table
from dev.servers.kafka import Kafka
from python_ingest.bronze.columns import Target
from python_ingest.feeds.declarations import TopicFeed
from python_ingest.kafka import landing
from python_ingest.kafka.checkpoint import Checkpoint
from python_ingest.kafka.decoding import Decoder
from python_ingest.kafka.landing import TopicLander
from python_ingest.kafka.topic import spark_options
from python_ingest.ops.rejected_records import Quarantine
from tidemark.base.connections import connection

EVENTS = {
    "event_id": "bigint", "device_id": "string", "kind": "string", "measured_at": "timestamp",
    "temperature": "double", "humidity": "decimal(5,2)", "battery": "int", "is_online": "boolean",
}  # fmt: skip
STEPS = {
    **STATE,
    "quarantine table": (Quarantine, "__init__"),
    "topic, asked of the broker": (landing, "topic_of"),
    "checkpoint": (Checkpoint, "__init__"),
    "decoder, set up": (Decoder, "rows"),
    **BATCH,
}


def topic(spark: SparkSession, broker: Kafka, messages: int, repetitions: int) -> list[str]:
    """Compare the landing of a topic with a plain stream, and return the report's lines."""
    name = f"events_{messages}_{time.monotonic_ns()}"
    size = _produce(broker, name, messages)
    schema = ", ".join(f"{column} {of}" for column, of in EVENTS.items())
    most = _feed("any", name).external.max_messages
    options = spark_options(connection("stream", "kafka"))
    options |= {"subscribe": name, "startingOffsets": "earliest"}

    def parsed(read: DataFrame) -> DataFrame:
        event = f.from_json(f.col("value").cast("string"), schema)
        return read.select(event.alias("event")).select("event.*")

    def plain() -> None:
        read = spark.readStream.format("kafka").options(**options).option("maxOffsetsPerTrigger", most)
        stream = parsed(read.load()).writeStream.format("delta").trigger(availableNow=True)
        checkpoint = str(LAKE / f"plain_{time.monotonic_ns()}")
        stream.option("checkpointLocation", checkpoint).toTable("plain.copied").awaitTermination()

    def ours(feed: str) -> None:
        TopicLander(spark, _feed(feed, name), f"{feed}_ops").land()

    pairs = compared(spark, name, plain, ours, steps=STEPS, repetitions=repetitions)
    targets = [Target(column, DataType.fromDDL(of)) for column, of in EVENTS.items()]
    batch = spark.read.format("kafka").options(**options).load()
    alone = {
        "values as they are": batch.select("value"),
        "parsed as the plain stream does": parsed(batch),
        "decoded as landing does": Decoder(_feed("any", name)).rows(batch, targets, lambda rows: rows),
    }
    seconds = [
        [what, f"{timed(rows.write.format('noop').mode('append').save):.1f}"] for what, rows in alone.items()
    ]
    return [
        "## Kafka",
        "",
        f"JSON objects of {len(EVENTS)} fields, {size / messages:.0f} bytes each, in 3 partitions; both take",
        f"{most:,} a batch. The plain stream is Kafka, `from_json` to the declared columns,",
        "`format('delta')`, `availableNow`, with a checkpoint of its own.",
        "",
        *pairs.report(f"{messages:,} messages, {size / MEGABYTE:,.0f} MB", "messages/s", messages),
        "",
        "Landing parses a message into the declared types, as the plain stream does, and reads the names of",
        "its fields besides, to see that it is one object, names no field twice, has no other fields and no",
        "value that its type rounds or refuses; what is not plain by that is parsed whole. The plain stream",
        "writes NULL for what it cannot parse, and drops other fields.",
        "The topic read by itself, and written nowhere:",
        "",
        *markdown_table(["what", "seconds"], seconds),
    ]


def _feed(name: str, topic: str) -> TopicFeed:
    feed: TopicFeed = feed_of(name, EVENTS, connector="kafka", connection="stream", topic=topic)
    return feed


def _produce(broker: Kafka, name: str, messages: int) -> int:
    """Create a topic of device events and return its size in bytes."""
    admin = AdminClient({"bootstrap.servers": broker.servers})
    admin.create_topics([NewTopic(name, 3, 1)])[name].result()
    producer = Producer({"bootstrap.servers": broker.servers, "linger.ms": 50})
    size = 0
    for n in range(messages):
        at = f"2025-{n % 12 + 1:02d}-{n % 28 + 1:02d}T{n % 24:02d}:{n % 60:02d}:{n % 59:02d}.{n % 1000:03d}Z"
        event = {
            "event_id": n,
            "device_id": f"device-{n % 5000:05d}",
            "kind": "reading",
            "measured_at": at,
            "temperature": n % 400 / 10,
            "humidity": n % 10000 / 100,
            "battery": n % 101,
            "is_online": n % 7 > 0,
        }
        value = json.dumps(event).encode()
        size += len(value)
        producer.produce(name, value, str(event["device_id"]).encode(), n % 3)
        if n % 10_000 == 0:
            producer.flush()
    producer.flush()
    return size
