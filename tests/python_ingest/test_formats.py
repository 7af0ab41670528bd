"""Every format: each record lands once, in its types; what does not fit is rescued or marked, never lost."""

from __future__ import annotations

import bz2
import gzip
import json

import pytest
from pyspark.sql import SparkSession

from python_ingest.feeds.file_formats import FILE_FORMATS
from python_ingest.files import contents
from tests.conftest import MakeFeed

pytestmark = [pytest.mark.R1, pytest.mark.R5, pytest.mark.formats(day="iceberg", night="delta iceberg")]

JSON_COLUMNS = {
    "id": "bigint",
    "price": "decimal(8,2)",
    "tags": "array<string>",
    "place": "struct<city:string,at:struct<lat:double,lon:double>>",
}


def test_csv_options(make_feed: MakeFeed) -> None:
    """Delimiter, quote, escape, NULL markers, comments and an encoding, all at once."""
    options = {"delimiter": ";", "quote": "'", "escape": "\\", "null_value": ["", "NA", "-"]}
    people = make_feed(options={**options, "comment": "#", "encoding": "windows-1252"})
    text = "# made by hand\n\nid;name\n1;'Jörg €; \\'J\\''\n# between\n2;NA\n3;-\n4;\n"
    people.write("odd.csv", text.encode("cp1252"))
    assert people.land().rows == 4
    assert people.rows("id", "name", "_corrupt_record") == [
        ("1", "Jörg €; 'J'", None),
        ("2", None, None),
        ("3", None, None),
        ("4", None, None),
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
def test_a_byte_order_mark_determines_the_encoding(make_feed: MakeFeed, encoding: str) -> None:
    """What a spreadsheet saves as «Unicode text» needs no option."""
    people = make_feed()
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    people.write("a.csv", f"{mark}id,name\r\n1,Jörg\r\n2,ਗ਼\r\n".encode(encoding))
    people.land()
    assert people.rows("id", "name", "_corrupt_record") == [("1", "Jörg", None), ("2", "ਗ਼", None)]


def test_csv_with_line_breaks_in_fields(make_feed: MakeFeed) -> None:
    """With `multi_line`, a quoted field may span lines; a record of the wrong width is still marked."""
    people = make_feed(options={"multi_line": True})
    people.write("a.csv", 'id,name\n1,"Ada\nLovelace"\n2\n3,"Cy, ""C"""\n')
    assert people.land().rows == 3
    assert people.rows("id", "name", "_corrupt_record") == [
        ("1", "Ada\nLovelace", None),
        ("2", None, "2"),
        ("3", 'Cy, "C"', None),
    ]


@pytest.mark.parametrize("small_bytes", [contents.SMALL_BYTES, 0])
def test_a_line_like_the_header_is_a_record(
    make_feed: MakeFeed, monkeypatch: pytest.MonkeyPatch, small_bytes: int
) -> None:
    """R1.1: in small files and in large ones, whatever ends their lines, only the first line is no record."""
    monkeypatch.setattr(contents, "SMALL_BYTES", small_bytes)
    people = make_feed()
    people.write("once.csv", "id,name\n1,Ada\n \n")
    people.write("twice.csv", "id,name\r\n2,Bob\r\nid,name\r\n")
    people.write("mark.csv", "\ufeffid,name\n3,Cy\nid,name")
    people.write("mac.csv", "id,name\r4,Di\rid,name\r")
    people.write("late.csv", "\n\nid,name\n5,Eve\n")
    assert people.land().rows == 8
    assert people.rows("id") == [("1",), ("2",), ("3",), ("4",), ("5",), *[("id",)] * 3]


def test_csv_without_a_header(make_feed: MakeFeed) -> None:
    """The declared columns, in their order."""
    people = make_feed(options={"header": False})
    people.write("a.csv", "1,Ada\n2,Bob\n")
    people.land()
    assert people.rows("id", "name") == [("1", "Ada"), ("2", "Bob")]


@pytest.mark.core
def test_json_lines_keep_types_and_rescue_the_rest(make_feed: MakeFeed) -> None:
    """R5.1: nested types are kept; other types, fields and rounding are rescued; broken lines are marked."""
    people = make_feed(JSON_COLUMNS | {"height": "double", "sizes": "map<string,double>"}, "json")
    lines = [
        '{"id": 1, "price": 1.5, "tags": ["a"], "place": {"city": "Bonn", "at": {"lat": 50.7, "lon": 7}}}',
        '{"id": 2}',
        '{"id": "three", "price": 3}',
        '{"id": 4, "price": 1.239}',
        '{"id": 5, "Id": 55, "e mail.x": {"a": [1, null]}}',
        '{"id": 6, "place": {"city": "Ulm", "zip": 89073}}',
        '{"id": 7, "tags": "a"}',
        '{"id": 8, "id": 9}',
        '{"id": 10} {"id": 11}',
        '{"id": 12',
        "[13]",
        "14",
        '{"id": 9007199254740993}',
        '{"id": 15, "height": 1.123456789012345678901, "sizes": {"b": 1, "a": 2}}',
        '{"id": 16, "height": 9007199254740993, "sizes": {"b": 1, "a": "x"}}',
    ]
    people.write("a.json", "\ufeff" + "\n".join(lines) + "\n\n")
    assert people.land().rows == len(lines)
    rows = people.spark.table(people.feed.table).orderBy("_row_number").collect()
    assert rows[0]["tags"] == ["a"]
    assert rows[0]["place"]["at"]["lat"] == 50.7
    assert rows[5]["place"]["city"] == "Ulm"
    assert [row["id"] for row in rows] == [1, 2, None, 4, 5, 6, 7, *[None] * 5, 9007199254740993, 15, 16]
    assert rows[13]["height"] == 1.1234567890123457
    assert rows[13]["sizes"] == {"a": 2, "b": 1}
    rescued = {
        position: json.loads(row["_rescued_data"])
        for position, row in enumerate(rows)
        if row["_rescued_data"]
    }
    assert rescued == {
        2: {"id": "three"},
        3: {"price": 1.239},
        4: {"Id": 55, "e mail.x": {"a": [1, None]}},
        5: {"place": {"city": "Ulm", "zip": 89073}},
        6: {"tags": "a"},
        14: {"height": 9007199254740993, "sizes": {"a": "x", "b": 1}},
    }
    assert [row["_corrupt_record"] for row in rows] == [None] * 7 + lines[7:12] + [None] * 3


def test_json_files_of_one_object_or_one_array(make_feed: MakeFeed) -> None:
    """R5.1: with `whole_file`, each element of an array is a record, and so is an object."""
    people = make_feed({"id": "bigint", "name": "string"}, "json", options={"whole_file": True})
    people.write("array.json", '[\n  {"id": 1, "name": "Ada"},\n  {"id": 2, "name": {"first": "Bob"}}\n]\n')
    people.write("object.json", '{\n  "id": 3,\n  "more": true\n}')
    people.write("broken.json", '[{"id": 4}, {"id": ]')
    people.write("none.json", "[]")
    outcome = people.land()
    assert (outcome.files, outcome.rows) == (4, 4)
    assert people.rows("id", "name", "_rescued_data", "_corrupt_record") == [
        (1, "Ada", None, None),
        (2, '{"first":"Bob"}', None, None),
        (3, None, '{"more":true}', None),
        (None, None, None, '[{"id": 4}, {"id": ]'),
    ]


@pytest.mark.core
@pytest.mark.parametrize("file_format", ["avro", "parquet"])
def test_avro_and_parquet(make_feed: MakeFeed, spark: SparkSession, file_format: str) -> None:
    """R5.1: files of several schemas in one batch; wider types fit, narrower ones do when nothing is lost."""
    people = make_feed({"id": "bigint", "price": "decimal(8,2)", "place": "struct<city:string>"}, file_format)
    people.write("empty." + file_format, "")
    people.write("text." + file_format, "id,price,place\n")
    people.write("cut." + file_format, FILE_FORMATS[file_format].magic)

    def write(name: str, query: str) -> None:
        spark.sql(query).coalesce(1).write.format(file_format).save(str(people.folder / name))

    write("same", "select 1L as id, 1.5bd as price, struct('Bonn' as city) as place")
    write("other", "select 3.25d as price, 2 as id, struct('Ulm' as city, 5 as zip) as place, 'x' as more")
    write("worse", "select 'three' as id, 1.239d as price, 'Bonn' as place")
    write("lacks", "select 4L as id")
    outcome = people.land()
    reasons = {path.split("/")[0].split(".")[0]: reason for path, reason in outcome.rejected.items()}
    assert reasons == {
        "empty": "the file is empty",
        "text": f"it is not in {file_format.capitalize()} format",
        "cut": "its schema cannot be read: it is truncated or damaged: write or copy it again",
        "lacks": "it lacks price, place",
    }
    rows = spark.table(people.feed.table).selectExpr(
        "id", "cast(price as double)", "place.city", "_rescued_data"
    )
    found = sorted((tuple(row) for row in rows.collect()), key=str)
    assert [row[:3] for row in found] == [(1, 1.5, "Bonn"), (2, 3.25, "Ulm"), (None, None, None)]
    rescued = [json.loads(row[3]) if row[3] else None for row in found]
    assert rescued == [
        None,
        {"more": "x", "place": {"city": "Ulm", "zip": 5}},
        {"id": "three", "price": 1.239, "place": "Bonn"},
    ]


def test_compressed_files(make_feed: MakeFeed, spark: SparkSession) -> None:
    """gzip, bzip2 and zstd by name; a file that lies about it is set aside."""
    people = make_feed()
    people.write("a.csv.gz", gzip.compress(b"id,name\n1,Ada\n"))
    people.write("b.csv.bz2", bz2.compress(b"name,id\nBob,2\n"))
    zstd = spark.sparkContext._jvm.com.github.luben.zstd.Zstd  # type: ignore[union-attr]
    people.write("c.csv.zst", bytes(zstd.compress(b"id,name\n3,Cy\n")))
    people.write("d.csv", gzip.compress(b"id,name\n4,Di\n"))
    people.write("e.csv.gz", b"id,name\n5,Eve\n")
    outcome = people.land()
    assert people.rows("id", "name") == [("1", "Ada"), ("2", "Bob"), ("3", "Cy")]
    assert outcome.rejected["d.csv"] == "it is compressed with gzip, but its name does not end in .gz"
    assert outcome.rejected["e.csv.gz"].startswith("cannot be read: ")


def test_a_file_that_breaks_while_it_is_read_is_set_aside_alone(make_feed: MakeFeed) -> None:
    """R1.4: cut off in the middle: the others land, it is named, and not tried again as it is."""
    people = make_feed()
    long = gzip.compress(
        "".join(["id,name\n", *(f"{n},{n * 7919 % 10007}\n" for n in range(50_000))]).encode()
    )
    people.write("cut.csv.gz", long[: len(long) // 2])
    people.write("good.csv", "id,name\n1,Ada\n")
    outcome = people.land()
    assert (outcome.files, outcome.rows) == (1, 1)
    reason = "cannot be read: it is truncated or damaged: write or copy it again"
    assert outcome.rejected == {"cut.csv.gz": reason}
    noted = len(people.states())
    assert people.land().rejected == outcome.rejected
    assert len(people.states()) == noted
    people.write("cut.csv.gz", long)
    assert people.land().rows == 50_000
