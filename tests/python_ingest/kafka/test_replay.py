"""R1.4: rejected messages of a topic land after a fix, each once."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import pytest
from confluent_kafka import Producer

from python_ingest.bronze.contract import AGAINST
from python_ingest.bronze.table import BronzeTable
from python_ingest.feeds.external_topic import TopicContract
from python_ingest.kafka.checkpoint import Checkpoint
from python_ingest.ops.ingested_batches import Batches
from python_ingest.ops.rejected_records import Quarantine
from tests.night import is_night
from tests.python_ingest.kafka.conftest import EVENTS, MakeTopic, Topic
from tidemark.base.errors import TidemarkError

pytestmark = [pytest.mark.R1, pytest.mark.formats(day="iceberg", night="delta iceberg")]
NEW = {"device_id": "b", "colour": "red"}


def _fix(topic: Topic, text: str, offset: int, partition: int = 0) -> None:
    topic.spark.sql(
        f"update {topic.ops_schema}.rejected_records set raw_record = '{text}' "
        f"where row_id = {offset * 2**16 + partition}"
    )


def _abort(topic: Topic, value: dict[str, str]) -> None:
    """Send a message in a transaction that is aborted: its place and the mark of the transaction stay."""
    producer = Producer({"bootstrap.servers": topic.broker.servers, "transactional.id": topic.name})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic.name, json.dumps(value).encode(), "k", 0)
    producer.flush(30)
    producer.abort_transaction(30)


def _devices(topic: Topic) -> list[tuple[Any, ...]]:
    sound = topic.bronze("device_id", "_message_partition", "_message_offset", "_corrupt_record is null")
    return [row[:3] for row in sound if row[3]]


def test_messages_land_once_after_a_fix(make_topic: MakeTopic) -> None:
    """R1.4: corrected texts, and messages that a changed contract lets in, with their keys and places."""
    topic = make_topic(EVENTS | {"batch_id": "bigint", "row_id": "string"}, contract={"new_column": "reject"})
    topic.send({"device_id": "a"}, NEW, b"{broken", b'{"device_id": "\xff"}')
    topic.send(NEW | {"device_id": "c", "batch_id": 7}, partition=1, key="other")
    assert topic.land().broken == 4
    assert topic.replay().message == "4 messages still rejected"
    _fix(topic, '{"device_id": "mended"}', 2)
    external = topic.feed.external.model_copy(update={"contract": TopicContract(type_change="fail")})
    topic.feed = topic.feed.model_copy(update={"external": external})
    outcome = topic.replay()
    assert (outcome.rows_landed, outcome.waiting, outcome.rescued.undeclared) == (3, 1, {"colour": 2})
    topic.send({"device_id": "d"}, partition=1)
    assert topic.land().messages == 1
    assert [topic.replay().message for _ in "12"] == ["1 message still rejected"] * 2
    assert topic.land().messages == 0
    assert _devices(topic) == [
        ("a", 0, 0), ("b", 0, 1), ("mended", 0, 2), ("c", 1, 0), ("d", 1, 1)
    ]  # fmt: skip
    replayed = topic.bronze("batch_id", "cast(_message_key as string)", "_source_file", "_row_number")[5:8]
    first, second = f"{topic.name}/0", f"{topic.name}/1"
    assert replayed == [(None, "k", first, 1), (None, "k", first, 2), (7, "other", second, 0)]
    landed = topic.spark.table(f"{topic.ops_schema}.ingested_batches").where("state = 'landed'")
    assert [row[0] for row in landed.orderBy("batch_id").select("row_count").collect()] == [5, 3, 1]


def test_values_of_avro_are_decoded_again(make_topic: MakeTopic, tmp_path: Path) -> None:
    """R1.4: rejected by the contract, and by a schema that was the wrong one."""
    columns = {"device_id": "string", "at": "timestamp", "amount": "decimal(9,2)"}
    columns |= {"code": "string", "pieces": "int", "share": "float"}  # of other types than in the schema
    fields: list[dict[str, Any]] = [
        {"name": "device_id", "type": "string"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "code", "type": "bytes"},
        {"name": "pieces", "type": "string"},
        {"name": "share", "type": "double"},
        {"name": "colour", "type": ["null", "string"]},
    ]
    right = {"type": "record", "name": "event", "fields": fields}
    wrong = right | {"fields": [{"name": "number", "type": "double"}]}
    path = tmp_path / "event.avsc"
    at = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)

    def encoded(colour: str | None) -> bytes:
        out = BytesIO()
        values = {"device_id": "a", "at": at, "amount": Decimal("12.50"), "colour": colour}
        values |= {"code": "\u00e9\ufffd".encode(), "pieces": "12", "share": 0.5}
        fastavro.schemaless_writer(out, fastavro.parse_schema(right), values)
        return out.getvalue()

    topic = make_topic(columns, value_format="avro", avro_schema=str(path), contract={"new_column": "reject"})
    path.write_text(json.dumps(right))
    topic.send(encoded("red"))
    topic.land()
    kept = {"device_id": "a", "at": "2026-01-02T03:04:05.678901Z", "amount": 12.5}
    kept |= {"code": "w6nvv70=", "pieces": "12", "share": 0.5, "colour": "red"}
    ((device, reason, record),) = topic.bronze("device_id", "_corrupt_reason", "_corrupt_record")
    assert (device, reason) == (None, f"{AGAINST}fields that are not declared: colour (offset 0)")
    assert json.loads(record) == kept
    path.write_text(json.dumps(wrong))
    topic.send(encoded(None))
    assert topic.land().broken == 1
    path.write_text(json.dumps(right))
    assert (topic.replay().replayed, topic.replay().waiting) == (1, 1)
    external = topic.feed.external.model_copy(update={"contract": TopicContract()})
    topic.feed = topic.feed.model_copy(update={"external": external})
    assert topic.replay().replayed == 1
    values = ("unix_micros(at)", "cast(amount as string)", "code", "pieces", "share", "_rescued_data")
    sound = [row[1:] for row in topic.bronze("device_id", *values) if row[0]]
    micros = int(at.timestamp()) * 10**6 + at.microsecond
    expected = (micros, "12.50", "\u00e9\ufffd", 12, 0.5)
    assert sound == [(*expected, None), (*expected, '{"colour":"red"}')]


PLACES = 3  # of the messages of one step
STEPS = [(BronzeTable, "append"), (Checkpoint, "begin_anew"), (Quarantine, "mark"), (Batches, "confirm")]


def _killed(*_: object, **__: object) -> None:
    raise OSError("killed")


def _cut_off(patches: pytest.MonkeyPatch, owner: type, step: str, command: Any) -> None:
    with patches.context() as patch:
        patch.setattr(owner, step, _killed)
        with pytest.raises((OSError, TidemarkError)):  # of a replay, or of a stream
            command()


def test_a_replay_that_is_killed(make_topic: MakeTopic, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.4: killed before each of its steps, also while the stream has begun a batch: each message once."""
    topic = make_topic(partitions=1)
    steps = STEPS if is_night("replay") else STEPS[:1]
    for number, (owner, step) in enumerate(steps):
        topic.send(b"{broken")
        assert topic.land().broken == 1
        _fix(topic, json.dumps({"device_id": f"mended {number}"}), number * PLACES)
        topic.send({"device_id": f"sound {number}"})
        _cut_off(monkeypatch, BronzeTable, "append", topic.land)  # the checkpoint has its offsets
        _cut_off(monkeypatch, owner, step, topic.replay)
        assert topic.land().messages == 1
        topic.send({"device_id": f"late {number}"})
        _cut_off(monkeypatch, Batches, "confirm", topic.land)  # bronze has them, the record does not
        assert topic.replay().replayed == (step != "confirm")
        assert topic.land().messages == 0
    expected = []
    for number in range(len(steps)):
        places = enumerate(("mended", "sound", "late"), number * PLACES)
        expected += [(f"{kind} {number}", 0, place) for place, kind in places]
    assert sorted(_devices(topic), key=lambda row: row[2]) == expected


