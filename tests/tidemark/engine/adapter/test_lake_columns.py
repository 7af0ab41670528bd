"""Columns of the adapter tell the types of Spark apart; macros of packages ask them."""

from __future__ import annotations

import pytest
from dbt.adapters.spark.column import SparkColumn

from tidemark.engine.adapter.columns import described, lake_columns


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        ("string", "is_string"),
        ("varchar(20)", "is_string"),
        ("int", "is_integer"),
        ("bigint", "is_integer"),
        ("double", "is_float"),
        ("decimal(10,2)", "is_numeric"),
        ("timestamp", ""),
        ("array<int>", ""),
    ],
)
def test_a_column_knows_its_kind(dtype: str, kind: str) -> None:
    """Exactly one kind, or none; strings have no size that a snapshot could widen."""
    (column,) = lake_columns([SparkColumn(column="x", dtype=dtype, table_name="t")])
    kinds = [
        each for each in ("is_string", "is_integer", "is_float", "is_numeric") if getattr(column, each)()
    ]
    assert kinds == ([kind] if kind else [])
    assert column.is_number() == (kind not in ("", "is_string"))
    assert not column.can_expand_to(column)
    assert (column.data_type, column.quoted, column.table_name) == (dtype, "`x`", "t")


def test_described_a_table_and_its_columns() -> None:
    """Of `describe extended`; a column may be named as a property of the table."""
    rows = [
        ("id", "int", "the number"),
        ("Comment", "string", None),
        ("day", "date", ""),
        ("# Partition Information", "", ""),
        ("day", "date", "of a partition"),
        ("", "", ""),
        ("# Detailed Table Information", "", ""),
        ("Comment", "orders\nof a day", ""),
    ]
    columns = {"id": ("int", "the number"), "comment": ("string", None), "day": ("date", None)}
    assert described(rows) == ("orders\nof a day", columns)
    assert described(rows[:3]) == (None, columns)
