"""A query whose columns are not those of its table: what `on_schema_change` makes of it."""

from __future__ import annotations

import pytest

from tidemark.engine.adapter.schema_change import Columns, step_of
from tidemark.engine.incremental.column_types import fits, narrowed

pytestmark = pytest.mark.R3
SAME = {"id": "int"}
GAINS = {"ID": "int", "x": "string"}
LOSES = {"x": "int"}
WIDER = {"id": "bigint"}
NARROWER = {"id": "smallint"}
OTHER = {"id": "string"}


@pytest.mark.parametrize(
    ("query", "ignore", "append", "sync", "fail"),
    [
        (SAME, "none", "none", "none", "none"),
        ({"ID": "int"}, "none", "none", "none", "none"),
        (GAINS, "ignore", "rebuild", "rebuild", "stop"),
        (LOSES, "stop", "stop", "rebuild", "stop"),
        (WIDER, "ignore", "rebuild", "rebuild", "stop"),
        (NARROWER, "ignore", "ignore", "rebuild", "stop"),
        (OTHER, "stop", "stop", "rebuild", "stop"),
        ({"id": "bigint", "x": "int"}, "ignore", "rebuild", "rebuild", "stop"),
    ],
)
def test_a_table_that_can_be_computed(
    query: dict[str, str], ignore: str, append: str, sync: str, fail: str
) -> None:
    """R3.4: new columns reach rows of earlier runs; no column is dropped and no value cut without a word."""
    settings = ("ignore", "append_new_columns", "sync_all_columns", "fail")
    found = [step_of(Columns(SAME, query), setting, rebuilds=True).action for setting in settings]
    assert found == [ignore, append, sync, fail]
    assert step_of(Columns(SAME, query), None, rebuilds=True).action == ignore


@pytest.mark.parametrize(
    ("query", "append", "sync"),
    [
        (GAINS, "add", "add"),
        (LOSES, "stop", "stop"),
        (WIDER, "ignore", "stop"),
        ({"id": "bigint", "x": "int"}, "add", "stop"),
    ],
)
def test_a_table_that_depends_on_its_own_runs(query: dict[str, str], append: str, sync: str) -> None:
    """R3.4: as in dbt-spark, new columns are NULL in rows of earlier runs."""
    settings = ("append_new_columns", "sync_all_columns")
    steps = [step_of(Columns(SAME, query), setting, rebuilds=False) for setting in settings]
    assert [step.action for step in steps] == [append, sync]
    assert append != "add" or list(steps[0].added) == ["x"]


def test_the_messages_of_a_run() -> None:
    """R3.4: names of columns and fields, and the setting that left them out."""
    table = {"id": "int", "info": "struct<a:int>"}
    query = {"id": "bigint", "info": "struct<a:int,b:int>", "new": "date"}
    step = step_of(Columns(table, query), "ignore", rebuilds=True)
    assert step.message == (
        "ignored the new columns `new`, `info.b` and kept the type of `id`: on_schema_change is ignore"
    )
    assert step.expressions["id"] == "`id`"
    assert "extra" not in step.expressions
    stopped = step_of(Columns(table, {"id": "int"}), "fail", rebuilds=True)
    assert stopped.message == "on_schema_change is fail, and its columns have changed: `info` is gone"


@pytest.mark.parametrize(
    ("table", "query", "expected"),
    [
        ("bigint", "int", True),
        ("int", "bigint", False),
        ("decimal(10,2)", "decimal(9, 2)", True),
        ("decimal(10,2)", "decimal(10,3)", False),
        ("decimal(12,2)", "int", True),
        ("decimal(11,2)", "int", False),
        ("double", "float", True),
        ("string", "varchar(3)", True),
        ("varchar(3)", "varchar(10)", False),
        ("varchar(10)", "char(3)", True),
        ("timestamp", "date", False),
        ("struct<a:bigint,b:int>", "struct<A:int>", True),
        ("array<int>", "array<bigint>", False),
        ("map<string,struct<a:int>>", "map<string,struct<a:int>>", True),
    ],
)
def test_values_fit(table: str, query: str, expected: bool) -> None:
    """R3.4: without a loss."""
    assert fits(table, query) is expected


@pytest.mark.parametrize(
    ("table", "query", "sql", "dropped"),
    [
        ("int", "bigint", "c", ()),
        ("decimal(10,2)", "decimal(12,2)", "c", ()),
        ("decimal(10,2)", "decimal(12,3)", None, ()),
        ("float", "double", None, ()),
        ("int", "string", None, ()),
        ("struct<a:int>", "struct<a:string>", None, ()),
        ("struct<a:int,b:int>", "struct<a:int>", None, ()),
        (
            "struct<A:int>",
            "struct<a:int,`x:y`:date>",
            "if(c is null, null, named_struct('A', c.`a`))",
            ("c.x:y",),
        ),
        (
            "array<struct<a:int>>",
            "array<struct<a:int,b:int>>",
            "transform(c, __tidemark_0 -> if(__tidemark_0 is null, null, "
            "named_struct('a', __tidemark_0.`a`)))",
            ("c.element.b",),
        ),
        (
            "map<string,struct<a:int>>",
            "map<string,struct<b:int,a:int>>",
            "transform_values(c, (__tidemark_k0, __tidemark_v0) -> if(__tidemark_v0 is null, null, "
            "named_struct('a', __tidemark_v0.`a`)))",
            ("c.value.b",),
        ),
    ],
)
def test_a_column_is_read_as_its_table_has_it(
    table: str, query: str, sql: str | None, dropped: tuple[str, ...]
) -> None:
    """R3.4: fields that the table lacks are left out; what could lose digits is not read."""
    found = narrowed("c", table, query, "c")
    assert (found and found.sql) == sql
    assert found is None or found.dropped == dropped


def test_a_longer_text_stops_the_statement() -> None:
    """R3.4: with a message that names the column; Spark's own message does not."""
    found = narrowed("`k`", "varchar(3)", "varchar(10)", "k")
    assert found is not None
    assert found.sql.startswith("if(length(`k`) > 3, raise_error('a value of `k` has more than 3 characters")
