"""A Kafka broker; each test has a topic of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic
from pyspark.sql import SparkSession

from dev.servers.kafka import Kafka, kafka
from python_ingest.feeds.declarations import TopicFeed, feeds_of
from python_ingest.kafka.landing import TopicLander
from python_ingest.kafka.outcome import LandedTopic
from tests.conftest import latest_version

EVENTS = {"device_id": "string", "reading": "decimal(6,2)", "tags": "array<string>"}


@pytest.fixture(scope="session")
def broker() -> Iterator[Kafka]:
    with kafka() as started:
        yield started


@dataclass
class Topic:
    """A feed `events` from a topic of its own."""

    spark: SparkSession
    broker: Kafka
    name: str
    feed: TopicFeed
    ops_schema: str
    admin: AdminClient

    def create(self, partitions: int = 2, **settings: str) -> None:
        topic = NewTopic(self.name, partitions, 1, config=settings)
        self.admin.create_topics([topic])[self.name].result()

    def delete(self) -> None:
        self.admin.delete_topics([self.name])[self.name].result()

    def grow(self, partitions: int) -> None:
        self.admin.create_partitions([NewPartitions(self.name, partitions)])[self.name].result()

    def send(self, *values: Any, partition: int = 0, key: str = "k") -> None:
        """Send values: objects as JSON, bytes as they are, None as a tombstone."""
        producer = Producer({"bootstrap.servers": self.broker.servers, "log_level": 0})
        for value in values:
            message = value if value is None or isinstance(value, bytes) else json.dumps(value).encode()
            producer.produce(self.name, message, key, partition)
        assert producer.flush(30) == 0

    def land(self, *, accepts_loss: bool = False) -> LandedTopic:
        return TopicLander(self.spark, self.feed, self.ops_schema, accepts_loss=accepts_loss).land()

    def replay(self) -> LandedTopic:
        return TopicLander(self.spark, self.feed, self.ops_schema).replay()

    def bronze(self, *columns: str) -> list[tuple[Any, ...]]:
        """Bronze's rows in the order of partition and offset."""
        table = self.spark.table(self.feed.table).orderBy(
            "_batch_id", "_message_partition", "_message_offset"
        )
        return [tuple(row) for row in table.selectExpr(*columns).collect()]

    def version(self) -> int:
        return latest_version(self.spark, self.feed.table)


MakeTopic = Callable[..., Topic]


@pytest.fixture
def make_topic(
    spark: SparkSession, broker: Kafka, prefix: str, table_format: str, monkeypatch: pytest.MonkeyPatch
) -> MakeTopic:
    """Declare a feed `events` from a topic; it is created unless `partitions` is 0."""
    monkeypatch.setenv("TIDEMARK_CONNECTION_STREAM", broker.url)

    def make(columns: dict[str, str] | None = None, partitions: int = 2, **external: Any) -> Topic:
        name = f"events.{prefix}"
        admin = AdminClient({"bootstrap.servers": broker.servers, "log_level": 0})
        node = {
            "name": "events",
            "schema": f"{prefix}_bronze",
            "original_file_path": "models/bronze/_bronze__sources.yml",
            "external": {"connector": "kafka", "connection": "stream", "topic": name, **external},
            "columns": {
                column: {"name": column, "data_type": of} for column, of in (columns or EVENTS).items()
            },
        }
        feed = feeds_of([node])["events"]
        assert isinstance(feed, TopicFeed)
        topic = Topic(spark, broker, name, feed, f"{prefix}_ops", admin)
        if partitions:
            topic.create(partitions)
        return topic

    return make
