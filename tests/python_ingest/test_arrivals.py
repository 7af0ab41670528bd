"""Looking for new files without Spark: what counts as new, and what is passed over."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from python_ingest.feeds.declarations import FileFeed, feeds_of
from python_ingest.files.arrivals import fingerprints, watched

pytestmark = [pytest.mark.R4, pytest.mark.core]
NOW = 1_750_000_000.0


def feed(location: Path | str, **external: Any) -> list[FileFeed]:
    node = {
        "name": "people",
        "schema": "bronze",
        "original_file_path": "models/bronze/_bronze__sources.yml",
        "external": {"location": str(location), "file_format": "csv", "pattern": "people_*.csv", **external},
        "columns": {"id": {"name": "id", "data_type": "string"}},
    }
    return watched(feeds_of([node]))


def write(file: Path, age: float, content: str = "id\n1\n") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")
    os.utime(file, (NOW - age, NOW - age))


def test_new_changed_and_removed_files_are_detected(tmp_path: Path) -> None:
    """R4.5: the same files give the same word, in folders below too; no file gives none."""
    people = feed("raw")
    assert fingerprints(people, tmp_path, NOW) == {}
    write(tmp_path / "raw" / "people_1.csv", age=9)
    looks = [fingerprints(people, tmp_path, NOW)["people"]]
    write(tmp_path / "raw" / "2025" / "people_2.csv", age=9)
    looks.append(fingerprints(people, tmp_path, NOW)["people"])
    write(tmp_path / "raw" / "people_1.csv", age=9, content="id\n1\n2\n")
    looks.append(fingerprints(people, tmp_path, NOW)["people"])
    write(tmp_path / "raw" / "people_1.csv", age=8, content="id\n1\n2\n")
    looks.append(fingerprints(people, tmp_path, NOW)["people"])
    assert len(set(looks)) == 4
    assert fingerprints(people, tmp_path, NOW + 60) == {"people": looks[-1]}
    (tmp_path / "raw" / "people_1.csv").unlink()
    assert fingerprints(people, tmp_path, NOW)["people"] not in looks


@pytest.mark.parametrize(
    "name", ["orders_1.csv", ".people_1.csv", "_people_1.csv", "_tmp/people_1.csv", "people_1.csv._COPYING_"]
)
def test_ignored_files_do_not_start_a_run(tmp_path: Path, name: str) -> None:
    """R4.5: hidden and half copied files, and those of another pattern."""
    write(tmp_path / name, age=9)
    assert fingerprints(feed(tmp_path), tmp_path, NOW) == {}


def test_a_file_counts_as_arrived_when_it_stops_growing(tmp_path: Path) -> None:
    """R4.5: else its run would leave it for the next one, and nothing would start that."""
    write(tmp_path / "people_1.csv", age=30)
    people = feed(tmp_path, settle="1 minute")
    assert fingerprints(people, tmp_path, NOW) == {}
    assert fingerprints(people, tmp_path, NOW + 31).keys() == {"people"}


def test_object_stores_are_not_watched() -> None:
    """R4.5: the schedule lands them."""
    assert feed("s3a://bucket/people") == []
    assert len(feed("/raw/people")) == 1
