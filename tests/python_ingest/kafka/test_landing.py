"""R5.1: messages land once, with where they were; undecodable ones are set aside; a loss is told."""

from __future__ import annotations

import io
import json
import re
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pytest

from python_ingest.bronze.table import BronzeTable
from python_ingest.kafka.checkpoint import FOLDER
from tests.python_ingest.kafka.conftest import MakeTopic
from tidemark.base.errors import LandingError
from tidemark.lake.table_format import location_of

pytestmark = [pytest.mark.R5, pytest.mark.formats(day="iceberg", night="delta iceberg")]


@pytest.mark.core
def test_messages_land_once_with_their_places(make_topic: MakeTopic) -> None:
    """R5.1: all that there is; a further run lands what came since, nothing new commits nothing."""
    topic = make_topic()
    topic.send({"device_id": "a", "reading": 1.5, "tags": ["x"]}, {"device_id": "b", "colour": "red"})
    topic.send({"device_id": "c"}, None, partition=1)
    assert topic.land().messages == 4
    version = topic.version()
    assert (topic.land().messages, topic.version()) == (0, version)
    topic.send({"device_id": "d", "reading": "12.345"}, partition=1)
    assert topic.land().messages == 1
    columns = (
        "device_id",
        "reading",
        "tags",
        "_rescued_data",
        "_source_file",
        "_message_offset",
        "_batch_id",
    )
    assert topic.bronze(*columns) == [
        ("a", Decimal("1.50"), ["x"], None, f"{topic.name}/0", 0, 1),
        ("b", None, None, '{"colour":"red"}', f"{topic.name}/0", 1, 1),
        ("c", None, None, None, f"{topic.name}/1", 0, 1),
        (None, None, None, None, f"{topic.name}/1", 1, 1),
        ("d", None, None, '{"reading":"12.345"}', f"{topic.name}/1", 2, 2),
    ]
    assert topic.bronze("cast(_message_key as string)", "_corrupt_record")[3] == ("k", None)
    assert topic.bronze("count(distinct _row_number)") == [(5,)]


@pytest.mark.R1
def test_undecodable_messages_are_set_aside(make_topic: MakeTopic) -> None:
    """R1.4: with reason, topic, partition and offset; bounded where the feed says so."""
    topic = make_topic(max_rejected_share=0.6)
    topic.send({"device_id": "a"}, b"{broken", {"device_id": "b"}, b"\xff\xfe", b'[{"device_id": "c"}]')
    outcome = topic.land()
    assert (outcome.messages, outcome.broken) == (5, 3)
    rejected = topic.spark.table(f"{topic.ops_schema}.rejected_records").orderBy("row_id")
    assert [tuple(row) for row in rejected.select("path", "raw_record", "reason").collect()] == [
        (f"{topic.name}/0", "{broken", "it is not a single JSON object (offset 1)"),
        (f"{topic.name}/0", "\ufffd\ufffd", "it contains bytes of another encoding (offset 3)"),
        (f"{topic.name}/0", '[{"device_id": "c"}]', "it is not a single JSON object (offset 4)"),
    ]
    topic.send(b"1", b"2")
    with pytest.raises(LandingError, match=r"2 of 2 messages are rejected.*max_rejected_share: 0.6"):
        topic.land()
    assert topic.bronze("count(*)") == [(5,)]


def test_avro_values_are_decoded_by_their_schema(make_topic: MakeTopic, tmp_path: Path) -> None:
    """R5.1: with a registry's five bytes before them; what gives other bytes back is set aside."""
    schema = {
        "type": "record",
        "name": "event",
        "fields": [
            {"name": "device_id", "type": "string"},
            {"name": "reading", "type": ["null", "double"]},
            {"name": "colour", "type": ["null", "string"]},
        ],
    }
    path = tmp_path / "event.avsc"
    path.write_text(json.dumps(schema))

    def encoded(**values: Any) -> bytes:
        buffer = io.BytesIO()
        fastavro.schemaless_writer(buffer, schema, values)
        return b"\x00\x00\x00\x00\x07" + buffer.getvalue()

    columns = {"device_id": "string", "reading": "double"}
    topic = make_topic(columns, value_format="avro", avro_schema=str(path), has_schema_id=True)
    sound = encoded(device_id="a", reading=1.5, colour="red")
    topic.send(
        sound,
        encoded(device_id="b", reading=None, colour=None),
        sound[:-2],
        sound + b"more",
        b"no avro at all",
    )
    outcome = topic.land()
    assert (outcome.messages, outcome.broken) == (5, 3)
    assert topic.bronze("device_id", "reading", "_rescued_data", "_corrupt_reason")[:3] == [
        ("a", 1.5, '{"colour":"red"}', None),
        ("b", None, None, None),
        (None, None, None, "it does not match the Avro schema (offset 2)"),
    ]
    path.write_text("{}")
    with pytest.raises(LandingError, match="event.avsc cannot be read"):
        topic.land()


def test_a_checkpoint_without_files_is_replaced(make_topic: MakeTopic) -> None:
    """R5.1: `remove_orphan_files` leaves its folders alone; the record of batches has the offsets."""
    topic = make_topic()
    topic.send({"device_id": "a"}, {"device_id": "b"})
    topic.send({"device_id": "c"}, partition=1)
    topic.land()
    folder = Path(location_of(topic.spark, topic.feed.table).removeprefix("file:")) / FOLDER
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        path.unlink()
    topic.send({"device_id": "d"})
    assert topic.land().messages == 1
    topic.send({"device_id": "e"}, partition=1)
    assert (topic.land().messages, topic.land().messages) == (1, 0)
    assert topic.bronze("device_id", "_batch_id") == [("a", 1), ("b", 1), ("c", 1), ("d", 2), ("e", 3)]


