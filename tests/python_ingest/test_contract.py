"""The schema contract: new, missing and changed columns, under each policy; nothing lost, all recorded."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import DataType

from python_ingest.bronze.columns import sql_name
from python_ingest.bronze.widening import widened
from tests.conftest import FeedFolder, MakeFeed
from tidemark.base.errors import LandingError

pytestmark = [pytest.mark.R1, pytest.mark.R3, pytest.mark.formats(day="iceberg", night="delta iceberg")]


def _events(people: FeedFolder) -> list[tuple[Any, ...]]:
    table = people.spark.table(f"{people.ops_schema}.schema_changes").orderBy(
        "recorded_at", "path", "column_name"
    )
    return [
        tuple(r)
        for r in table.select("change", "column_name", "field", "from_type", "to_type", "path").collect()
    ]


@pytest.mark.core
def test_a_new_column_evolves_bronze(make_feed: MakeFeed) -> None:
    """R3.4: it appears in bronze under a name of SQL, once recorded; later files may lack it."""
    people = make_feed(contract={"new_column": "evolve"})
    people.write("1.csv", "id,name\n1,Ada\n")
    people.land()
    people.write("2.csv", "E-mail (work),select,id,name,日本,!!\nb@x.org,yes,2,Bob,jp,odd\n")
    assert people.land().evolved == ["e_mail_work", "select", "日本"]
    people.write("3.csv", "id,name,e-mail work\n3,Cy,c@x.org\n")
    people.write("4.csv", "id,name\n4,Di\n")
    assert people.land().evolved == []
    assert people.rows("id", "name", "e_mail_work", "`select`", "`日本`", "_rescued_data") == [
        ("1", "Ada", None, None, None, None),
        ("2", "Bob", "b@x.org", "yes", "jp", '{"!!":"odd"}'),
        ("3", "Cy", "c@x.org", None, None, None),
        ("4", "Di", None, None, None, None),
    ]
    assert _events(people) == [
        ("new_column", "e_mail_work", "E-mail (work)", None, "string", "2.csv"),
        ("new_column", "select", "select", None, "string", "2.csv"),
        ("new_column", "日本", "日本", None, "string", "2.csv"),
    ]


@pytest.mark.core
def test_policies_for_new_and_missing_columns_of_csv(make_feed: MakeFeed) -> None:
    """R1.4: reject sets the file aside and lands the others; fail lands nothing; evolve records once."""
    people = make_feed(contract={"new_column": "reject", "missing_column": "evolve"})
    people.write("more.csv", "id,name,x,y\n1,Ada,2,3\n")
    people.write("less.csv", "ID\n2\n")
    people.write("least.csv", "id\n3\n")
    people.write("other.csv", "x\n4\n")
    outcome = people.land()
    assert outcome.rejected == {
        "more.csv": "its header has columns that are not declared: x, y",
        "other.csv": "not a file of this feed: its header has none of the declared columns",
    }
    assert people.rows("id", "name") == [("2", None), ("3", None)]
    assert [event[:2] for event in _events(people)] == [("missing_column", "name")]
    assert {name: sorted(paths) for name, paths in outcome.missing.items()} == {
        "name": ["least.csv", "less.csv"]
    }

    strict = make_feed(contract={"new_column": "fail"})
    for path in ("less.csv", "least.csv", "other.csv"):
        (people.folder / path).unlink()
    strict.write("new.csv", "id,name\n5,Eve\n")
    with pytest.raises(
        LandingError, match=r"more\.csv: its header has columns that are not declared: x, y; "
    ):
        strict.land()
    assert strict.rows("id") == [("2",), ("3",)]


def test_eight_orders_of_a_header_in_one_batch(make_feed: MakeFeed) -> None:
    """R1.1: columns map by name, whatever their order and letter case."""
    people = make_feed({"id": "string", "name": "string", "city": "string", "zip": "string"})
    values = {"id": "1", "name": "Ada", "city": "Bonn", "zip": "53111"}
    for number, order in enumerate([*permutations(values)][::3][:8]):
        header = ",".join(name.upper() if number % 2 else name for name in order)
        people.write(f"{number}.csv", f"{header}\n{','.join(values[name] for name in order)}\n")
    assert people.land().files == 8
    assert people.rows(*values) == [tuple(values.values())] * 8


@pytest.mark.formats(day="delta", night="delta")
def test_types_widen_in_bronze(make_feed: MakeFeed, spark: SparkSession) -> None:
    """R3.4: a wider type widens the column where nothing can be lost; another one sets the file aside."""
    columns = {"id": "int", "price": "decimal(6,2)", "place": "struct<city:string>"}
    people = make_feed(columns, "parquet", contract={"type_change": "evolve", "new_column": "evolve"})

    def write(name: str, query: str) -> None:
        spark.sql(query).coalesce(1).write.parquet(str(people.folder / name))

    write("a", "select 1 as id, 1.5bd as price, struct('Bonn' as city) as place")
    people.land()
    write(
        "b",
        "select 2147483648L as id, 1.123bd as price, struct('Ulm' as city, 7 as zip) as place, "
        "date'2025-01-01' as day",
    )
    assert people.land().evolved == ["id", "price", "place", "day"]
    write("c", "select 'three' as id, 1bd as price, struct('Jena' as city) as place")
    (reason,) = people.land().rejected.values()
    expected = "id is string, not bigint; bronze cannot be widened to it"
    assert reason == f"it has columns of another type: {expected}"
    table = spark.table(people.feed.table)
    assert [f"{name}: {of}" for name, of in table.dtypes[:3]] == [
        "id: bigint",
        "price: decimal(7,3)",
        "place: struct<city:string,zip:int>",
    ]
    found = sorted(
        table.selectExpr("id", "cast(price as string)", "place.zip", "cast(day as string)").collect()
    )
    assert [tuple(row) for row in found] == [(1, "1.500", None, None), (2147483648, "1.123", 7, "2025-01-01")]


@pytest.mark.R5
def test_json_evolves_by_what_its_records_hold(make_feed: MakeFeed) -> None:
    """R3.4, R5.1: new fields get the type of all their values in a file; nested ones are added inside."""
    contract = {"new_column": "evolve", "type_change": "evolve", "missing_column": "evolve"}
    people = make_feed({"id": "int", "place": "struct<city:string>"}, "json", contract=contract)
    people.write("a.json", '{"id": 1, "place": {"city": "Bonn"}, "tags": [], "note": null}\n')
    people.write(
        "b.json",
        '{"id": 2, "place": {"city": "Ulm", "zip": 7}, "tags": ["x"], "e-mail": "b@x.org", "size": 1}\n'
        '{"id": 2147483648, "size": 1.5, "Id": 5}\n{"id": 4\n',
    )
    people.write("c.json", '{"id": "three"}\n')
    outcome = people.land()
    assert outcome.rejected == {
        "c.json": "it has columns of another type: id is string, not bigint; bronze cannot be widened to it"
    }
    assert sorted(outcome.evolved) == ["e_mail", "id", "place", "size", "tags"]
    assert people.rows("id", "place.zip", "tags", "e_mail", "size", "_rescued_data", "_corrupt_record") == [
        (1, None, [], None, None, '{"note":null}', None),
        (2, 7, ["x"], "b@x.org", 1.0, None, None),
        (2147483648, None, None, None, 1.5, '{"Id":5}', None),
        (None, None, None, None, None, None, '{"id": 4'),
    ]


def test_json_under_reject_and_fail(make_feed: MakeFeed) -> None:
    """R1.4: the contract looks at every value, not at the first ones."""
    people = make_feed(
        {"id": "int", "name": "string"}, "json", contract={"type_change": "reject", "new_column": "fail"}
    )
    people.write("a.json", '{"id": 1}\n{"name": "Ada"}\n')
    people.write("b.json", '{"id": 2}\n' * 500 + '{"id": 2.5}\n')
    outcome = people.land()
    assert (outcome.rows, [*outcome.rejected]) == (2, ["b.json"])
    people.write("c.json", '{"id": 3, "more": true}\n')
    with pytest.raises(
        LandingError, match=r"c\.json: it has columns that are not declared: more; .* new_column: fail"
    ):
        people.land()


def test_a_declared_type_follows_bronze_or_stops(make_feed: MakeFeed) -> None:
    """R3.4: a wider declaration widens bronze; one that does not hold its values is a clear error."""
    people = make_feed({"id": "int"}, "json")
    people.write("a.json", '{"id": 1}\n')
    people.land()
    wide = make_feed({"id": "bigint", "name": "string"}, "json")
    wide.write("b.json", '{"id": 2147483648, "name": "Bob"}\n')
    wide.land()
    assert wide.rows("id", "name") == [(1, None), (2147483648, "Bob")]
    with pytest.raises(LandingError, match=r"people\.id has type bigint but is declared as date"):
        make_feed({"id": "date"}, "json").land()


def test_several_files_of_one_batch_evolve_one_column(make_feed: MakeFeed, spark: SparkSession) -> None:
    """R3.4: each change is made to what those before it left, also when another file of the batch breaks."""
    people = make_feed({"id": "int"}, "parquet", contract={"type_change": "evolve", "new_column": "evolve"})
    for number, more in enumerate(("1 as x", "5000000000L as x", "1.5bd as x")):
        query = f"select {number} as id, {more}, named_struct('y', x) as s"
        spark.sql(query).coalesce(1).write.parquet(str(people.folder / str(number)))
    broken = bytearray(next((people.folder / "0").glob("*.parquet")).read_bytes())
    broken[4:40] = b"\x00" * 36
    people.write("broken.parquet", bytes(broken))
    outcome = people.land()
    assert (outcome.files, [*outcome.rejected]) == (3, ["broken.parquet"])
    table = spark.table(people.feed.table)
    assert dict(table.dtypes)["x"] == "decimal(21,1)"
    found = table.selectExpr("id", "cast(x as string)", "cast(s.y as string)", "_rescued_data").collect()
    assert sorted(map(tuple, found)) == [
        (0, "1.0", "1.0", None),
        (1, "5000000000.0", "5000000000.0", None),
        (2, "1.5", "1.5", None),
    ]


def test_values_that_no_cast_takes_are_rescued(make_feed: MakeFeed, spark: SparkSession) -> None:
    """R1.4: a number is not read as a time, and does not stop the landing; all digits of a time are kept."""
    people = make_feed({"id": "int", "at": "timestamp", "day": "date"}, "parquet")
    at = "timestamp'2025-01-01 10:00:00.123456'"
    queries = (
        f"select 1 as id, {at} as at, date'2025-01-01' as day, {at} as more",
        "select 2 as id, 1735725600000L as at, true as day",
        "select 3 as id, date'2025-01-01' as at, 20250101 as day",
        "select 4 as id, 1 as at, 2 as day, 3 as _metadata",
    )
    for number, query in enumerate(queries):
        spark.sql(query).coalesce(1).write.parquet(str(people.folder / str(number)))
    (reason,) = people.land().rejected.values()
    assert "a column called _metadata" in reason
    assert people.rows("id", "cast(at as string)", "cast(day as string)", "_rescued_data") == [
        (1, "2025-01-01 10:00:00.123456", "2025-01-01", '{"more":"2025-01-01T10:00:00.123456Z"}'),
        (2, None, None, '{"at":1735725600000,"day":true}'),
        (3, "2025-01-01 00:00:00", None, '{"day":20250101}'),
    ]


def test_nested_json_that_bronze_cannot_have(make_feed: MakeFeed) -> None:
    """R3.4: names that Delta refuses are rescued; nulls and new numbers inside do not narrow a column."""
    contract = {"new_column": "evolve", "type_change": "evolve"}
    people = make_feed({"id": "int", "to": "struct<city:string>"}, "json", contract=contract)
    people.write(
        "a.json",
        '{"id": 1, "to": {"city": "Bonn", "zip": null}, "odd": {"zip code": 1}, "VARIANTS": 2}\n',
    )
    people.write("b.json", '{"id": 2, "to": {"city": "Ulm", "zip": 1.5}}\n{"id": 3, "to": {"zip": 22.25}}\n')
    people.write("deep.json", '{"id": 4, "x": ' + '{"x":' * 300 + "1" + "}" * 300 + "}\n")
    assert people.land().rejected == {}
    rows = people.rows("id", "to.city", "to.zip", "variants", "get_json_object(_rescued_data, '$.odd')")
    assert rows == [
        (1, "Bonn", None, 2, '{"zip code":1}'),
        (2, "Ulm", 1.5, None, None),
        (3, None, 22.25, None, None),
        (None, None, None, None, None),
    ]
    assert [reason for (reason,) in people.rows("_corrupt_reason") if reason] == [
        "it is nested more than 100 levels deep"
    ]


WIDENED = [
    ("int", "bigint", "bigint"),
    ("bigint", "int", "bigint"),
    ("string", "date", "string"),
    ("bigint", "decimal(4,1)", "decimal(21,1)"),
    ("decimal(8,2)", "decimal(4,3)", "decimal(9,3)"),
    ("decimal(38,2)", "decimal(38,3)", None),
    ("int", "double", "double"),
    ("bigint", "double", None),
    ("float", "double", "double"),
    ("timestamp", "date", "timestamp"),
    ("boolean", "int", None),
    ("array<int>", "array<bigint>", "array<bigint>"),
    ("map<string,int>", "map<string,double>", "map<string,double>"),
    ("struct<a:int,b:string>", "struct<b:string,c:date>", "struct<a:int,b:string,c:date>"),
    ("struct<a:int>", "struct<A:int>", None),
    ("struct<a:int>", "int", None),
]


@pytest.mark.parametrize(("held", "given", "expected"), WIDENED)
def test_widening(held: str, given: str, expected: str | None, spark: SparkSession) -> None:
    """R3.4: the type that holds both, as far as Delta can widen to it."""
    to = widened(DataType.fromDDL(held), DataType.fromDDL(given))
    assert (to.simpleString() if to else None) == expected


def test_sql_names() -> None:
    """Whatever a header says becomes a name, or none."""
    names = ["E-mail (work)", "a.b c", "2nd", "_batch_id", "Größe", "`; drop table x --", "  ", "__"]
    assert [sql_name(name) for name in names] == [
        "e_mail_work", "a_b_c", "c_2nd", "batch_id", "größe", "drop_table_x", "", "",
    ]  # fmt: skip


def test_rescued_data_is_json(make_feed: MakeFeed) -> None:
    """R1.1: what bronze does not follow is still there, whatever its name."""
    people = make_feed()
    people.write("a.csv", 'id,name,"a ""b"" \'c\' `d`","x.y"\n1,Ada,2,3\n')
    people.land()
    ((rescued,),) = people.rows("_rescued_data")
    assert json.loads(rescued) == {"a \"b\" 'c' `d`": "2", "x.y": "3"}
