"""How far a landing is, told after each batch."""

from __future__ import annotations

import json
import re

import pytest
from rich.console import Console

from python_ingest.files.landing import Lander
from python_ingest.files.progress import Progress, Shown
from tests.conftest import MakeFeed
from tidemark.base.output import Output

pytestmark = [pytest.mark.R1, pytest.mark.formats(day="iceberg", night="delta iceberg")]


def test_progress_is_reported_after_each_batch(
    make_feed: MakeFeed, capsys: pytest.CaptureFixture[str]
) -> None:
    """R1.1: landed and total files, bytes and rows, the rate, the time left; not the end of the landing."""
    people = make_feed(max_files=2)
    for number in range(5):
        people.write(f"{number}.csv", f"id,name\n{number},Ada\n")
    output = Output()
    output.as_json = True
    Lander(people.spark, people.feed, people.ops_schema, progress=Progress("people", output)).land()
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    facts = [
        (line["event"], line["files"], line["files_of"], line["bytes_of"], line["rows"]) for line in events
    ]
    assert facts == [("progress", 2, 5, 70, 2), ("progress", 4, 5, 70, 4)]
    assert (events[0]["bytes"], events[1]["bytes"]) == (28, 56)
    assert events[0]["message"].startswith("people: 2 of 5 files, 28 bytes of 70 bytes, 2 rows, ")


def test_on_a_terminal_it_is_a_bar(make_feed: MakeFeed, capsys: pytest.CaptureFixture[str]) -> None:
    """A bar for each feed moves while its landing is under way, and goes when it is done."""
    people = make_feed()
    people.write("a.csv", "id,name\n1,Ada\n")
    output = Output()
    output.console = Console(force_terminal=True, width=80)
    with Shown(people.spark, output) as shown, shown.feed("people") as progress, shown.feed("others"):
        Lander(people.spark, people.feed, people.ops_schema, progress=progress).land()
    printed = capsys.readouterr().out
    assert re.search(r"━{10} people 0/1 files, .* s left", re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", printed))
    assert "others" in printed
    assert (progress.files_done, progress.rows_done) == (1, 1)
