"""Files made to do harm: none crashes a landing, none is lost without a word, none leaves the location."""

from __future__ import annotations

import gzip
import os
import zipfile

import pytest

from python_ingest.files import contents, streams
from python_ingest.files.formats.json_records import MAX_DEPTH, NO_OBJECT, TOO_DEEP, TWICE
from python_ingest.files.formats.json_text import HALF, HUGE
from python_ingest.files.formats.lines import HOLDS_NUL
from tests.conftest import MakeFeed
from tests.night import nightly

pytestmark = [pytest.mark.R1, pytest.mark.R5, pytest.mark.formats(day="iceberg", night="delta iceberg")]

HEAD = b"id,name\n"


def test_files_with_wrong_content_are_rejected(make_feed: MakeFeed) -> None:
    """R1.4: each is refused with a reason, and the good ones beside them land."""
    people = make_feed(pattern="*", max_bytes="20 MB")
    people.write("good.csv", HEAD + b"1,Ada\n")
    people.write("two members.csv.gz", gzip.compress(HEAD + b"2,Bob\n") + gzip.compress(b"3,Cy\n"))
    people.write("$(touch x); drop table bronze.people;.csv", HEAD + b"4,Di\n")
    people.write("-rf *\n%00%2e%2e.csv", HEAD + b"5,Eve\n")
    with zipfile.ZipFile(people.folder / "packed.csv", "w") as archive:
        archive.writestr("a.csv", "id,name\n")
    people.write("many columns.csv", b",".join(b"c%d" % n for n in range(9_000)) + b"\n")
    people.write("wide header.csv", b"id,name," + b"x" * 100_000 + b"\n6,Fay,y\n")
    people.write("empty.csv.gz", b"")
    people.write("cut.csv.bz2", b"BZh91AY&SY")
    people.write("bomb.csv.gz", gzip.compress(HEAD + b"0" * 30_000_000))
    people.write("secret.txt", HEAD + b"7,Gil\n").rename(people.folder.parent / "secret.txt")
    (people.folder / "out.csv").symlink_to(people.folder.parent / "secret.txt")
    (people.folder / "inside.csv").symlink_to(people.folder / "good.csv")
    os.mkfifo(people.folder / "pipe.csv")
    outcome = people.land()
    reasons = dict(sorted(outcome.rejected.items()))
    assert reasons.pop("bomb.csv.gz") == "cannot be read: it unpacks to more than 20.0 MB"
    assert reasons.pop("out.csv") == "cannot be read: a link to a place outside the location"
    assert reasons.pop("pipe.csv") == "cannot be read: not a regular file"
    assert reasons.pop("many columns.csv").startswith("not a file of this feed")
    assert reasons.pop("wide header.csv") == "its header is longer than 65.5 kB"
    assert sorted(reasons) == ["cut.csv.bz2", "empty.csv.gz", "packed.csv"]
    assert people.rows("id") == [("1",), ("1",), ("2",), ("3",), ("4",), ("5",)]


def test_a_folder_that_links_to_its_parent(make_feed: MakeFeed) -> None:
    """R1.4: a circle of links ends, and what is in it is landed once."""
    people = make_feed()
    people.write("a/one.csv", HEAD + b"1,Ada\n")
    (people.folder / "a" / "up").symlink_to(people.folder)
    assert set(people.land().rejected.values()) == {"cannot be read: in a folder that is a link"}
    assert people.rows("id", "_source_file") == [("1", "a/one.csv")]


