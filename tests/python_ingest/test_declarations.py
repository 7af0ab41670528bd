"""Feeds that are declared wrongly: the error names the file, the feed, the key and the fix."""

from __future__ import annotations

from typing import Any

import pytest

from python_ingest.feeds.declarations import choose, feeds_of
from tidemark.base.errors import DeclarationError, LandingError


def source(**changes: Any) -> dict[str, Any]:
    node: dict[str, Any] = {
        "name": "orders",
        "schema": "bronze",
        "description": "",
        "original_file_path": "models/bronze/_bronze__sources.yml",
        "external": {"location": "data/raw/orders", "file_format": "csv", "row_format": None},
        "columns": {
            "order_id": {"name": "order_id", "data_type": "string"},
            "_batch_id": {"name": "_batch_id", "data_type": "bigint"},
        },
    }
    return node | changes


def test_a_sound_feed() -> None:
    """Metadata columns are not columns of the file; sources without `external:` are not feeds."""
    feeds = feeds_of([source(), source(name="ops", external=None)])
    assert list(feeds) == ["orders"]
    assert feeds["orders"].column_names == ["order_id"]
    assert feeds["orders"].table == "bronze.orders"


def test_a_partition_is_no_column_of_the_files() -> None:
    """Also if `columns` describes it; dbt adds its own keys to a partition."""
    partition = {"name": "year", "data_type": "string", "description": "", "meta": {}}
    columns = {name: {"name": name, "data_type": "string"} for name in ("order_id", "year")}
    external = {"location": "x", "file_format": "csv", "partitions": [partition]}
    (feed,) = feeds_of([source(external=external, columns=columns)]).values()
    assert (feed.column_names, feed.partition_names) == (["order_id"], ("year",))


@pytest.mark.R1
@pytest.mark.parametrize(
    ("changes", "key", "fix"),
    [
        ({"external": {"file_format": "csv"}}, "external.location", "Add `location:`"),
        ({"external": {"location": "x", "file_format": "xls"}}, "external.file_format", "Set `file_format"),
        ({"external": {"location": "x"}}, "external.file_format", "Set `file_format` to one of: csv, json"),
        (
            {"external": {"location": "x", "file_format": "csv", "options": {"delimitre": ";"}}},
            "external.options.delimitre",
            "Allowed options",
        ),
        (
            {"external": {"location": "x", "file_format": "csv", "options": {"delimiter": "||"}}},
            "external.options.delimiter",
            "Allowed options",
        ),
        (
            {"external": {"location": "x", "file_format": "json", "options": {"delimiter": ";"}}},
            "external.options.delimiter",
            "Allowed options: whole_file; see",
        ),
        (
            {"external": {"location": "x", "file_format": "csv", "options": {"encoding": "utf-9"}}},
            "external.options.encoding",
            "Allowed options",
        ),
        (
            {"external": {"location": "x", "file_format": "csv", "max_bytes": "lots"}},
            "external.max_bytes",
            "Write it as 64 MB",
        ),
        (
            {"external": {"location": "x", "file_format": "csv", "max_bytes": True}},
            "external.max_bytes",
            "Write it as 64 MB",
        ),
        (
            {"external": {"location": "x", "file_format": "csv", "max_files": True}},
            "external.max_files",
            "Set `max_files` to a number; see docs/landing.md",
        ),
        (
            {"external": {"location": "x", "file_format": "csv", "max_files": "many"}},
            "external.max_files",
            "Set `max_files` to a number; see docs/landing.md",
        ),
        (
            {"external": {"location": "x", "file_format": "csv", "pattern": "../*.csv"}},
            "external.pattern",
            "Give a pattern",
        ),
        (
            {"external": {"location": "x", "file_format": "csv", "exclude": ["a", "/b"]}},
            "external.exclude",
            "Give one or several patterns",
        ),
        (
            {"external": {"location": "x", "file_format": "csv", "partitions": ["Year"]}},
            "external.partitions.0.name",
            "Use lower-case",
        ),
        (
            {"external": {"location": "x", "file_format": "excel", "options": {"delimiter": ";"}}},
            "external.options.delimiter",
            "Allowed options: footer, header, null_value, sheet, skip_lines; see",
        ),
        ({"columns": {}}, "columns", "Declare each column"),
        ({"columns": {"id": {"name": "id", "data_type": "int"}}}, "columns.data_type", "Set `data_type"),
        ({"columns": {"id": {"name": "id", "data_type": None}}}, "columns.data_type", "Set `data_type"),
        ({"columns": {"x": {"name": "id; drop", "data_type": "string"}}}, "columns.name", "Use lower-case"),
        ({"name": "Or ders"}, "name", "Use lower-case"),
    ],
)  # fmt: skip
def test_a_wrong_declaration_names_file_feed_key_and_fix(changes: dict[str, Any], key: str, fix: str) -> None:
    """R1.1: declarations are checked before anything is read."""
    with pytest.raises(DeclarationError) as caught:
        feeds_of([source(**changes)])
    error = caught.value
    assert (error.file, error.key) == ("models/bronze/_bronze__sources.yml", key)
    assert error.feed in error.what
    assert error.fix.startswith(fix)
    assert "pydantic" not in str(error)


def test_an_unknown_feed_is_named_with_the_known_ones() -> None:
    """A slip of the pen on the command line."""
    with pytest.raises(LandingError, match=r"no feed named 'ordres' \(declared: orders\)"):
        choose(feeds_of([source()]), ["ordres"])
