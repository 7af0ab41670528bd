"""Which columns a model's table can hold, and which ones say what to do with a row."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from tidemark.engine.adapter.model_columns import Column, columns_of_schema, described, stored_type

pytestmark = pytest.mark.R1
DELTA, ICEBERG = "delta", "iceberg"
NO_SETTINGS: dict[str, Any] = {
    "unique_key": ["id"],
    "newest_by": [],
    "partition_by": [],
    "tblproperties": None,
}


def describe(
    table_format: str, columns: dict[str, str], *, may_help: bool = False, **settings: Any
) -> dict[str, Any]:
    given = [Column("id", "int"), *(Column(name, kind) for name, kind in columns.items())]
    return described(given, table_format, NO_SETTINGS | settings, may_help=may_help)


REFUSED = [
    (DELTA, {"x": "void"}, "`x` is NULL without a type. Give it one, such as `cast(null as string) as x`."),
    (
        ICEBERG,
        {"x": "array<void>"},
        "`x` is of type array<void>, which holds values NULL without a type. Give it",
    ),
    (
        DELTA,
        {"x": "interval day to second"},
        "`x` is of type interval day to second, which tables do not store.",
    ),
    (ICEBERG, {"x": "struct<a:interval year>"}, "which holds values of type interval year"),
    (DELTA, {"x": "string collate UTF8_LCASE"}, "select `collate(x, 'UTF8_BINARY') as x`"),
    (ICEBERG, {"x": "variant"}, "Select `to_json(x) as x`."),
    (DELTA, {"__TideMark_x": "int"}, "begins with `__tidemark_`"),
    (DELTA, {"_Change_Type": "int"}, "`_Change_Type` is the name of a column of Delta itself."),
    (ICEBERG, {"_pos": "int"}, "`_pos` is the name of a column of Iceberg itself."),
    (DELTA, {"": "int"}, "a column has no name."),
    (ICEBERG, {"ID": "int"}, "the columns `id` and `ID` have one name for Spark"),
    (DELTA, {"count(1)": "int"}, "the name `count(1)` has a space or one of the characters ,;{}()=, which"),
    (DELTA, {"a`b": "int"}, "has a backtick"),
]


@pytest.mark.parametrize(("table_format", "columns", "sentence"), REFUSED)
def test_a_column_that_no_table_can_hold_is_refused(
    table_format: str, columns: dict[str, str], sentence: str
) -> None:
    """R1.1: with what to do."""
    assert sentence in describe(table_format, columns)["refused"]


def test_all_other_columns_are_kept() -> None:
    """R1.1: also those that have names of the engine's macros, in a model that calls none of them."""
    kept = {"_versions": "string", "_is_deleted": "int", "_metadata": "map<string,variant>", "a.b": "tinyint"}
    assert describe(DELTA, kept) == {
        "types": {"id": "int", **kept},
        "limited": [],
        "keys": ["id"],
        "newest_by": [],
        "helpers": [],
        "refused": "",
    }
    assert (
        describe(ICEBERG, {"a b": "int", "count(1)": "bigint", "a`b": "int", "_metadata": "int"})["refused"]
        == ""
    )
    assert describe(DELTA, {"Day": "date"}, unique_key=["ID", "day"], newest_by=["DAY"])["keys"] == [
        "id",
        "Day",
    ]


def test_a_model_that_reads_by_macros_says_by_columns_what_to_do() -> None:
    """R1.3: they are not stored; of another type, they are refused."""
    flags = {"_is_deleted": "boolean", "_versions": "bigint"}
    found = describe(DELTA, flags, may_help=True)
    assert (found["helpers"], found["types"]) == (["_is_deleted", "_versions"], {"id": "int"})
    tombstones = describe(DELTA, flags | {"at": "timestamp"}, may_help=True, newest_by=["at"])
    assert tombstones["helpers"] == ["_versions"]
    retracted = describe(DELTA, flags | {"_is_retracted": "boolean"}, may_help=True, newest_by=["id"])
    assert retracted["helpers"] == ["_is_deleted", "_is_retracted", "_versions"]
    assert (
        "it flags the rows to be deleted, and must be boolean"
        in describe(DELTA, {"_is_deleted": "int"}, may_help=True)["refused"]
    )


def test_settings_that_delta_cannot_follow_are_refused() -> None:
    """R1.1: by name."""
    mapped = describe(DELTA, {}, tblproperties={"delta.columnMapping.mode": "name"})
    assert "tblproperties sets delta.columnMapping.mode" in mapped["refused"]
    assert (
        "`a.b` in partition_by has a dot" in describe(DELTA, {"a.b": "int"}, partition_by=["a.b"])["refused"]
    )
    assert describe(ICEBERG, {"a.b": "int"}, partition_by=["a.b"])["refused"] == ""


def test_limits_of_length_and_fields_are_seen_in_a_schema() -> None:
    """R1.1: Spark notes char(n) and varchar(n) beside the type."""
    note = "__CHAR_VARCHAR_TYPE_STRING"
    inner = StructType([StructField("a b", IntegerType())])
    schema = StructType(
        [
            StructField("id", StringType(), metadata={note: "char(5)"}),
            StructField("s", inner),
        ]
    )
    found = described(columns_of_schema(schema), ICEBERG, NO_SETTINGS, may_help=False)
    assert (found["limited"], found["types"]) == (["id"], {"id": "string", "s": "struct<a b:int>"})
    assert (
        "the name `a b` has"
        in described(columns_of_schema(schema), DELTA, NO_SETTINGS, may_help=False)["refused"]
    )
    nested = [Column("s", "struct<c:string>", "struct<c:char(3)>")]
    assert "Cast them to string" in described(nested, DELTA, NO_SETTINGS, may_help=False)["refused"]


def test_iceberg_stores_small_integers_as_int() -> None:
    """R1.1: at each depth."""
    assert stored_type("tinyint", ICEBERG) == "int"
    nested = "struct<tinyint:smallint,b:map<tinyint,array<smallint>>>"
    assert stored_type(nested, ICEBERG) == "struct<tinyint:int,b:map<int,array<int>>>"
    assert stored_type("tinyint", DELTA) == "tinyint"
