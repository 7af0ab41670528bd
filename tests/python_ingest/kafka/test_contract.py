"""R1.4, R5.1: messages with fields that are not declared, or with values that do not fit their columns."""

from __future__ import annotations

import json

import pytest

from python_ingest.bronze.contract import AGAINST
from python_ingest.feeds.external_topic import TopicContract
from tests.python_ingest.kafka.conftest import EVENTS, MakeTopic, Topic
from tidemark.base.errors import DeclarationError, LandingError

pytestmark = [pytest.mark.R1, pytest.mark.R5, pytest.mark.formats(day="iceberg", night="delta iceberg")]
SOUND = {"device_id": "a", "reading": 1.5}
NEW = {"device_id": "b", "colour": "red", "größe": [1]}
MISFIT = {"device_id": "c", "reading": "12.345"}
BOTH = {"device_id": "d", "reading": {"x": 1}, "colour": None}


def notes_of(topic: Topic) -> list[str]:
    outcome = topic.land()
    return [f"{note.event}: {note.message}" for note in outcome.all_notes(topic.feed)]


def test_fields_in_no_column_are_told(make_topic: MakeTopic) -> None:
    """R5.1: as they are for files; a tombstone has none, and an absent field is none."""
    topic = make_topic(EVENTS | {"value": "double"})
    topic.send(SOUND | {"value": 7}, NEW, MISFIT, BOTH, None, {}, b"{broken")
    topic.send(NEW, partition=1)
    assert notes_of(topic) == [
        "broken: 1 message rejected: see ops.rejected_records",
        "rescued: 2 messages with values that do not fit their columns: reading (2); see _rescued_data",
        "rescued: 3 messages with fields that are not declared: colour (3), größe (2); see _rescued_data",
    ]
    topic.send(SOUND)
    assert notes_of(topic) == []
    assert topic.bronze("sum(value)") == [(7,)]


def test_a_contract_rejects_messages(make_topic: MakeTopic) -> None:
    """R1.4: with the reason and the whole message; the counts add up, and other messages land."""
    topic = make_topic(contract={"new_column": "reject", "type_change": "reject"}, max_rejected_share=0.75)
    topic.send(SOUND, NEW, MISFIT, BOTH, None, b"{broken")
    outcome = topic.land()
    assert (outcome.messages, outcome.broken, outcome.rescued.undeclared_records) == (6, 4, 0)
    assert topic.bronze("device_id", "reading is null", "_corrupt_record is null", "_rescued_data") == [
        ("a", False, True, None),
        (None, True, False, None),
        (None, True, False, None),
        (None, True, False, None),
        (None, True, True, None),
        (None, True, False, None),
    ]
    rejected = topic.spark.table(f"{topic.ops_schema}.rejected_records").orderBy("row_id")
    found = [(row["raw_record"], row["reason"]) for row in rejected.collect()]
    assert found == [
        (
            json.dumps(NEW),
            f"{AGAINST}fields that are not declared: colour, größe (offset 1)",
        ),
        (
            json.dumps(MISFIT),
            f"{AGAINST}values that do not fit their columns: reading (offset 2)",
        ),
        (json.dumps(BOTH), f"{AGAINST}fields that are not declared: colour (offset 3)"),
        ("{broken", "it is not a single JSON object (offset 5)"),
    ]
    topic.send(NEW)
    with pytest.raises(LandingError, match=r"1 of 1 messages are rejected.*not declared: colour"):
        topic.land()


def test_a_contract_stops_the_landing(make_topic: MakeTopic) -> None:
    """R5.1: before anything of the batch lands, also for a message that is else rejected."""
    topic = make_topic(contract={"new_column": "fail", "type_change": "reject"})
    topic.send(SOUND, MISFIT)
    assert topic.land().broken == 1
    topic.send(SOUND, BOTH)
    topic.send(NEW, partition=1)
    with pytest.raises(LandingError) as stopped:
        topic.land()
    assert (
        f"the message at offset 3 of {topic.name}/0: the contract does not allow fields that are not "
        "declared: colour. None of its batch landed." in str(stopped.value)
    )
    assert topic.bronze("count(*)") == [(2,)]
    external = topic.feed.external.model_copy(update={"contract": TopicContract(type_change="reject")})
    topic.feed = topic.feed.model_copy(update={"external": external})
    outcome = topic.land()
    assert (outcome.messages, outcome.broken, outcome.rescued.undeclared["colour"]) == (3, 1, 1)


@pytest.mark.parametrize("contract", [{"new_column": "evolve"}, {"missing_column": "fail"}])
def test_what_a_topic_cannot_keep_is_refused(make_topic: MakeTopic, contract: dict[str, str]) -> None:
    """R1.4: by its name; a field may be absent in any message, and no column is made of one."""
    with pytest.raises(DeclarationError, match=next(iter(contract))):
        make_topic(partitions=0, contract=contract)
