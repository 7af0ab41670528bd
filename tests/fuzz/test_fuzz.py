"""Whatever a file holds: its rows are the records that another reader counts, or it is set aside."""

from __future__ import annotations

import bz2
import gzip
import io
import json
from collections import defaultdict
from typing import Any

import fastavro
import pytest
from hypothesis import strategies as st

from tests.conftest import FeedFolder, MakeFeed
from tests.fuzz.files import (
    BROKEN,
    OBJECTS,
    VALUES,
    csv_files,
    drawn,
    dumped,
    has_open_quote,
    spanning_rows,
    written,
)

pytestmark = [pytest.mark.R1, pytest.mark.R5, pytest.mark.formats(day="iceberg", night="delta iceberg")]

AVRO = {
    "type": "record",
    "name": "person",
    "fields": [{"name": "id", "type": "long"}, {"name": "name", "type": "string"}],
}
DAMAGED = ("it is truncated or damaged", "Spark cannot read it, maybe because it is damaged")
REASONS = ("the file is empty", "it is not in Avro format", *(f"broken: {one}" for one in DAMAGED))
REASONS += (f"its schema cannot be read: {DAMAGED[0]}",)
PACKED = {7: ".gz", 13: ".bz2"}
PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}


def _by_file(people: FeedFolder, *columns: str) -> dict[str, list[tuple[Any, ...]]]:
    """Land, and return the rows by file, in their order; no file is set aside."""
    assert people.land().rejected == {}
    found: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for row in people.spark.table(people.feed.table).orderBy("_row_number").collect():
        found[row["_source_file"]].append(tuple(row[column] for column in columns))
    return found


def test_csv_of_lines(make_feed: MakeFeed) -> None:
    """R1.1, R1.4: with `multi_line: false`, every line is a row; valid ones have a strict reader's values."""
    people = make_feed(options={"multi_line": False})
    files = {f"{n}.csv{PACKED.get(n % 20, '')}": file for n, file in enumerate(drawn(csv_files(), 150))}
    for name, file in files.items():
        people.write(name, PACKERS[name.partition(".csv")[2]](file.content))
    found = _by_file(people, "_corrupt_record", "id", "name", "_rescued_data")
    read = 0
    for name, file in files.items():
        lines, rows = file.lines(), found[name]
        assert len(rows) == len(lines), (name, file.content)
        for line, row in zip(lines, rows, strict=True):
            expected = file.row(line)
            if has_open_quote(line):
                assert row[0] == line, (name, line)
            elif expected is None:
                assert row[0] in (None, line), (name, line)
            else:
                assert (row[0], row[1] or None, row[2] or None) == (None, *expected), (name, line)
                read += 1
    assert read > 150
    assert any(row[0] for rows in found.values() for row in rows)


def test_csv_over_several_lines(make_feed: MakeFeed) -> None:
    """R1.1: what Python's writer writes is what is read, and an open quote below it breaks one line."""
    people = make_feed()
    files = {f"{n}.csv": rows for n, rows in enumerate(drawn(spanning_rows(), 60))}
    for name, rows in files.items():
        people.write(name, written([["id", "name"], *rows]) + '1,"open\n2,"Bob"\n')
    found = _by_file(people, "id", "name", "_corrupt_record")
    for name, rows in files.items():
        expected = [(one, other or None, None) for one, other in rows]
        expected += [("1", "open", '1,"open'), ("2", "Bob", None)]
        assert [(row[0], row[1] or None, row[2]) for row in found[name]] == expected, name


def test_json_lines(make_feed: MakeFeed) -> None:
    """R5.1: every line is a row; an object is found again in its columns and its rescued fields."""
    people = make_feed({"id": "bigint", "name": "string"}, "json")
    as_it_is = OBJECTS.map(lambda value: dumped(value, ascii_only=False))
    lines_of = st.lists(st.one_of(OBJECTS.map(dumped), as_it_is, BROKEN), min_size=1, max_size=6)
    files = {f"{number}.json": lines for number, lines in enumerate(drawn(lines_of, 100))}
    for name, lines in files.items():
        people.write(name, "\n".join(lines))
    found = _by_file(people, "_corrupt_record", "id", "name", "_rescued_data")
    for name, lines in files.items():
        assert len(found[name]) == len(lines), (name, lines)
        for line, row in zip(lines, found[name], strict=True):
            _check_object(line, *row)


def _check_object(line: str, corrupt: str | None, number: Any, name: Any, rescued: str | None) -> None:
    if corrupt is not None:
        assert corrupt == line
        return
    value = json.loads(line)
    kept = json.loads(rescued) if rescued else {}
    if "id" not in kept:
        assert number == value.get("id"), line
    elif type(value["id"]) is int:
        assert not -(2**63) <= value["id"] < 2**63, line
    if isinstance(value.get("name"), str):
        assert name == value["name"], line
    assert set(value) - {"id", "name"} == set(kept) - {"id", "name"}, line


def test_json_files(make_feed: MakeFeed) -> None:
    """R5.1: with `whole_file`, the elements of an array are the rows; what is no JSON is one of them."""
    people = make_feed({"id": "bigint", "name": "string"}, "json", options={"whole_file": True})
    values = st.one_of(st.lists(OBJECTS, max_size=4), OBJECTS, st.lists(VALUES, max_size=3))
    texts = [dumped(value) for value in drawn(values, 40)]
    texts += ["{", "[", '[{"id": 1}, {]', "nothing", '["a" "b"]']
    for number, text in enumerate(texts):
        people.write(f"{number}.json", text)
    found = _by_file(people, "_corrupt_record", "id", "name", "_rescued_data")
    for number, text in enumerate(texts):
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        expected = len(value) if isinstance(value, list) else 1
        assert len(found[f"{number}.json"]) == expected, text


def test_avro_that_is_cut(make_feed: MakeFeed) -> None:
    """R5.1: all rows of a file that another reader takes, or none of it and a reason."""
    people = make_feed({"id": "bigint", "name": "string"}, "avro")
    buffer = io.BytesIO()
    records = [{"id": number, "name": f"name {number}"} for number in range(40)]
    fastavro.writer(buffer, AVRO, records, codec="null", sync_interval=200)
    whole = buffer.getvalue()
    cuts = range(0, len(whole), 60)
    files = {f"{length}.avro": whole[:length] for length in cuts} | {"whole.avro": whole}
    for name, content in files.items():
        people.write(name, content)
    outcome = people.land()
    counts = dict(_counts(people))
    for name, content in files.items():
        if name in outcome.rejected:
            assert outcome.rejected[name].startswith(REASONS)
            assert name not in counts
        else:
            assert counts[name] == len([*fastavro.reader(io.BytesIO(content))]), name
    assert counts["whole.avro"] == 40


def _counts(people: FeedFolder) -> list[tuple[Any, ...]]:
    counts = people.spark.table(people.feed.table).groupBy("_source_file").count()
    return [tuple(row) for row in counts.collect()]
