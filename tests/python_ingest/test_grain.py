"""Records of one file that share the feed's key: counted, shown in a note, and stopped above a limit."""

from __future__ import annotations

import json
from typing import Any

import pytest

from python_ingest.feeds.declarations import FileFeed, feeds_of
from python_ingest.files.grain import FileGrain, notes
from python_ingest.files.outcome import LandedFiles
from tests.conftest import FeedFolder, MakeFeed
from tests.python_ingest.test_declarations import source
from tidemark.base.errors import DeclarationError, LandingError

pytestmark = [pytest.mark.R1, pytest.mark.formats(day="iceberg", night="delta iceberg")]

COLUMNS = {"state": "string", "country": "string", "cases": "string", "updated_at": "string"}
HEADER = "state,country,cases,updated_at\n"
COUNTIES = "state,country,cases,county\nAnyland,X,10,North\nAnyland,X,20,South\nAnyland,X,30,East\n"
FIX = "correct `key` in models/bronze/_bronze__sources.yml and unique_key of the silver model"


def _notes(feed: FeedFolder, outcome: LandedFiles) -> list[tuple[str, str]]:
    assert isinstance(feed.feed, FileFeed)
    return list(notes(feed.feed, outcome.grain))


def test_records_of_one_key_that_differ_are_counted_by_file(make_feed: MakeFeed) -> None:
    """R1.4: the second delivery has counties; copies, blanks and missing keys are counted apart."""
    feed = make_feed(COLUMNS, key=["state", "country"], contract={"missing_column": "rescue"})
    feed.write("1.csv", "state,country,cases\nAnyland,X,5\nOtherland,X,3\n")
    first = feed.land()
    assert (first.rows, first.grain) == (2, [])

    feed.write("2.csv", COUNTIES)
    feed.write("3.csv", f"{HEADER}A,X,1,\nA,X,1,\n A ,X,1,\nB,X,2,\n,X,2,\n  ,X,2,\n")
    second = feed.land()
    assert second.rows == 9
    assert [(one.path, one.records, one.differing, one.lost, one.copies) for one in second.grain] == [
        ("2.csv", 3, 3, 2, 0),
        ("3.csv", 6, 3, 1, 1),
    ]
    shared = "share their key with others and differ, such as"
    assert _notes(feed, second) == [
        (
            "grain",
            f"2.csv: 3 of 3 records {shared} 3 records with state=Anyland, country=X: "
            f"2 of them would be lost in silver; {FIX}",
        ),
        (
            "grain",
            f"3.csv: 3 of 6 records {shared} 3 records with state=A, country=X: "
            f"1 of them would be lost in silver; {FIX}",
        ),
        (
            "copies",
            "3.csv: exact copies of other records: 1 of 6; silver keeps one of each; "
            "if each counts, add a column to `key` that tells them apart",
        ),
        ("no key", "3.csv: state or country is missing in 2 of 6 records"),
    ]


def test_nothing_lands_above_the_maximum_share(make_feed: MakeFeed) -> None:
    """R1.4: the share is that of one file; versions that `newest_by` tells apart are no fault."""
    options: dict[str, Any] = {"newest_by": "updated_at", "max_repeated_share": 0.25, "pii": ["country"]}
    feed = make_feed(COLUMNS, key="state", contract={"missing_column": "rescue"}, **options)
    feed.write("1.csv", f"{HEADER}A,X,1,2025-01-01\nA,X,2,2025-01-02\nB,X,2,2025-01-02\nB,X,3,2025-01-02\n")
    feed.write("2.csv", f"{HEADER}A,X,4,2025-01-03\nA,X,4,2025-01-03\n")
    outcome = feed.land()
    assert [(one.path, one.lost, one.copies) for one in outcome.grain] == [("1.csv", 1, 0), ("2.csv", 0, 1)]

    feed.write("3.csv", f"{HEADER}C,X,1,2025-01-01\n")
    feed.write("4.csv", COUNTIES)
    with pytest.raises(LandingError) as stopped:
        feed.land()
    assert "4.csv: 3 of 3 records share their key" in stopped.value.what
    assert "None of the batch landed (max_repeated_share: 0.25)" in stopped.value.what
    assert stopped.value.fix.startswith("Correct `key` in models/bronze/_bronze__sources.yml and unique_key")
    assert len(feed.rows("state")) == 6


def test_a_note_shows_few_files_and_no_personal_value() -> None:
    feed = feeds_of([source(external={"location": "x", "file_format": "csv", "key": "order_id"})])["orders"]
    assert isinstance(feed, FileFeed)
    found = [FileGrain(f"{number}.csv", 9, 2, 1, 0, 0, "2 records with order_id=…") for number in range(7)]
    found_notes = list(notes(feed, found))
    assert len(found_notes) == 6
    assert found_notes[-1] == ("grain", "the same in 2 more files")


def test_times_are_compared_by_all_their_digits(make_feed: MakeFeed) -> None:
    """R1.4: records that a microsecond tells apart are not the same."""

    def text(rows: str) -> str:
        values = [{"id": name, "at": f"2025-01-01T00:00:00.00000{digit}Z"} for name, digit in rows.split()]
        return "".join(f"{json.dumps(one)}\n" for one in values)

    feed = make_feed(
        {"id": "string", "at": "timestamp"},
        "json",
        key="id",
        on_removed="retract",
        on_change="reland",
        max_removed_share=1,
    )
    feed.write("a.json", text("A1 A2 B1"))
    assert [(one.differing, one.copies) for one in feed.land().grain] == [(2, 0)]
    feed.write("a.json", text("A1 A2 B2"))
    assert feed.land().retracted == 1


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"key": "id"}, "columns of the key: 'id' is not a declared column"),
        ({"key": "order_id", "newest_by": "at"}, "columns of the key: 'at' is not a declared column"),
        ({"newest_by": "order_id"}, "`newest_by` needs `key`, the columns that identify a record"),
        ({"max_repeated_share": 0.1}, "`max_repeated_share` needs `key`"),
        ({"on_removed": "retract"}, "`on_removed: retract` needs `key`"),
        (
            {"on_removed": "retract", "key": "order_id", "discovery": "modified_after"},
            "`on_removed: retract` needs `discovery: manifest`, which compares all files",
        ),
        (
            {"on_removed": "retract", "key": "order_id", "on_lost_rows": "land_again"},
            "`on_removed: retract` cannot be combined with `on_lost_rows: land_again`",
        ),
    ],
)
def test_options_of_the_key_must_fit_together(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(DeclarationError) as error:
        feeds_of([source(external={"location": "x", "file_format": "csv", **options})])
    assert problem in str(error.value)
    assert "(it is" not in str(error.value)
