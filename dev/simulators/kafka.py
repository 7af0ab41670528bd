"""Simulated messages in Kafka."""

from __future__ import annotations

from collections.abc import Iterable

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka import Message as Delivered
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from dev.simulators.messages import Message, as_json, paced
from python_ingest.kafka.topic import client_settings
from tidemark.base.connections import Connection, variable
from tidemark.base.errors import TidemarkError

PARTITIONS = 3
_PATIENCE = 10.0  # seconds to wait until a server answers
_DELIVERY = 60  # seconds until a message counts as lost


class KafkaTarget:
    """Produces messages, each to the topic of its name.

    Args:
        connection: of the kind `kafka`; the options are librdkafka's, user and password are for SASL.
        topic_prefix: the prefix of each message's name, such as `shop.` before `orders`.
        rate: messages per second; None means as fast as possible.

    Raises:
        TidemarkError: when no server answers, or an option is wrong.
    """

    def __init__(self, connection: Connection, topic_prefix: str = "", rate: float | None = None) -> None:
        self.connection, self.prefix, self.rate = connection, topic_prefix, rate
        self._failed: KafkaError | None = None
        settings = {"log_level": 2} | client_settings(connection)
        try:
            self._admin = AdminClient(settings)
            self._producer = Producer(
                settings
                | {"enable.idempotence": True, "linger.ms": 20, "delivery.timeout.ms": _DELIVERY * 1000}
            )
            self._topics = set(self._admin.list_topics(timeout=_PATIENCE).topics)
        except KafkaException as error:
            raise self._error("cannot be reached", error) from None

    def send(self, messages: Iterable[Message]) -> None:
        """Produce messages in their order, and wait until all are delivered.

        Raises:
            TidemarkError: when a message could not be delivered.
        """
        for batch in paced(messages, self.rate):
            for message in batch:
                self._produce(message)
            self._producer.poll(0)
            self._check()
        lost = self._producer.flush(_DELIVERY + _PATIENCE)
        self._check()
        if lost:
            raise self._error("does not answer", f"{lost} messages were not delivered")

    def _produce(self, message: Message) -> None:
        topic = f"{self.prefix}{message.name}"
        if topic not in self._topics:
            self._create(topic)
        while True:
            try:
                self._producer.produce(
                    topic, as_json(message.record), message.key, on_delivery=self._delivered
                )
                return
            except BufferError:
                self._producer.poll(1)
            except KafkaException as error:
                raise self._error("refused a message", error) from None

    def _create(self, topic: str) -> None:
        try:
            self._admin.create_topics([NewTopic(topic, PARTITIONS)])[topic].result(_PATIENCE)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise self._error(f"refused to create the topic '{topic}'", error) from None
        self._topics.add(topic)

    def _delivered(self, error: KafkaError | None, message: Delivered) -> None:
        self._failed = self._failed or error

    def _check(self) -> None:
        if self._failed is not None:
            raise self._error("did not accept a message", self._failed.str())

    def _error(self, what: str, why: object) -> TidemarkError:
        if isinstance(why, KafkaException) and isinstance(why.args[0], KafkaError):
            why = why.args[0].str()
        message = self.connection.redacted(" ".join(str(why).split()))
        return TidemarkError(
            f"Kafka of connection '{self.connection.name}' at {self.connection.hosts} {what}: {message}.",
            f"Check the server, and {variable(self.connection.name)}.",
        )
