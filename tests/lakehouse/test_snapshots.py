"""dbt snapshots, on both formats."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import latest_version
from tests.lakehouse.conftest import FixtureProject


@pytest.mark.R2
@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_a_snapshot_keeps_what_was(cases: FixtureProject, table_format: str) -> None:
    """R2.2: a changed row gets a new state, a deleted one ends; nothing new commits nothing on Delta.

    With `hard_deletes: new_record`, a deletion has a record with the row's columns, until the row is back.
    """
    source = cases.create_source("readings_in", "id int, name string, unit string")
    cases.spark.sql(f"insert into {source} values (1, 'a', 'kg'), (2, 'b', 'kg'), (3, null, 'kg')")
    cases.messages("tested")
    assert cases.dbt("snapshot").failed == []
    cases.spark.sql(f"insert into {source} values (1, 'c', 'kg')")
    cases.messages("tested")
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
    refused = dict(cases.dbt("snapshot", "--empty").failed)
    assert set(refused) == {"tested_snapshot", "deletions_snapshot"}
    assert all("hard_deletes would end all the others" in message for message in refused.values())
    assert cases.spark.table(table).count() == 4

    deletions = cases.table("deletions_snapshot")
    of_row = "id", "part", "name", "dbt_is_deleted", "dbt_valid_to is null as is_current"
    assert _rows(cases, deletions, "id = 2", *of_row) == [
        (2, "p", "b", "False", False),
        (2, "p", "b", "True", True),
    ]
    cases.spark.sql(f"insert into {cases.table('tested')} values (2, 'b')")
    assert cases.dbt("snapshot", "--select", "deletions_snapshot").failed == []
    assert _rows(cases, deletions, "id = 2", *of_row) == [
        (2, "p", "b", "False", False),
        (2, "p", "b", "False", True),
        (2, "p", "b", "True", False),
    ]
    columns = cases.spark.table(deletions).columns
    assert [name for name in columns if name.startswith("dbt_unique_key")] == []
    assert cases.spark.table(deletions).count() == 6


def _rows(cases: FixtureProject, table: str, where: str, *columns: str) -> list[tuple[Any, ...]]:
    found = cases.spark.table(table).where(where).selectExpr(*columns).collect()
    return sorted((tuple(row) for row in found), key=str)
