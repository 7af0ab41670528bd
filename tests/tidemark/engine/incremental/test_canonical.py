"""The form by which values are grouped and compared."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tidemark.engine.incremental.canonical import comparable, is_own_form, same

pytestmark = pytest.mark.R2
OWN = (
    "int",
    "decimal(10,2)",
    "string",
    "varchar(3)",
    "binary",
    "array<struct<a:int,b:timestamp_ntz>>",
    "void",
)


@pytest.mark.parametrize("kind", OWN)
def test_most_values_are_their_own_form(kind: str) -> None:
    """R2.2: what Spark compares by itself costs nothing."""
    assert comparable("`a``b`", kind, zeros=True) == "`a``b`"
    assert is_own_form(kind, zeros=True)


def test_other_values_are_written_in_a_form_that_spark_compares() -> None:
    """R2.2: at each depth of a type; a NULL struct differs from one of NULLs."""
    each = "__tidemark_each_0"
    variant = "struct(schema_of_variant({0}), to_json({0}))"
    assert comparable("v", "variant") == variant.format("v")
    assert comparable("m", "map<string,int>") == (
        f"sort_array(transform(map_entries(m), {each} -> struct({each}.key, {each}.value)))"
    )
    assert comparable("x", "array<variant>") == f"transform(x, {each} -> {variant.format(each)})"
    assert comparable("s", "struct<a b:decimal(3,1),v:variant>") == (
        f"if(s is null, null, struct(s.`a b`, {variant.format('s.`v`')}))"
    )
    assert comparable("c", "string collate UTF8_LCASE") == "cast(c as binary)"
    assert comparable("d", "double") == "d"
    assert same("a", "b", {"x": "int", "y`": "string"}) == "a.`x` <=> b.`x` and a.`y``` <=> b.`y```"
    assert same("a", "b", {}) == "true"


DIFFERENT = {
    "map<string,int>": ("map()", "map('a', 1)", "map('a', null)", "map('b', 1, 'a', 1)", "null"),
    "map<int,map<string,double>>": ("map(1, map('a', 1))", "map(1, map('a', double('nan')))", "map(1, null)"),
    "variant": (
        "parse_json('1')",
        "parse_json('\"1\"')",
        "parse_json('null')",
        "null",
        "parse_json('{\"a\": [1, {}]}')",
    ),
    "struct<m:map<string,int>,v:variant>": (
        "named_struct('m', null, 'v', null)",
        "named_struct('m', map('a', 1), 'v', parse_json('2'))",
        "null",
    ),
    "array<map<string,variant>>": (
        "array(map('a', parse_json('1')))",
        "array(map('a', null))",
        "array()",
        "null",
    ),
    "string collate UTF8_LCASE": ("'a' collate UTF8_LCASE", "'A' collate UTF8_LCASE", "null"),
    "double": ("double(0)", "-double(0)", "double('nan')", "double(1)", "null"),
    "array<float>": ("array(float(0))", "array(-float(0))", "array(float(1), null)", "null"),
}
EQUAL = (
    ("map<string,int>", "map('a', 1, 'b', 2)", "map('b', 2, 'a', 1)"),
    ("map<string,map<string,int>>", "map('x', map('a', 1, 'b', 2))", "map('x', map('b', 2, 'a', 1))"),
    ("variant", 'parse_json(\'{"a": 1, "b": 2}\')', 'parse_json(\'{"b":2,"a":1}\')'),
    ("double", "double('nan')", "double('nan')"),
)


def test_forms_are_equal_exactly_if_the_values_are(spark: SparkSession) -> None:
    """R2.2: by `<=>`, and in groups."""
    for kind, values in DIFFERENT.items():
        form = comparable("value", kind, zeros=True)
        typed = " union all ".join(
            f"select {number} as number, cast({one} as {kind}) as value" for number, one in enumerate(values)
        )
        groups = spark.sql(f"select count(*) as rows from ({typed}) group by {form}").collect()
        assert [row["rows"] for row in groups] == [1] * len(values), kind
        compared = same("one", "other", {"value": kind}, zeros=True)
        pairs = f"({typed}) as one cross join ({typed}) as other"
        assert (
            spark.sql(f"select 1 from {pairs} where {compared} and one.number <> other.number").count() == 0
        )
    for kind, one, other in EQUAL:
        rows = f"select cast({one} as {kind}) as value union all select cast({other} as {kind})"
        form = comparable("value", kind, zeros=True)
        assert spark.sql(f"select any_value(value) from ({rows}) group by {form}").count() == 1, kind
