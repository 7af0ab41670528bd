"""Landing: exactly once, whatever happens and whatever the files hold."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import cast

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from python_ingest.bronze.table import BronzeTable
from python_ingest.ops import ingested_files
from python_ingest.ops.batch import Batch
from python_ingest.ops.ingested_files import IngestedFiles
from tests.conftest import ROOT, FeedFolder
from tidemark.base.errors import LandingError, SparkLostError, TidemarkError
from tidemark.cli.landing import land
from tidemark.engine.project import Project

pytestmark = pytest.mark.R1


@pytest.mark.core
def test_a_file_lands_once_and_a_new_file_lands_alone(people: FeedFolder) -> None:
    """R1.1: files already landed are known; a re-run lands nothing and commits nothing."""
    people.write("one.csv", "id,name\n1,Ada\n2,Bob\n")
    first = people.land()
    version = people.version()
    again = people.land()
    assert (first.files, first.rows, again.files, again.known) == (1, 2, 0, 1)
    assert people.version() == version

    people.write("sub folder/two+ü [1]*.csv", "id,name\n3,Cy\n")
    second = people.land()
    assert (second.files, second.rows, second.known) == (1, 1, 1)
    assert people.rows("id", "name", "_source_file", "_batch_id") == [
        ("1", "Ada", "one.csv", 1),
        ("2", "Bob", "one.csv", 1),
        ("3", "Cy", "sub folder/two+ü [1]*.csv", 2),
    ]
    assert people.states() == [
        ("one.csv", "planned", 1, None),
        ("one.csv", "landed", 1, 2),
        ("sub folder/two+ü [1]*.csv", "planned", 2, None),
        ("sub folder/two+ü [1]*.csv", "landed", 2, 1),
    ]


def test_more_files_than_one_plan_holds_land_in_passes(
    people: FeedFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.1: the driver never holds all new files; the oldest land first, and broken ones end no landing."""
    monkeypatch.setattr(ingested_files, "MAX_FILES", 2)
    for number in range(3):
        path = people.write(f"{number}.csv", f"id,name\n{number},Ada\n")
        os.utime(path, (1000 - number, 1000 - number))
    for number in range(2):
        people.write(f"broken {number}.csv", "id\n1\n")
    found = people.land()
    assert (found.files, found.rows, len(found.rejected)) == (3, 3, 2)
    assert people.rows("_source_file", "_batch_id") == [("0.csv", 2), ("1.csv", 1), ("2.csv", 1)]
    assert people.land().known == 3


def test_a_touched_file_is_known_and_a_changed_one_lands_again(people: FeedFolder) -> None:
    """R1.1: time alone does not make a file new; other bytes do."""
    path = people.write("one.csv", "id,name\n1,Ada\n")
    people.land()
    os.utime(path, (1, 1))
    assert people.land().files == 0
    noted = len(people.states())
    assert people.land().known == 1
    assert len(people.states()) == noted, "the new time is noted once"
    people.write("one.csv", "id,name\n1,Eve\n")
    assert people.land().files == 1
    people.write("one.csv", "")
    assert people.land().rejected
    people.write("one.csv", "id,name\n1,Eve\n")
    assert people.land().files == 0, "the bytes are those that were landed last"
    assert people.rows("name", "_batch_id") == [("Ada", 1), ("Eve", 2)]


