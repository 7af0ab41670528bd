"""dbt snapshots, on both formats."""

from __future__ import annotations

import pytest

from tests.conftest import both_formats, latest_version
from tests.lakehouse.conftest import FixtureProject


@pytest.mark.R2
@both_formats
def test_a_snapshot_keeps_what_was(cases: FixtureProject, table_format: str) -> None:
    """R2.2: a changed row gets a new state, a deleted one ends; nothing new commits nothing on Delta."""
    source = cases.create_source("readings_in", "id int, name string, unit string")
    cases.spark.sql(f"insert into {source} values (1, 'a', 'kg'), (2, 'b', 'kg'), (3, null, 'kg')")
    cases.said("tested")
    assert cases.dbt("snapshot").failed == []
    cases.spark.sql(f"insert into {source} values (1, 'c', 'kg')")
    cases.said("tested")
    cases.spark.sql(f"delete from {cases.table('tested')} where id = 2")
    assert cases.dbt("snapshot").failed == []
    table = cases.table("tested_snapshot")
    states = cases.spark.table(table).selectExpr("id", "name", "dbt_valid_to is null as is_current")
    assert sorted((tuple(row) for row in states.collect()), key=str) == [
        (1, "a", False),
        (1, "c", True),
        (2, "b", False),
        (3, None, True),
    ]
    version = latest_version(cases.spark, table)
    assert cases.dbt("snapshot").failed == []
    if table_format == "delta":  # of an empty MERGE Iceberg makes a snapshot without rows
        assert latest_version(cases.spark, table) == version
    assert cases.spark.table(table).count() == 4
