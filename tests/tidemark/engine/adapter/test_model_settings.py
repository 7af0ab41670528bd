"""dbt's model settings: each is in the table, documented and tested; what cannot be followed is refused."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import pytest
from dbt.adapters.spark.impl import SparkConfig
from dbt.artifacts.resources.v1.model import ModelConfig

from tests.conftest import ROOT
from tidemark.engine.adapter.model_settings import SETTINGS, columns_named, refusals
from tidemark.engine.adapter.setting_checks import Model
from tidemark.engine.project.sql_header import statements_of, tables_read

pytestmark = pytest.mark.R1
TWICE = "create temporary function twice(x int) returns int return x * 2"
# of each setting: the test that shows its effect, or that its value is refused
LAKE, HERE, WAY = (
    "tests/lakehouse/test_model_settings.py",
    "tests/tidemark/engine/adapter/test_model_settings.py",
    "tests/tidemark/engine/decision/test_ways.py",
)
SUITE = "tests/adapter/test_basic.py"
TESTED = {
    LAKE: "unique_key on_schema_change partition_by location_root tblproperties options sql_header "
    "incremental_strategy schema materialized event_time begin batch_size",
    HERE: "grants file_format clustered_by buckets zorder",
    WAY: "full_refresh incremental_predicates predicates merge_update_columns merge_exclude_columns meta",
    "tests/lakehouse/test_contracts.py": "contract persist_docs",
    "tests/lakehouse/test_dbt_features.py": "on_error latest_version_pointer",
    "tests/lakehouse/test_clustering.py": "liquid_clustered_by",
    SUITE: "alias enabled tags group access docs quoting pre_hook post_hook column_types lookback "
    "concurrent_batches database packages on_configuration_change freshness static_analysis",
}


def test_each_setting_of_dbt_is_in_the_table() -> None:
    """R1.4: a setting that a new version of dbt or dbt-spark brings fails here."""
    given = {each.name for kind in (ModelConfig, SparkConfig) for each in fields(kind)}
    assert given - {setting.name for setting in SETTINGS} - {"_extra"} == set()


def test_the_page_equals_the_table() -> None:
    """R1.4: one row a setting, with the same words."""
    page = (ROOT / "docs" / "model_settings.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.MULTILINE)
    assert rows == [(setting.name, setting.effect) for setting in SETTINGS]


def test_each_setting_has_a_test() -> None:
    """R1.4: a file that exists, and names the setting."""
    tested = {name: file for file, names in TESTED.items() for name in names.split()}
    assert tested.keys() == {setting.name for setting in SETTINGS}
    assert all((ROOT / file).exists() for file in TESTED)


@pytest.mark.parametrize(
    ("config", "refused"),
    [
        ({}, ""),
        ({"grants": {"select": ["reporting"]}}, "grants is set"),
        ({"grants": {}}, ""),
        ({"file_format": "delta"}, ""),
        ({"file_format": "parquet"}, "file_format is parquet, but this target's tables are delta"),
        ({"clustered_by": "id", "buckets": 4}, "clustered_by and buckets: Delta has no buckets"),
        ({"liquid_clustered_by": "id"}, ""),
        ({"zorder": "id"}, "zorder is a setting of dbt-databricks"),
        ({"incremental_strategy": "nonsense"}, "incremental_strategy is nonsense"),
        ({"incremental_strategy": "delete+insert"}, "incremental_strategy is delete+insert"),
        ({"incremental_strategy": "insert_overwrite"}, ""),
        ({"incremental_strategy": "microbatch", "batch_size": "day"}, "incremental_strategy is microbatch"),
        ({"incremental_strategy": "microbatch, refused"}, "incremental_strategy is microbatch"),
        ({"incremental_strategy": "microbatch", "partition_by": "day"}, ""),
        ({"on_schema_change": "append"}, "on_schema_change is append. Use one of: ignore"),
        ({"on_schema_change": None}, ""),
        ({"sql_header": "set x = 1;"}, "sql_header runs `set x = 1`"),
        ({"sql_header": "create temporary view v as select ';' as a;\n-- done; really\n"}, ""),
        ({"sql_header": TWICE}, "sql_header runs `create temporary function twice"),
        ({"sql_header": "create temporary function f as 'a.B'"}, ""),
    ],
)
def test_a_value_that_cannot_be_followed_is_refused(config: dict[str, Any], refused: str) -> None:
    """R1.4: by the name of the setting, with what to do."""
    message = refusals(Model(config))
    assert len(message) == (1 if refused else 0)
    assert not message or message[0].startswith(refused)


def test_the_target_decides() -> None:
    """R1.4: buckets on Iceberg, grants on a server, another format in a model that dbt-spark runs."""
    assert refusals(Model({"clustered_by": "id", "buckets": 4}, "iceberg")) == []
    assert refusals(Model({"buckets": 4}, "iceberg")) != []
    assert refusals(Model({"sql_header": TWICE}, "iceberg")) == []
    assert refusals(Model({"grants": {"select": ["reporting"]}}, has_one_session=False)) == []
    assert refusals(Model({"file_format": "parquet"}, is_stock=True)) == []
    for folder in ("/lake/elsewhere", "s3a://lake/elsewhere", "file:/lake"):
        assert refusals(Model({"location_root": folder})) == []
    assert "location_root is elsewhere, a relative path" in refusals(Model({"location_root": "elsewhere"}))[0]


def test_statements_of_a_header() -> None:
    """R1.4: semicolons in texts and comments end no statement."""
    assert statements_of("select ';' /* ; */ as a; select 2 ;") == ["select ';' /* ; */ as a", "select 2"]
    assert statements_of(None) == statements_of("  \n") == []


@pytest.mark.parametrize(
    ("named", "columns", "found"),
    [
        (["customerid"], ["CustomerID", "x"], ["CustomerID"]),
        (["`Order ID`"], ["order id"], ["order id"]),
        (["a``b", "`a``b`"], ["a`b"], ["a`b", "a`b"]),
        (["concat(a, b)"], ["a", "b"], ["concat(a, b)"]),
        (["`a`"], ["`a`"], ["`a`"]),
    ],
)
def test_columns_are_found_as_spark_finds_them(
    named: list[str], columns: list[str], found: list[str]
) -> None:
    """R1.2: in any letter case, with or without backticks."""
    assert columns_named(named, columns) == found


@pytest.mark.parametrize(
    ("header", "tables"),
    [
        ("create or replace temporary view v as select * from shop.rates", ["shop.rates"]),
        (
            "create temp view v (a) as with t as (select 1 as a) select * from t join Rates using (a)",
            ["Rates"],
        ),
        (
            "create temporary view a as select 1 as id; create temp view `b` as select * from A; "
            "create temp view c as select * from b",
            [],
        ),
        ("create temporary view v as select * from values (1), (2) as x(a)", []),
        ("create temp view v as select id from range(5)", []),
        (TWICE, []),
        ("create temporary function top() returns int return (select max(x) from shop.t)", ["shop.t"]),
        ("create temporary function f as 'com.shop.Net' using jar '/net.jar'", []),
    ],
)
def test_a_header_reads_no_tables(header: str, tables: list[str]) -> None:
    """R1.1: a table that only the header reads is refused, because no run would notice its changes."""
    assert tables_read(statements_of(header)) == tables
    message = refusals(Model({"sql_header": header}, "iceberg"))
    assert [f"sql_header reads {', '.join(tables)}, whose" in one for one in message] == [True] * bool(tables)
    assert refusals(Model({"sql_header": header}, "iceberg", is_stock=True)) == []