def test_killed_after_the_plan_the_next_run_finishes_it(
    people: FeedFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.5: planned but not written: the batch lands once, under its number."""
    people.write("one.csv", "id,name\n1,Ada\n")
    _land_killed_in(BronzeTable, "append", people, monkeypatch)
    outcome = people.land()
    assert (outcome.resumed, outcome.rows) == (1, 1)
    assert people.rows("id", "_batch_id") == [("1", 1)]


@pytest.mark.core
def test_killed_before_the_confirmation_the_next_run_only_confirms(
    people: FeedFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.5: written but not confirmed: nothing is written twice."""
    people.write("one.csv", "id,name\n1,Ada\n")
    _land_killed_in(IngestedFiles, "confirm", people, monkeypatch)
    version = people.version()
    assert people.land().resumed == 1
    assert people.version() == version
    assert people.rows("id", "_batch_id") == [("1", 1)]


@pytest.mark.core
def test_delta_skips_a_batch_that_it_has(people: FeedFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.5: even a writer that does not look first cannot double a batch."""
    people.write("one.csv", "id,name\n1,Ada\n")
    _land_killed_in(IngestedFiles, "confirm", people, monkeypatch)
    monkeypatch.setattr(BronzeTable, "has", lambda self, batch: False)
    people.land()
    assert people.rows("id", "_batch_id") == [("1", 1)]


def test_a_planned_file_that_changed_is_planned_anew(
    people: FeedFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.5: a plan is never carried out on other bytes than were planned."""
    people.write("one.csv", "id,name\n1,Ada\n")
    _land_killed_in(BronzeTable, "append", people, monkeypatch)
    people.write("one.csv", "id,name\n1,Eve\n")
    people.land()
    assert people.rows("name", "_batch_id") == [("Eve", 2)]
    assert [state for _, state, _, _ in people.states()] == [
        "planned",
        "abandoned",
        "planned",
        "landed",
    ]


def test_a_missing_folder_is_reported(people: FeedFolder) -> None:
    """R1.1: the error names the feed, the folder and the fix."""
    people.folder.rmdir()
    with pytest.raises(LandingError, match="Feed 'people': its location .* does not exist") as caught:
        people.land()
    assert "Create the folder" in str(caught.value)


def test_a_lost_jvm_is_reported_with_the_files_it_was_reading(
    people: FeedFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.1: the error names the feed and its files, and the next landing resumes."""
    people.write("a.csv", "id,name\n1,Ada\n")
    people.write("b.csv", "id,name\n2,Bob\n")
    lakehouse = cast(Project, SimpleNamespace(root=ROOT, ops_schema=people.ops_schema))

    def end(*_: object) -> None:
        raise Py4JNetworkError("Answer from Java side is empty")

    with monkeypatch.context() as patch:
        patch.setattr("python_ingest.land_one.spark_is_lost", lambda spark: True)
        patch.setattr(BronzeTable, "append", end)
        ended = r"Feed 'people': Spark's process \(the JVM\) ended while reading a\.csv, b\.csv\."
        with pytest.raises(SparkLostError, match=ended):
            land(people.spark, lakehouse, [people.feed])
    (outcome,) = land(people.spark, lakehouse, [people.feed])
    assert (outcome.resumed, outcome.rows) == (1, 2)


def test_a_full_disk_is_reported(people: FeedFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.1: the error names the full disk and the fix; the next landing resumes."""
    people.write("a.csv", "id,name\n1,Ada\n")
    lakehouse = cast(Project, SimpleNamespace(root=ROOT, ops_schema=people.ops_schema))
    append = BronzeTable.append

    def fail(self: BronzeTable, rows: DataFrame, batch: Batch) -> None:
        full = f.raise_error(f.lit("No space left on device")).cast("string")
        append(self, rows.withColumn("name", full), batch)

    with monkeypatch.context() as patch:
        patch.setattr(BronzeTable, "append", fail)
        with pytest.raises(
            LandingError, match=r"Feed 'people': .*_bronze\.people could not be written.*full"
        ):
            land(people.spark, lakehouse, [people.feed])
    (outcome,) = land(people.spark, lakehouse, [people.feed])
    assert (outcome.resumed, outcome.rows) == (1, 1)


BAD_FILES = {
    "empty.csv": (b"", "the file is empty: it has no header"),
    "missing.csv": (b"id\n1\n", "its header lacks name"),
    "twice.csv": (b"id,name,Name\n1,Ada,Eve\n", "the header names 'name' more than once"),
    "image.csv": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "not a CSV file: it contains NUL bytes"),
    "page.csv": (b"<html>404</html>", "not a file of this feed: its header has none of the declared columns"),
    "latin.csv": (b"id,n\xe4me\n", "the header is not UTF-8 (option `encoding`): 'id,n\ufffdme'"),
    "packed.csv": (b"\x1f\x8b\x08", "it is compressed with gzip, but its name does not end in .gz"),
    "utf16.csv": (
        "id,name\n".encode("utf-16-le"),
        "it looks like UTF-16-LE: set the feed's option `encoding: utf-16-le`",
    ),
    "utf32.csv": (
        "id,name\n".encode("utf-32-be"),
        "it looks like UTF-32-BE: set the feed's option `encoding: utf-32-be`",
    ),
    "zero.csv": (b"id,na\0me\n", "its header contains NUL bytes"),
}


@pytest.mark.core
def test_files_that_are_not_the_feeds_are_set_aside_with_a_reason(people: FeedFolder) -> None:
    """R1.4: each bad file is recorded once with its reason; others land, and so does a corrected file."""
    for name, (content, _) in BAD_FILES.items():
        people.write(name, content)
    people.write("good.csv", "id,name\n1,Ada\n")
    people.write("quiet.csv", "id,name\n")
    people.write("12:00.csv", "id,name\n")  # Hadoop cannot open such a local name
    outcome = people.land()
    assert (outcome.files, outcome.rows) == (2, 1)
    colon = "cannot be read: its name contains a colon, which Hadoop does not allow in local files: rename it"
    assert outcome.rejected.pop("12:00.csv") == colon
    assert outcome.rejected == {name: reason for name, (_, reason) in BAD_FILES.items()}

    people.write("missing.csv", "id,name\n2,Bob\n")
    outcome = people.land()
    assert (outcome.files, outcome.rows, outcome.known) == (1, 1, 2)
    assert sorted(outcome.rejected) == sorted(set(BAD_FILES) - {"missing.csv"} | {"12:00.csv"})
    rejections = [path for path, state, _, _ in people.states() if state == "rejected"]
    assert sorted(rejections) == sorted([*BAD_FILES, "12:00.csv"])


@pytest.mark.core
def test_columns_map_by_name_and_undeclared_ones_are_rescued(people: FeedFolder) -> None:
    """R1.1: reordered, other letter case, a BOM, more columns: nothing shifts, nothing is lost."""
    people.write("a.csv", "name,id\nAda,1\n")
    people.write("b.csv", "\ufeffID,Name\r\n2,Bob\r\n")
    people.write("c.csv", "id,e-mail.x,name\n3,c@x.org,Cy\n4,,Di\n")
    people.land()
    assert people.rows("id", "name", "_rescued_data", "_corrupt_record") == [
        ("1", "Ada", None, None),
        ("2", "Bob", None, None),
        ("3", "Cy", '{"e-mail.x":"c@x.org"}', None),
        ("4", "Di", None, None),
    ]


def test_broken_lines_are_kept_as_they_were_read(people: FeedFolder) -> None:
    """R1.4: wrong number of fields, broken quote, bad encoding: one bronze row each, marked, none lost."""
    lines = [b"1,Ada", b"2", b"3,Cy,more", b'4,"Di', b"5,J\xf6rg", b'6,"Smith, ""Al"""', b"7,\x01"]
    people.write("mixed.csv", b"id,name\n" + b"\n".join(lines) + b"\n")
    people.write("equal.csv", "id,name\n" + "1,Ada\n" * 50)
    assert people.land().rows == len(lines) + 50
    assert len(set(people.rows("_batch_id", "_row_number"))) == len(lines) + 50
    found = {row[0]: row[1:] for row in people.rows("id", "name", "_corrupt_record")}
    assert found["1"] == ("Ada", None)
    assert found["2"][1] == "2"
    assert found["3"][1] == "3,Cy,more"
    assert found["5"][1] == "5,J\ufffdrg"
    assert found["6"] == ('Smith, "Al"', None)
    assert found["7"] == ("\x01", None)
    assert found["4"][1] == '4,"Di'


def test_a_lost_manifest_loses_no_file(people: FeedFolder) -> None:
    """R1.1: batch numbers stay above bronze's, or Delta would skip the append without a word."""
    people.write("one.csv", "id,name\n1,Ada\n")
    people.land()
    people.spark.sql(f"drop table {people.ops_schema}.ingested_files")
    people.write("two.csv", "id,name\n2,Bob\n")
    people.land()
    assert people.rows("id", "_batch_id") == [("1", 1), ("1", 2), ("2", 2)]
    people.spark.sql(f"drop table {people.feed.table}")
    with pytest.raises(LandingError, match="does not exist, but"):
        people.land()


def _land_killed_in(owner: type, step: str, people: FeedFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(owner, step, killed)
        with pytest.raises(KeyboardInterrupt):
            people.land()


def test_the_root_error_carries_what_and_fix() -> None:
    """Every expected error says what happened and what to do."""
    error = TidemarkError("It broke.", "Fix it.")
    assert (error.what, error.fix) == ("It broke.", "Fix it.")
    assert str(error) == "It broke.\n  → Fix it."