def test_a_replay_takes_no_number_of_the_stream(make_topic: MakeTopic, monkeypatch: Any) -> None:
    """R1.4: not of a batch that it has begun, nor of one without rows; nor the stream one of a replay."""
    topic = make_topic(partitions=1, on_lost_rows="accept")
    topic.send(b"{one", b"{two", b"{three")
    topic.land()
    _abort(topic, {"device_id": "aborted"})
    assert topic.land().messages == 0
    _fix(topic, '{"device_id": "one"}', 0)
    assert topic.replay().replayed == 1
    topic.send({"device_id": "begun"})
    _cut_off(monkeypatch, BronzeTable, "append", topic.land)
    _fix(topic, '{"device_id": "two"}', 1)
    assert topic.replay().replayed == 1
    assert topic.land().messages == 1
    assert _devices(topic) == [("one", 0, 0), ("two", 0, 1), ("begun", 0, 5)]
    _fix(topic, '{"device_id": "three"}', 2)
    _cut_off(monkeypatch, Batches, "confirm", topic.replay)
    topic.spark.sql(f"delete from {topic.feed.table} where device_id = 'begun'")
    topic.send({"device_id": "last"})
    assert topic.land().messages == 1
    assert topic.replay().replayed == 1
    assert sorted(_devices(topic)) == [("last", 0, 6), ("one", 0, 0), ("three", 0, 2), ("two", 0, 1)]


def test_messages_before_the_latest_stay_out(make_topic: MakeTopic) -> None:
    """R1.4: a replay begins a new checkpoint; a partition without landed messages keeps its start."""
    topic = make_topic(starts="latest")
    topic.send({"device_id": "old"}, partition=1)
    assert topic.land().messages == 0
    topic.send(b"{broken")
    topic.land()
    bronze = BronzeTable(topic.spark, topic.feed)
    checkpoint = Checkpoint(topic.spark, bronze)
    assert checkpoint.passed(topic.name, bronze.last_batch()) == {"0": 1, "1": 1}
    _fix(topic, '{"device_id": "mended"}', 0)
    assert topic.replay().replayed == 1
    topic.send({"device_id": "new"}, partition=1)
    assert topic.land().messages == 1
    assert _devices(topic) == [("mended", 0, 0), ("new", 1, 1)]
    assert checkpoint.begin_anew(0) > 1, "the one of the replay stays the highest"
