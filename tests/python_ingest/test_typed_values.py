"""Typed values of files that others have written: they land right, are rescued, or a sentence names them."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from python_ingest.bronze.columns import case_twins, has_text_keys
from python_ingest.bronze.rescued import Rescued
from python_ingest.feeds.declarations import feeds_of
from python_ingest.files.formats.own_schema import (
    AVRO_NANOS,
    leaves_of,
    nanosecond_columns,
    unreadable,
)
from python_ingest.files.outcome import LandedFiles
from python_ingest.land import print_landed
from tests.conftest import FeedFolder, MakeFeed
from tidemark.base.errors import LandingError
from tidemark.base.output import output

pytestmark = [pytest.mark.R1, pytest.mark.R5, pytest.mark.formats(day="iceberg", night="delta iceberg")]
NANOS = 1_700_000_000_123_456_000
MOMENT = dt.datetime(2023, 11, 14, 22, 13, 20, 123456)  # as Spark returns it
LATER = "2023-11-14T22:13:20.123456789"


def messages(people: FeedFolder, outcome: LandedFiles) -> list[str]:
    """Return what a landing prints below its first line."""
    with output.console.capture() as printed:
        print_landed(people.feed, outcome, seconds=1.0)
    return printed.get().splitlines()[1:]


def with_fields(people: FeedFolder, fields: dict[str, str]) -> FeedFolder:
    """Return the feed with names in the files for some columns."""
    columns = {
        column.name: {
            "name": column.name,
            "data_type": column.data_type,
            "meta": {"field": fields.get(column.name)},
        }
        for column in people.feed.columns
    }
    node = {
        "name": people.feed.name,
        "schema": people.feed.schema_name,
        "original_file_path": people.feed.declared_in,
        "external": people.feed.external.model_dump(exclude_unset=True),
        "columns": columns,
    }
    return FeedFolder(people.spark, feeds_of([node])["people"], people.folder, people.ops_schema)


@pytest.mark.formats(day="delta", night="delta")
def test_json_values_that_do_not_fit_are_counted(make_feed: MakeFeed) -> None:
    """R1.4: `jints`: one file is answered from Delta's log; `jcase`: names differ in letter case only."""
    types = {
        "id": "bigint",
        "n": "bigint",
        "place": "struct<lat:double>",
        "userid": "bigint",
        "user_id": "bigint",
    }
    people = with_fields(make_feed(types, "json"), {"userid": "userid", "user_id": "userId"})
    people.write("a.jsonl", '{"id": 1, "n": 7, "userId": 5, "userid": 6, "place": {"lat": 1}}\n')
    assert messages(people, people.land()) == []
    lines = [
        '{"id": 300, "n": 7.5, "userId": 1.5, "UserId": "x"}',
        '{"id": 301, "n": 8, "place": {"lat": "north", "Lat": 2}}',
        '{"id": 302, "n": 9, "userid": 9, "more": null}',
    ]
    people.write("b.jsonl", "\n".join(lines))
    assert messages(people, people.land()) == [
        "  rescued 2 records with values that do not fit their columns: n (1), place (1), userId (1); "
        "see _rescued_data",
        "  rescued 2 records with fields that are not declared: UserId (1), more (1); see _rescued_data",
    ]
    found = people.rows("id", "n", "user_id", "userid", "place.lat", "_rescued_data")
    assert found[0] == (1, 7, 5, 6, 1.0, None)
    assert found[1][:5] == (300, None, None, None, None)
    assert json.loads(found[1][5]) == {"n": 7.5, "userId": 1.5, "UserId": "x"}
    assert json.loads(found[2][5]) == {"place": {"lat": "north", "Lat": 2}}
    assert found[3][:4] == (302, 9, None, 9)

    kept = "'delta.dataSkippingStatsColumns' = '_batch_id,_corrupt_record'"  # as in an earlier release
    people.spark.sql(f"alter table {people.feed.table} set tblproperties ({kept})")
    people.write("c.jsonl", '{"id": 4.5}')
    assert people.land().rescued.misfits == {"id": 1}
    properties = people.spark.sql(f"show tblproperties {people.feed.table}").collect()
    assert dict(properties)["delta.dataSkippingStatsColumns"] == "_batch_id,_corrupt_record,_rescued_data"


