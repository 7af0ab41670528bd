"""Decode messages into rows of their bronze table; a message that cannot be decoded gets a reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import Window
from pyspark.sql import functions as f
from pyspark.sql.avro.functions import from_avro, to_avro
from pyspark.sql.types import StructType

from python_ingest.bronze.columns import Target, in_sql
from python_ingest.feeds.declarations import TopicFeed
from python_ingest.files.formats.json_records import json_rows
from python_ingest.files.formats.lines import ILLEGIBLE, is_legible
from python_ingest.files.formats.rescue import TIMES, rescued
from python_ingest.files.formats.typed import held_in
from python_ingest.kafka.contract import rejected_by
from python_ingest.ops.rejected_records import REJECTED
from tidemark.base.errors import LandingError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SCHEMA_ID_BYTES = 5  # the prefix that a schema registry adds: a zero byte and the schema's id
NOT_AVRO = "it does not match the Avro schema"
NOT_JSON = "it is not JSON that matches the Avro schema"
NO_KEY = "its row is no longer in bronze, nor is its key"
PLACE_BITS = 16  # of `_row_number`: the partition; those above are the offset


class Decoder:
    """Decodes the messages of one feed.

    Args:
        feed: the feed.

    Raises:
        LandingError: when the Avro schema cannot be read.
    """

    def __init__(self, feed: TopicFeed) -> None:
        self._feed = feed
        self._schema = _avro_schema(feed)

    def rows(
        self, messages: DataFrame, targets: Sequence[Target], admitted: Callable[[DataFrame], DataFrame]
    ) -> DataFrame:
        """Decode messages.

        Args:
            messages: the messages, as Spark's Kafka reader returns them.
            targets: the bronze table's columns.
            admitted: takes the content out of rows of erased persons. They are found by their columns, which
                a message that the contract rejects no longer has.

        Returns:
            The columns of bronze, except those of the batch. A tombstone (no value) has only its key, and
            a message that the contract rejects has no values.
        """
        placed = messages.select(
            f.col("value").alias("_value"),  # a column of the feed may be called value
            f.col("key").alias("_message_key"),
            f.col("partition").alias("_message_partition"),
            f.col("offset").alias("_message_offset"),
            f.concat_ws("/", "topic", "partition").alias("_source_file"),
            f.col("timestamp").alias("_source_modified_at"),
            # unique in the topic: it has fewer than 2^16 partitions
            (f.shiftleft("offset", PLACE_BITS) + f.col("partition")).alias("_row_number"),
        )
        decoded = self._values(placed, targets)
        return self._judged(decoded, f.col("_value").isNull(), targets, admitted)

    def again(
        self, records: DataFrame, targets: Sequence[Target], admitted: Callable[[DataFrame], DataFrame]
    ) -> DataFrame:
        """Decode rejected messages again, from what is kept of them.

        Args:
            records: rows of `ops.rejected_records` with their `_message_key`.
            targets: the bronze table's columns.
            admitted: as for `rows`.

        Returns:
            As `rows` does, with the columns of REJECTED.
        """
        placed = records.select(
            f.col("raw_record").alias("_value"),
            "_message_key",
            f.col("row_id").bitwiseAND(2**PLACE_BITS - 1).cast("int").alias("_message_partition"),
            f.shiftright("row_id", PLACE_BITS).alias("_message_offset"),
            f.col("path").alias("_source_file"),
            f.col("source_modified_at").alias("_source_modified_at"),
            (f.row_number().over(Window.orderBy("batch_id", "row_id")) - 1).alias("_row_number"),
            *[f.col(name).alias(alias) for name, alias in REJECTED.items()],
            f.startswith("reason", f.lit(NOT_AVRO)).alias("_is_bytes"),
            # what is kept of bytes that are not UTF-8 has replacement characters
            (~f.startswith("reason", f.lit(ILLEGIBLE)) | is_legible(f.col("raw_record"))).alias("_is_text"),
            f.coalesce("has_key", f.lit(False)).alias("_has_key"),
        )
        texts, others = placed.where("not _is_bytes"), placed.where("_is_bytes")
        values = others.withColumn("_value", f.try_to_binary("_value", f.lit("base64")))
        read = [self._texts(texts, targets), self._values(values, targets)]
        one, other = (part.drop("_value", "_is_bytes", "_is_text") for part in read)
        judged = self._judged(one.unionByName(other), f.lit(False), targets, admitted)
        reason = f.coalesce("_corrupt_reason", f.when(~f.col("_has_key"), f.lit(NO_KEY)))
        return admitted(judged.withColumn("_corrupt_reason", reason).drop("_has_key"))

    def _texts(self, placed: DataFrame, targets: Sequence[Target]) -> DataFrame:
        """Return rows of messages that are kept as text: JSON, also of a decoded Avro value."""
        if self._schema is None:
            return _json(placed, f.col("_is_text"), targets)
        decoded = placed.select(from_avro(f.lit(b""), self._schema).alias("_record"))
        schema: Any = decoded.schema["_record"].dataType
        read = placed.withColumn("_record", f.from_json("_value", schema, TIMES))
        again = f.to_json("_record", TIMES)  # in which a field that the schema does not have is missing
        given, held = (f.to_json(f.try_parse_json(text)) for text in (f.col("_value"), again))
        return _of_records(read, given == held, (f.col("_value"), NOT_JSON), targets)

    def _values(self, placed: DataFrame, targets: Sequence[Target]) -> DataFrame:
        if self._schema is not None:
            return self._avro(placed, targets, self._schema)
        return _json(placed, f.is_valid_utf8(f.col("_value").cast("string")), targets)

    def _judged(
        self,
        decoded: DataFrame,
        is_tombstone: Column,
        targets: Sequence[Target],
        admitted: Callable[[DataFrame], DataFrame],
    ) -> DataFrame:
        """Return decoded messages with their places in the reasons; rejected ones without values."""
        place = f.concat(f.lit(" (offset "), f.col("_message_offset"), f.lit(")"))
        told = decoded.withColumns(
            {
                "_corrupt_record": f.when(~is_tombstone, f.col("_corrupt_record")),
                "_corrupt_reason": f.when(~is_tombstone, f.concat("_corrupt_reason", place)),
            }
        )
        reason = rejected_by(self._feed, targets)
        if reason is not None:
            judged = admitted(told).withColumn("_rejected", f.concat(reason, place))
            told = self._without_rejected(judged, targets)
        return told.drop("_value", "_text")

    def _without_rejected(self, judged: DataFrame, targets: Sequence[Target]) -> DataFrame:
        is_kept = f.col("_rejected").isNull()
        names = (*[target.name for target in targets], "_rescued_data")
        values = {name: f.when(is_kept, f.col(in_sql(name))) for name in names}
        whole = {
            "_corrupt_record": f.when(is_kept, f.col("_corrupt_record")).otherwise(f.col("_text")),
            "_corrupt_reason": f.coalesce("_rejected", "_corrupt_reason"),
        }
        return judged.withColumns(values | whole).drop("_rejected")

    def _avro(self, placed: DataFrame, targets: Sequence[Target], schema_text: str) -> DataFrame:
        value = f.col("_value")
        if self._feed.external.has_schema_id:
            value = f.expr(f"substr(_value, {SCHEMA_ID_BYTES + 1})")
        read = placed.withColumn("_bytes", value).withColumn(
            "_record", from_avro("_bytes", schema_text, {"mode": "PERMISSIVE"})
        )
        schema = read.schema["_record"].dataType
        assert isinstance(schema, StructType)  # noqa: S101  # checked when the schema was read
        bytes_kept = (f.base64("_value"), NOT_AVRO)
        return _of_records(read, self._is_sound(schema), bytes_kept, targets).drop("_bytes")

    def _is_sound(self, schema: StructType) -> Column:
        """Return whether a record was decoded; without lists and maps, encoding it must give its bytes."""
        is_decoded = f.lit(False)
        for name in schema.names:
            is_decoded = is_decoded | f.col(f"_record.{in_sql(name)}").isNotNull()
        if '"array"' in str(self._schema) or '"map"' in str(self._schema):
            return f.coalesce(is_decoded, f.lit(False))  # lists and maps have several encodings
        again = f.when(is_decoded, to_avro("_record", str(self._schema)))
        return f.coalesce(again == f.col("_bytes"), f.lit(False))


def _json(placed: DataFrame, is_sound: Column, targets: Sequence[Target]) -> DataFrame:
    text = f.col("_value").cast("string")
    lines = placed.withColumns({"_line": text, "_text": text, "_is_legible": is_sound})
    return json_rows(lines, (), targets)


def _of_records(
    read: DataFrame, is_sound: Column, kept: tuple[Column, str], targets: Sequence[Target]
) -> DataFrame:
    """Return rows of Avro records.

    Args:
        read: messages with their `_record`.
        is_sound: whether it is the record of the message.
        kept: what is kept of a message whose record it is not, and the reason.
        targets: the bronze table's columns.
    """
    schema = read.schema["_record"].dataType
    assert isinstance(schema, StructType)  # noqa: S101  # checked when the schema was read
    sound = read.withColumn("_is_sound", f.coalesce(is_sound, f.lit(False)))
    sound = sound.withColumn("_record", f.when(f.col("_is_sound"), f.col("_record")))
    flat = sound.select("*", *[f.col(f"_record.{in_sql(name)}").alias(name) for name in schema.names])
    values, others = held_in(targets, schema)
    text, reason = kept
    return flat.select(
        *values,
        rescued(others).alias("_rescued_data"),
        f.when(~f.col("_is_sound"), text).alias("_corrupt_record"),
        f.when(~f.col("_is_sound"), f.lit(reason)).alias("_corrupt_reason"),
        f.to_json("_record", TIMES).alias("_text"),  # in words: in it, an erasure finds a person
        *[name for name in read.columns if name != "_record"],
    )


def _avro_schema(feed: TopicFeed) -> str | None:
    path = feed.external.avro_schema
    if path is None:
        return None
    try:
        schema: Any = json.loads(Path(path).read_text(encoding="utf-8"))
        if schema["type"] != "record":
            raise ValueError("its type is not record")
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise LandingError(
            f"Feed '{feed.name}': the Avro schema {path} cannot be read: {error}.",
            f"Fix the file, or `avro_schema` in {feed.declared_in}.",
        ) from None
    return json.dumps(schema)
