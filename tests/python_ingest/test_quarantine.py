"""Rejected records: kept with their reason, bounded, replayed once."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from python_ingest.bronze.table import BronzeTable
from python_ingest.files.landing import Lander
from python_ingest.ops.ingested_files import IngestedFiles
from python_ingest.ops.rejected_records import Quarantine
from tests.conftest import FeedFolder, MakeFeed
from tests.night import is_night
from tidemark.base.errors import LandingError
from tidemark.cli.export_rejected import write_rejected

pytestmark = [pytest.mark.R1, pytest.mark.formats(day="iceberg", night="delta iceberg")]


def _rejected(people: FeedFolder, *columns: str) -> list[tuple[Any, ...]]:
    table = people.spark.table(f"{people.ops_schema}.rejected_records")
    return sorted((tuple(row) for row in table.selectExpr(*columns).collect()), key=str)


def _sound(people: FeedFolder, *columns: str) -> list[tuple[Any, ...]]:
    return [row[1:] for row in people.rows("_corrupt_record", *columns) if row[0] is None]


def _replay(people: FeedFolder) -> Any:
    return Lander(people.spark, people.feed, people.ops_schema).replay()


def test_broken_records_are_kept_with_file_and_reason(make_feed: MakeFeed) -> None:
    """R1.4: what bronze marks is in ops.rejected_records too, and found in bronze by its batch and row."""
    people = make_feed()
    people.write("a.csv", b'id,name\n1,Ada\n2\n3,"Cy\n4,J\xf6rg\n')
    people.write("b.csv", "name,id\nEve,5,more\n")
    people.write("c.csv", "name,id\nFay,6\n")
    outcome = people.land()
    assert (outcome.rows, outcome.broken) == (6, 4)
    assert _rejected(people, "path", "raw_record", "reason", "fields", "batch_id") == [
        ("a.csv", "2", "expected 2 fields, as in the header", ["id", "name"], 1),
        ("a.csv", '3,"Cy', "a quote is not closed", ["id", "name"], 1),
        ("a.csv", "4,J\ufffdrg", "it contains bytes of another encoding", ["id", "name"], 1),
        ("b.csv", "Eve,5,more", "expected 2 fields, as in the header", ["name", "id"], 1),
    ]
    in_bronze = [row for row in people.rows("_batch_id", "_row_number", "_corrupt_record") if row[2]]
    assert _rejected(people, "batch_id", "row_id", "raw_record") == sorted(in_bronze, key=str)


@pytest.mark.core
def test_a_corrected_record_is_replayed_once(make_feed: MakeFeed) -> None:
    """R1.4, R1.5: after a fix in ops.rejected_records; what is still broken waits; again changes nothing."""
    people = make_feed()
    people.write("a.csv", "name,id\nAda,1\nBob,2,more\nCy\n")
    people.land()
    table = f"{people.ops_schema}.rejected_records"
    people.spark.sql(f"update {table} set raw_record = 'Bob,2' where raw_record = 'Bob,2,more'")
    first, version = _replay(people), people.version()
    assert (first.replayed, first.waiting) == (1, 1)
    again = _replay(people)
    assert (again.replayed, again.waiting, people.version()) == (0, 1, version)
    assert _sound(people, "id", "name", "_source_file", "_batch_id") == [
        ("1", "Ada", "a.csv", 1),
        ("2", "Bob", "a.csv", 2),
    ]
    assert _rejected(people, "raw_record", "replayed_batch") == [("Bob,2", 2), ("Cy", None)]
    people.write("b.csv", "id,name\n3,Cy\n")
    assert people.land().files == 1
    assert people.states()[-1] == ("b.csv", "landed", 3, 1)


def test_one_option_fixes_all_files(make_feed: MakeFeed) -> None:
    """R1.4: the declaration was wrong: with the right one, records are replayed and files land."""
    people = make_feed({"id": "bigint", "tags": "array<string>"}, "json")
    people.write("a.json", '[{"id": 1}, {"id": 2, "tags": ["x"]}]\n{"id": 3}\n')
    assert people.land().broken == 1
    mended = make_feed({"id": "bigint", "tags": "array<string>"}, "json", options={"whole_file": True})
    assert _replay(mended).replayed == 2
    assert _sound(mended, "id", "tags") == [(1, None), (2, ["x"]), (3, None)]


KILLED_AT = [(BronzeTable, "append"), (Quarantine, "mark"), (IngestedFiles, "confirm")]


@pytest.mark.parametrize(("owner", "step"), KILLED_AT if is_night("replay") else KILLED_AT[:2])
def test_a_replay_that_is_killed(
    make_feed: MakeFeed, monkeypatch: pytest.MonkeyPatch, owner: type, step: str
) -> None:
    """R1.5: killed before the marks, before the append, before the confirmation: each record lands once."""
    people = make_feed()
    people.write("a.csv", "id,name\n1\n")
    people.land()
    people.spark.sql(f"update {people.ops_schema}.rejected_records set raw_record = '1,Ada'")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(owner, step, killed)
        with pytest.raises(KeyboardInterrupt):
            _replay(people)
    people.write("b.csv", "id,name\n2,Bob\n")
    assert people.land().files == 1
    _replay(people)
    assert _sound(people, "id", "name") == [("1", "Ada"), ("2", "Bob")]


def test_records_go_to_a_spreadsheet_as_text(make_feed: MakeFeed, tmp_path: Path) -> None:
    """R1.4: a record that begins like a formula is none; others are as they were."""
    people = make_feed()
    people.write("a.csv", 'id,name\n=cmd(),x,y\n@A1\n-1\nplain\n"a ""b""",c,d\n2,Bob\n')
    people.land()
    target = tmp_path / "rejected.csv"
    assert write_rejected(people.spark, people.ops_schema, ["people"], target) == 5
    with target.open(newline="") as stream:
        rows = [*csv.DictReader(stream)]
    assert [row["raw_record"] for row in rows] == ["'=cmd(),x,y", "'@A1", "'-1", "plain", '"a ""b""",c,d']
    assert rows[0]["reason"] == "expected 2 fields, as in the header"
    assert write_rejected(people.spark, f"{people.ops_schema}_none", ["people"], target) == 0


def test_too_many_broken_records_stop_the_batch(make_feed: MakeFeed) -> None:
    """R1.4: by number or by share; nothing of the batch lands, and the message shows the first."""
    text = "id,name\n1,Ada\n2\n3\n4,Di\n"
    strict = make_feed(max_rejected_records=1)
    strict.write("a.csv", text)
    with pytest.raises(LandingError, match="2 of 4 records cannot be read, so none of them landed") as caught:
        strict.land()
    assert "The first, in a.csv: expected 2 fields, as in the header: '2'" in str(caught.value)
    assert strict.rows("id") == [] == strict.states()
    with pytest.raises(LandingError, match=r"max_rejected_share: 0\.25"):
        make_feed(max_rejected_share=0.25).land()
    assert make_feed(max_rejected_share=0.5).land().broken == 2
