"""A topic as the broker describes it, and the settings of Kafka's clients."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka import IsolationLevel, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from tidemark.base.connections import Connection, variable
from tidemark.base.errors import LandingError

PATIENCE = 10  # seconds to wait for an answer
JAVA_LOGIN = "org.apache.kafka.common.security.{} required username={} password={};"
MODULES = {"PLAIN": "plain.PlainLoginModule"}
SCRAM = "scram.ScramLoginModule"


@dataclass(frozen=True)
class Topic:
    """A topic.

    Attributes:
        identity: Kafka's id of the topic; another topic of the same name has another id.
        partitions: number of partitions.
        ends: the offset of the next message, by partition.
    """

    identity: str
    partitions: int
    ends: dict[int, int]


def topic_of(feed: str, to: Connection, name: str) -> Topic:
    """Ask the broker for a topic.

    Raises:
        LandingError: when no broker answers, or the topic does not exist.
    """
    with _with_plain_errors(feed, to, name):
        admin = AdminClient(client_settings(to) | {"log_level": 0})
        admin.list_topics(timeout=PATIENCE)  # times out in time; the next calls would wait longer
        found = admin.describe_topics(TopicCollection([name]), request_timeout=PATIENCE)[name].result()
        latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
        places = {TopicPartition(name, one.id): latest for one in found.partitions}
        level = IsolationLevel.READ_COMMITTED  # as Spark reads; the end of an open transaction is later
        ends = admin.list_offsets(places, isolation_level=level, request_timeout=PATIENCE)
        offsets = {place.partition: answer.result().offset for place, answer in ends.items()}
    return Topic(str(found.topic_id), len(found.partitions), offsets)


def spark_options(to: Connection) -> dict[str, str]:
    """Return a connection's options for Spark's reader."""
    options = {"bootstrap.servers": to.hosts, "isolation.level": "read_committed"}
    if to.user:
        mechanism = to.options.get("sasl.mechanism", "PLAIN")
        login = JAVA_LOGIN.format(MODULES.get(mechanism, SCRAM), _quoted(to.user), _quoted(to.password))
        options |= {"security.protocol": "SASL_SSL", "sasl.mechanism": mechanism, "sasl.jaas.config": login}
    others = dict(to.options)
    if authority := others.pop("ssl.ca.location", None):  # the Java client has another name for it
        options |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": authority}
    return {f"kafka.{name}": value for name, value in (options | others).items()}


def client_settings(to: Connection) -> dict[str, str | int | float | bool]:
    """Return a connection's settings for librdkafka."""
    settings: dict[str, str | int | float | bool] = {"bootstrap.servers": to.hosts}
    if to.user:
        mechanism = to.options.get("sasl.mechanism", "PLAIN")
        settings |= {"security.protocol": "SASL_SSL", "sasl.mechanism": mechanism}
        settings |= {"sasl.username": to.user, "sasl.password": to.password}
    return settings | dict(to.options)


@contextmanager
def _with_plain_errors(feed: str, to: Connection, name: str) -> Iterator[None]:
    try:
        yield
    except KafkaException as error:
        cause = error.args[0]
        if cause.name() == "UNKNOWN_TOPIC_OR_PART":
            raise LandingError(
                f"Feed '{feed}': there is no topic '{name}' at the connection '{to.name}'.",
                "Create it, or correct `topic` in the declaration.",
            ) from None
        raise LandingError(
            f"Feed '{feed}', connection '{to.name}': no broker answers: {to.redacted(cause.str())}.",
            f"Check that it is running and reachable, or correct {variable(to.name)}; then land again.",
        ) from None


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