def test_lines_without_end(make_feed: MakeFeed, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.4: a line beyond the limit refuses its file, wherever it is, packed or not."""
    for place in (contents, streams):
        monkeypatch.setattr(place, "MAX_LINE_BYTES", 10_000)
    monkeypatch.setattr(contents, "SMALL_BYTES", 5_000)
    people = make_feed()
    long = b"2," + b"x" * 20_000
    people.write("middle.csv", HEAD + b"1,Ada\n" + long + b"\n3,Cy\n")
    people.write("end.csv", b"\xef\xbb\xbf" + HEAD + long)
    people.write("packed.csv.gz", gzip.compress(HEAD + long + b"\n"))
    people.write("mac.csv", HEAD.replace(b"\n", b"\r") + b"4,Di\r" * 3_000)
    people.write("fits.csv", HEAD + (b"5," + b"x" * 9_000 + b"\r\n") * 3)
    people.write("fits.csv.gz", gzip.compress(HEAD + (b"6," + b"x" * 9_000 + b"\r\n") * 3))
    outcome = people.land()
    too_long = "cannot be read: it has a line of more than 32 MiB"
    assert outcome.rejected == dict.fromkeys(("middle.csv", "end.csv", "packed.csv.gz"), too_long)
    assert outcome.rows == 3_000 + 3 + 3


def test_records_with_very_many_fields(make_feed: MakeFeed) -> None:
    """R1.4: more fields than a parser takes make a broken record, and harm no other."""
    people = make_feed()
    people.write("a.csv", HEAD + b"1,Ada\n" + b"," * 50_000 + b"\n2,Bob\n")
    assert people.land().rows == 3
    assert people.rows("id")[:2] == [("1",), ("2",)]


def test_json_that_strains_the_parser(make_feed: MakeFeed) -> None:
    """R1.4: gigantic values, depths, names and numbers are broken or rescued, and harm no other record."""
    people = make_feed({"id": "bigint", "name": "string"}, "json")
    lines = [
        b'{"id": 1, "more": "%s"}' % (b"x" * 17_000_000),
        b'{"id": 2, "more": %s1%s}' % (b"[" * 3_000, b"]" * 3_000),
        b'{"id": 3, "%s": 1}' % (b"n" * 60_000),
        b'{"id": 4, "more": 1%s}' % (b"0" * 2_000),
        b'{"id": 5, "name": "Eve"}',
        b'{"id": 1e999999999}',
        b'{"id": 7, "more": 1e-999999999}',
    ]
    people.write("a.json", b"\n".join(lines))
    outcome = people.land()
    assert outcome.rows == len(lines)
    rows = people.rows("id", "name", "length(_corrupt_record)", "length(_rescued_data)")
    for row in rows:
        assert (row[0] is not None) != (row[2] is not None) or row[3] is not None, row
    assert (5, "Eve", None, None) in rows


DEEP = 10_000
HOSTILE_JSON = {
    "good": b'{"id": 1, "name": "Ada"}\n',
    "objects": b'{"id": 2, "more": ' + b'{"x":' * DEEP + b"1" + b"}" * (DEEP + 1),
    "arrays": b"[" * DEEP + b"]" * DEEP,
    "arrays in a field": b'{"id": 3, "more": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "marked": b'\xef\xbb\xbf{"id": 4, "name": "Di"}',
    "twice": b'{"id": 5, "id": 6, "more": {"x": 1, "x": 2}}',
    "empty": b"{}",
    "huge": b'{"id": 1e400, "height": -1e400}',
    "nul": b'{"id": 7, "name": "a\x00b", "c\\u0000d": 1}',
    "surrogate": rb'{"id": 8, "name": "\ud800", "e\udc00": "\ud800"}',
    "wide": '{"id": 9, "name": "Ida"}'.encode("utf-16"),
    "several": b'{"id": 10}\n' + b'{"y":' * 400 + b"1" + b"}" * 400 + b'\n{"id": 11}\n',
}


@pytest.mark.parametrize("policy", ["evolve", "rescue"])
def test_hostile_json_beside_a_good_file(make_feed: MakeFeed, policy: str) -> None:
    """R1.4: depths, marks, doubled names, odd numbers and texts: each is reported, the others land."""
    people = make_feed({"id": "bigint", "name": "string"}, "json", contract={"new_column": policy})
    for name, content in HOSTILE_JSON.items():
        people.write(f"{name}.json", content)
    outcome = people.land()
    assert outcome.files + len(outcome.rejected) == len(HOSTILE_JSON)
    assert outcome.rejected["wide.json"] == "not JSON in UTF-8: it looks like UTF-16-LE, write it in UTF-8"
    rows = people.rows("_source_file", "id")
    assert {("good.json", 1), ("marked.json", 4), ("several.json", 10), ("several.json", 11)} <= set(rows)
    reasons = {row[0]: row[1] for row in people.rows("_source_file", "_corrupt_reason") if row[1]}
    too_deep = f"{NO_OBJECT}, or is nested too deeply"
    assert reasons == {
        "objects.json": too_deep,
        "arrays.json": too_deep,
        "arrays in a field.json": too_deep,
        "twice.json": TWICE,
        "huge.json": HUGE,
        "nul.json": HOLDS_NUL,
        "surrogate.json": HALF,
        "several.json": TOO_DEEP,
    }


def test_the_depth_of_json(make_feed: MakeFeed) -> None:
    """R1.4: a new column has up to 10 levels; values with more are rescued; records with over 100, broken."""
    people = make_feed({"id": "bigint"}, "json", contract={"new_column": "evolve"})
    lists = {1: 10, 2: 11, 3: MAX_DEPTH - 1, 4: MAX_DEPTH}
    for number, depth in lists.items():
        people.write(f"{number}.json", f'{{"id": {number}, "x{number}": {"[" * depth}{"]" * depth}}}')
    people.write("5.json", '{"id": 5, "x5": ' + '{"a":' * 10 + '"b"' + "}" * 11)
    people.write("6.json", '{"id": 6, "x6": {"y": 1, "z": ' + '{"a":' * 10 + '"b"' + "}" * 12)
    assert people.land().evolved == ["x5", "x6"]
    assert people.rows("id", "left(_rescued_data, 6)", "_corrupt_reason", "x5 is not null", "x6.y") == [
        (1, '{"x1":', None, False, None),
        (2, '{"x2":', None, False, None),
        (3, '{"x3":', None, False, None),
        (5, None, None, True, None),
        (6, '{"x6":', None, False, 1),
        (None, None, TOO_DEEP, False, None),
    ]


ALTERED = {
    '{"id": 1, "share": 1e400}': HUGE,
    '{"id": 1e400}': HUGE,
    '{"id": 2, "more": {"x": [-1' + "0" * 400 + "]}}": HUGE,
    '{"id": 3, "name": 1e999}': HUGE,
    r'{"id": 4, "name": "\ud800"}': HALF,
    r'{"id": 5, "name": "\ude00\ud83d"}': HALF,
    r'{"id": 6, "more": {"\\\uDFFF": 1}}': HALF,
    '{"id": 7, "name": "a\x00b"}': HOLDS_NUL,
}
HELD = [
    r'{"id": 8, "name": "\ud83d\ude00 \\ud800", "share": 1e308}',
    r'{"id": 9, "name": "12e400 \" 1e999", "share": 1e-400}',
]


@pytest.mark.parametrize("columns", [{}, {"nested": "array<int>"}], ids=["plain", "whole"])
def test_json_values_that_would_be_altered(make_feed: MakeFeed, columns: dict[str, str]) -> None:
    """R1.4: numbers beyond a double, half characters and NUL bytes are broken records with their text."""
    people = make_feed({"id": "bigint", "name": "string", "share": "double"} | columns, "json")
    people.write("a.json", "\n".join([*ALTERED, *HELD]))
    assert people.land().rejected == {}
    assert dict(people.rows("_corrupt_record", "_corrupt_reason")) == {**ALTERED, None: None}
    assert people.rows("id", "name", "share", "_rescued_data")[:2] == [
        (8, "😀 \\ud800", 1e308, None),
        (9, '12e400 " 1e999', 0.0, None),
    ]


def test_json_files_that_would_be_altered(make_feed: MakeFeed) -> None:
    """R1.4: with `whole_file`, such a file is one broken record, with all its text."""
    people = make_feed({"id": "bigint", "share": "double"}, "json", options={"whole_file": True})
    texts = {'[{"id": 1}, {"share": 1e400}]': HUGE, r'[{"id": 2}, {"x": "\ud800"}]': HALF}
    for number, text in enumerate(texts):
        people.write(f"{number}.json", text)
    people.land()
    assert dict(people.rows("_corrupt_record", "_corrupt_reason")) == texts


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"multi_line": True},
        pytest.param({"encoding": "windows-1252"}, marks=nightly("wide files")),
        pytest.param({"header": False}, marks=nightly("wide files")),
    ],
    ids=str,
)
def test_nul_bytes_in_csv(make_feed: MakeFeed, options: dict[str, object]) -> None:
    """R1.4: a line that holds them is a broken record, at the file's beginning as at its end."""
    people = make_feed(options=options)
    header = "id,name\n" if options.get("header", True) else ""
    people.write("a.csv", header + "1,A\0da\n" + "2,Bob\n" * 20_000 + "3,C\0y\n")
    outcome = people.land()
    assert (outcome.rejected, outcome.rows, outcome.broken) == ({}, 20_002, 2)
    broken = people.spark.table(people.feed.table).where("_corrupt_record is not null")
    assert sorted(tuple(row) for row in broken.select("_corrupt_record", "_corrupt_reason").collect()) == [
        ("1,A\0da", HOLDS_NUL),
        ("3,C\0y", HOLDS_NUL),
    ]


def test_header_values_are_not_executed(make_feed: MakeFeed) -> None:
    """R1.4: names that are SQL or Jinja stay names, in bronze as well."""
    people = make_feed(contract={"new_column": "evolve"})
    evil = "x`) ; drop table bronze.people --,\"${spark.app.name} {{ env_var('HOME') }}\",a'b\\c"
    people.write("a.csv", f"id,name,{evil}\n1,Ada,2,3,4\n")
    assert people.land().evolved == ["x_drop_table_bronze_people", "spark_app_name_env_var_home", "a_b_c"]
    assert people.rows("id", "a_b_c") == [("1", "4")]