def test_undeclared_columns_of_csv_are_counted_in_json_for_machines(
    people: FeedFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.4: by column, over several files, and with what a replay has rescued."""
    people.write("a.csv", "id,name,city\n1,Ada,Bonn\n2,Bob,\n")
    people.write("b.csv", "id,name,City Code\n3,Cy,x\n4\n")
    outcome = people.land()
    assert (outcome.rescued.undeclared, outcome.rescued.undeclared_records) == (
        {"city": 1, "City Code": 1},
        2,
    )
    monkeypatch.setattr(output, "as_json", True)
    print_landed(people.feed, outcome, seconds=1.0)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (rescued,) = [line for line in lines if line["event"] == "rescued"]
    assert (rescued["records"], rescued["fields"]) == (2, {"city": 1, "City Code": 1})


def test_numbers_of_several_batches_are_added() -> None:
    """R1.4: a landing prints one number for each kind."""
    found = Rescued()
    for _ in range(2):
        one = Rescued(misfit_records=1)
        one.misfits["n"] = 1
        found.add(one)
    assert (found.misfits, found.misfit_records, found.undeclared_records) == ({"n": 2}, 2, 0)


@pytest.mark.parametrize(
    ("columns", "file_format", "words"),
    [
        (
            {"id": "bigint", "at": "array<struct<City:string,city:string>>"},
            "json",
            "City and city differ in letter",
        ),
        ({"id": "bigint", "at": "struct<a:map<int,string>>"}, "json", "a map whose keys are not text"),
    ],
)
def test_types_that_cannot_land_are_refused(
    make_feed: MakeFeed, columns: dict[str, str], file_format: str, words: str
) -> None:
    """R1.1: before anything is read; the error names the column and what to declare."""
    people = make_feed(columns, file_format)
    with pytest.raises(LandingError, match=f"Feed 'people': column at.*{words}") as refused:
        people.land()
    assert "Declare" in refused.value.fix


def test_parts_of_types(spark: SparkSession) -> None:
    """R1.1: at any depth."""
    from pyspark.sql.types import DataType

    of = DataType.fromDDL
    assert case_twins(of("map<string,array<struct<a:int,b:struct<x:int,X:int>>>>")) == ["x", "X"]
    assert case_twins(of("struct<a:int,b:struct<A:int>>")) == []
    assert has_text_keys(of("map<string,array<int>>"))
    assert not has_text_keys(of("array<map<string,map<date,int>>>"))


def column(values: list[Any], of: Any) -> pa.Table:
    return pa.table({"id": pa.array(range(1, len(values) + 1), pa.int64()), "v": pa.array(values, of)})


REFUSED: dict[str, tuple[pa.Table, str]] = {
    "time": (column([1], pa.time64("us")), "v has the type time, which Spark cannot read: write"),
    "half": (column([1.5], pa.float16()), "v has the type float16, which Spark cannot read: write"),
    "uuid": (column([b"0" * 16], pa.uuid()), "v has the type uuid, which Spark cannot read: write"),
    "digits": (column([Decimal("1.5")], pa.decimal256(60, 2)), "v is a decimal of 60 digits: write"),
    "nested": (column([[NANOS]], pa.list_(pa.timestamp("ns"))), "v.list.element has nanoseconds inside"),
    "twice": (
        pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], names=["id", "v", "V"]),
        "it has the column `v` twice",
    ),
    "nothing": (pa.table({}), "it has no columns"),
}  # fmt: skip


def test_odd_files_of_parquet(make_feed: MakeFeed) -> None:
    """R5.1: `p_ns`, `p_bigdec`: nanoseconds land in microseconds; each other type has its own message."""
    people = make_feed({"id": "bigint", "v": "timestamp"}, "parquet", pattern="*.parquet")
    for name, (table, _) in REFUSED.items():
        pyarrow.parquet.write_table(table, people.folder / f"{name}.parquet")
    compressed = people.folder / "brotli.parquet"
    pyarrow.parquet.write_table(column([MOMENT], pa.timestamp("us", "UTC")), compressed, compression="brotli")
    landing = {
        "utc": column([NANOS, NANOS + 789, None, -1000, -1], pa.timestamp("ns", "UTC")),
        "local": column([NANOS], pa.timestamp("ns")),
        "null": column([None], pa.null()),
        "empty": column([], pa.timestamp("ns")),
        "millis": column([NANOS // 10**6], pa.timestamp("ms", "UTC")),
        "number": column([5], pa.uint64()),
        "map": column([[(1, "a")]], pa.map_(pa.int32(), pa.string())),
    }
    for name, table in landing.items():
        pyarrow.parquet.write_table(table, people.folder / f"{name}.parquet")
    outcome = people.land()
    reasons = {Path(path).stem: reason for path, reason in outcome.rejected.items()}
    for name, (_, words) in REFUSED.items():
        assert words in reasons.pop(name)
    assert "it is compressed with brotli, which Spark cannot read" in reasons.pop("brotli")
    assert reasons == {}
    found: dict[str, list[Any]] = {}
    for path, value, rescued in people.rows("_source_file", "v", "_rescued_data"):
        found.setdefault(Path(path).stem, []).append((value, json.loads(rescued)["v"] if rescued else None))
    before = dt.datetime(1969, 12, 31, 23, 59, 59, 999999)
    assert found == {
        "utc": [
            (None, None),
            (before, "1969-12-31T23:59:59.999999999Z"),
            (before, None),
            (MOMENT, f"{LATER}Z"),
            (MOMENT, None),
        ],
        "local": [(MOMENT, None)],
        "null": [(None, None)],
        "millis": [(MOMENT.replace(microsecond=123000), None)],
        "number": [(None, 5)],
        "map": [(None, {"1": "a"})],
    }
    assert sum(outcome.rescued.misfits.values()) == 4


def avro(people: FeedFolder, name: str, of: Any, values: list[Any]) -> None:
    fields = [{"name": "id", "type": "long"}, {"name": "v", "type": of}]
    schema = {"type": "record", "name": "one", "namespace": "of.test", "fields": fields}
    with (people.folder / f"{name}.avro").open("wb") as file:
        fastavro.writer(file, schema, [{"id": 1, "v": value} for value in values])


LIST = {
    "type": "record", "name": "entry",
    "fields": [{"name": "n", "type": "int"}, {"name": "next", "type": ["null", "entry"]}],
}  # fmt: skip


def test_odd_files_of_avro(make_feed: MakeFeed) -> None:
    """R5.1: `a_rec`: a recursive record has its own error; unions, enums, bytes, NULL and times land."""
    people = make_feed({"id": "bigint", "v": "string"}, "avro", pattern="*.avro")
    avro(people, "list", ["null", LIST], [{"n": 1, "next": None}])
    wide = {"type": "bytes", "logicalType": "decimal", "precision": 50, "scale": 2}
    avro(people, "wide", wide, [Decimal("1.50")])
    avro(people, "enum", {"type": "enum", "name": "e", "symbols": ["A"]}, ["A"])
    avro(people, "union", ["null", "string", "long"], ["a", 5, None])
    avro(people, "bytes", "bytes", [b"a", b"\x00\xff"])
    avro(people, "null", "null", [None])
    avro(people, "nanos", {"type": "long", "logicalType": AVRO_NANOS[0]}, [NANOS, NANOS + 789])
    avro(people, "none", "string", [])
    outcome = people.land()
    refused = "it cannot land: v"
    assert outcome.rejected == {
        "list.avro": f"{refused}.next contains itself, which a column cannot: write it as JSON text",
        "wide.avro": f"{refused} is a decimal of 50 digits: write it with at most 38 digits, or as text",
    }
    found: dict[str, list[Any]] = {}
    for path, value, rescued in people.rows("_source_file", "v", "_rescued_data"):
        found.setdefault(Path(path).stem, []).append((value, json.loads(rescued)["v"] if rescued else None))
    assert found == {
        "enum": [("A", None)],
        "union": [('{"member0":"a"}', None), ('{"member1":5}', None), (None, None)],
        "bytes": [("a", None), (None, "AP8=")],
        "null": [(None, None)],
        "nanos": [("2023-11-14 22:13:20.123456", f"{LATER}Z"), ("2023-11-14 22:13:20.123456", None)],
    }


ORC_ROW = """
    1L as id, cast(2 as smallint) as small, 1.5d as share, 12.34bd as price, true as is_on, 'x' as word,
    binary('ab') as bytes, date'0001-01-01' as day, timestamp'2024-01-02 03:04:05.123456' as at,
    timestamp_ntz'2024-01-02 03:04:05.123456' as local, array(1, 2) as numbers, map(1, 'a') as words,
    struct('Bonn' as city, struct(1.5d as lat) as at) as place
"""


def test_orc(make_feed: MakeFeed, spark: SparkSession, tmp_path: Path) -> None:
    """R5.1: all types as they were written; conversions, and files that cannot land, as for Parquet."""
    written = spark.sql(f"select {ORC_ROW}")
    types = {field.name: field.dataType.simpleString() for field in written.schema}
    people = make_feed(types, "orc", pattern="*.orc", contract={"missing_column": "rescue"})
    written.coalesce(1).write.orc(str(people.folder / "whole"))
    for name, values in {"wider": pa.array([7], pa.int32()), "text": pa.array(["seven"])}.items():
        pyarrow.orc.write_table(pa.table({"id": values, "more": ["y"]}), people.folder / f"{name}.orc")
    moment = pa.array([NANOS], pa.timestamp("ns", "UTC"))
    pyarrow.orc.write_table(pa.table({"id": [1], "at": moment}), people.folder / "zone.orc")
    names = ["id", "v", "V"]
    twice = pa.Table.from_arrays([pa.array([1])] * 3, names=names)
    pyarrow.orc.write_table(twice, people.folder / "twice.orc")
    whole = next((people.folder / "whole").glob("*.orc")).read_bytes()
    people.write("cut.orc", whole[: len(whole) // 2])
    people.write("other.orc", "id\n1\n")
    people.write("empty.orc", "")
    outcome = people.land()
    damaged = "its schema cannot be read: it is truncated or damaged: write or copy it again"
    assert outcome.rejected == {
        "cut.orc": damaged,
        "other.orc": "it is not in ORC format",
        "empty.orc": "the file is empty",
        "twice.orc": "its schema cannot be read: it has the column `v` twice (names that differ in letter "
        "case only count as one): rename one of them",
        "zone.orc": "it cannot land: at has the type timestamp with local time zone, which Spark cannot "
        "read: write it as timestamp without a time zone, in UTC",
    }
    table = spark.table(people.feed.table)
    assert table.where("_source_file like 'whole%'").select(*types).collect() == written.collect()
    others = table.where("_source_file not like 'whole%'").select("id", "_rescued_data").collect()
    assert sorted((id_, json.loads(rescued)) for id_, rescued in others if id_) == [(7, {"more": "y"})]
    assert [json.loads(rescued) for id_, rescued in others if not id_] == [{"id": "seven", "more": "y"}]


def test_schemas_of_avro_have_parts() -> None:
    """R5.1: records that are named again are not recursive; unions, maps and references are followed."""
    point = {"type": "record", "name": "point", "fields": [{"name": "x", "type": "int"}]}
    nanos = {"type": "long", "logicalType": AVRO_NANOS[1]}
    schema = {
        "type": "record",
        "name": "row",
        "fields": [
            {"name": "a", "type": point},
            {"name": "b", "type": ["null", "point"]},
            {"name": "c", "type": {"type": "map", "values": {"type": "array", "items": "row"}}},
            {"name": "d", "type": ["null", nanos]},
            {"name": "e", "type": {"type": "array", "items": nanos}},
        ],
    }
    leaves = leaves_of("avro", json.dumps(schema), None)
    assert unreadable(leaves) == "c contains itself, which a column cannot: write it as JSON text"
    assert nanosecond_columns(leaves) == {"d": False, "e": False}  # Spark's type then shows that e is a list