def test_more_partitions_are_followed(make_topic: MakeTopic) -> None:
    """R5.1: a topic that got more partitions goes on landing, the new ones from their beginning."""
    topic = make_topic(partitions=1)
    topic.send({"device_id": "a"})
    topic.land()
    topic.grow(3)
    topic.send({"device_id": "b"}, partition=2)
    topic.send({"device_id": "c"})
    assert topic.land().messages == 2
    assert [row[0] for row in topic.bronze("device_id")] == ["a", "c", "b"]


@pytest.mark.R2
def test_lost_messages_stop_until_the_loss_is_accepted(make_topic: MakeTopic) -> None:
    """R2.4: truncated, deleted, deleted and made anew with as many messages: gaps are detected."""
    topic = make_topic(partitions=0)
    with pytest.raises(LandingError, match=f"there is no topic '{re.escape(topic.name)}'"):
        topic.land()
    topic.create(1)
    topic.send(*({"device_id": f"a{number}"} for number in range(3)))
    topic.land()
    topic.send({"device_id": "lost"}, {"device_id": "kept"})
    truncate(topic, 4)
    with pytest.raises(LandingError, match="(?s)were lost before they landed.*accept-loss"):
        topic.land()
    assert topic.land(accepts_loss=True).messages == 1
    topic.delete()
    with pytest.raises(LandingError, match="there is no topic"):
        topic.land()
    time.sleep(1)
    topic.create(1)
    topic.send(*({"device_id": f"b{number}"} for number in range(7)))
    with pytest.raises(LandingError, match="was deleted and created again"):
        topic.land()
    assert topic.land(accepts_loss=True).messages == 7
    topic.send({"device_id": "b7"})
    assert topic.land().messages == 1
    devices = [row[0] for row in topic.bronze("device_id")]
    assert devices == ["a0", "a1", "a2", "kept", *(f"b{number}" for number in range(8))]


def truncate(topic: Any, before: int) -> None:
    """Delete the messages of partition 0 before an offset."""
    from confluent_kafka import TopicPartition

    deleted = topic.admin.delete_records([TopicPartition(topic.name, 0, before)])
    for answer in deleted.values():
        answer.result()


@pytest.mark.parametrize("method", ["append", "confirm"])
def test_an_interrupted_landing_resumes(make_topic: MakeTopic, monkeypatch: Any, method: str) -> None:
    """R5.1: stopped before or after bronze has a batch, each message lands once, and is counted."""
    from python_ingest.ops.ingested_batches import Batches

    topic = make_topic(partitions=1, max_messages=2)
    topic.send(*({"device_id": str(number)} for number in range(6)))
    owner = Batches if method == "confirm" else BronzeTable
    kept, calls = getattr(owner, method), []

    def cut_off(*arguments: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise LandingError("cut off", "go on")
        kept(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(owner, method, cut_off)
        with pytest.raises(LandingError, match="cut off"):
            topic.land()
    topic.land()
    assert [row[0] for row in topic.bronze("device_id")] == list("012345")
    batches = topic.spark.table(f"{topic.ops_schema}.ingested_batches").orderBy("_sequence")
    assert [tuple(r) for r in batches.select("state", "batch_id", "row_count").collect()] == [
        ("landed", 1, 2),
        ("landed", 2, 2),
        ("landed", 3, 2),
    ]


def test_following_lands_what_comes(make_topic: MakeTopic) -> None:
    """R5.1: continuous: a message that comes while it follows lands without another run."""
    from python_ingest.kafka.landing import LandedTopic, TopicLander

    topic = make_topic(every="0 seconds")
    outcomes: list[LandedTopic] = []
    query = TopicLander(topic.spark, topic.feed, topic.ops_schema).start(
        follows=True, on_batch=outcomes.append
    )
    try:
        for number in range(2):
            topic.send({"device_id": str(number)})
            until = time.monotonic() + 120
            while len(outcomes) <= number and time.monotonic() < until and query.isActive:
                time.sleep(0.2)
    finally:
        query.stop()
    assert [outcome.messages for outcome in outcomes] == [1, 1]
    assert topic.land().messages == 0


@pytest.mark.R3
def test_an_unreachable_broker_is_reported(make_topic: MakeTopic, monkeypatch: Any) -> None:
    """R3.7: with a clear message, without a password."""
    topic = make_topic()
    monkeypatch.setattr("python_ingest.kafka.topic.PATIENCE", 1)
    monkeypatch.setenv("TIDEMARK_CONNECTION_STREAM", "kafka://me:secret-word@127.0.0.1:1")
    with pytest.raises(LandingError, match="no broker answers") as caught:
        topic.land()
    assert "secret-word" not in str(caught.value)


@pytest.mark.R1
def test_messages_that_bronze_lost_are_noticed(make_topic: MakeTopic) -> None:
    """R1.5: the landing stops; once it is accepted that they are gone, it goes on from its offsets."""
    topic = make_topic()
    topic.send({"device_id": "a"}, {"device_id": "b"})
    topic.land()
    topic.spark.sql(f"delete from {topic.feed.table} where device_id = 'a'")
    topic.send({"device_id": "c"})
    with pytest.raises(LandingError, match=r"is missing 1 landed row, from batch 1 \([A-Z]+ at") as stopped:
        topic.land()
    assert "to `accept` (continues without them)" in stopped.value.fix
    topic.feed = make_topic(partitions=0, on_lost_rows="accept").feed
    outcome = topic.land()
    assert outcome.messages == 1
    assert outcome.settled
    assert outcome.settled.decision == "accepted"
    assert topic.bronze("device_id", "_batch_id") == [("b", 1), ("c", 2)]
    assert topic.land().settled is None
