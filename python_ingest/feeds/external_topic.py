"""The `external:` block of a feed from a Kafka topic."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from python_ingest.feeds.external_files import Seconds
from python_ingest.feeds.external_table import CONNECTION
from python_ingest.feeds.strict import Strict

TopicPolicy = Literal["rescue", "reject", "fail"]


class TopicContract(Strict):
    """How to treat a message whose fields differ from the declared columns; any field may be missing in one.

    For both settings, `reject` sets the message aside as it does one that cannot be decoded, and `fail` stops
    the landing before any of its batch lands.

    Attributes:
        new_column: fields that are not declared: `rescue` keeps them in `_rescued_data`.
        type_change: values that do not fit their columns: `rescue` keeps them in `_rescued_data`.
    """

    new_column: TopicPolicy = "rescue"
    type_change: TopicPolicy = "rescue"


class TopicExternal(Strict):
    """The block of a feed from Kafka.

    Attributes:
        connector: `kafka`.
        connection: the connection's name, see `tidemark.base.connections`.
        topic: the topic.
        value_format: `json`: an object of the declared columns; `avro`: a record of `avro_schema`.
        avro_schema: the file with the schema of the values, relative to the project's folder.
        has_schema_id: whether five bytes of a schema registry precede an Avro value.
        starts: where the first landing begins: `earliest` or `latest`.
        max_messages: the limit of one batch.
        every: with `--follow`, how often a batch begins.
        max_rejected_share: the share of a batch's messages that may be rejected (0 to 1); with more, the
            landing stops.
        contract: how to treat messages with other fields.
        on_lost_rows: what to do if landed messages are missing from bronze: `stop` the landing, or `accept`
            the loss.
        pii: columns with personal values, which the proof of `tidemark erase` searches in all files.
    """

    connector: Literal["kafka"]
    connection: str = Field(pattern=CONNECTION)
    topic: str = Field(pattern=r"^[a-zA-Z0-9._-]+$")
    value_format: Literal["json", "avro"] = "json"
    avro_schema: str | None = None
    has_schema_id: bool = False
    starts: Literal["earliest", "latest"] = "earliest"
    max_messages: int = Field(default=5_000_000, gt=0)
    every: Seconds = 5
    max_rejected_share: float | None = Field(default=None, ge=0, le=1)
    contract: TopicContract = TopicContract()
    on_lost_rows: Literal["stop", "accept"] = "stop"
    pii: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """The name of the source: the topic."""
        return self.topic

    @model_validator(mode="after")
    def _fit_together(self) -> TopicExternal:
        if (self.value_format == "avro") != bool(self.avro_schema):
            raise ValueError("set value_format avro and avro_schema together")
        return self
