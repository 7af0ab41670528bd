"""Time travel, compaction and expiry, on both formats."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.conftest import latest_version
from tests.lakehouse.conftest import Guarded
from tidemark.base.errors import TidemarkError
from tidemark.lake.retention import KEPT_SNAPSHOTS, Kept
from tidemark.maintain.maintenance import chosen_tables, compact, expire
from tidemark.maintain.maintenance_plan import plan

pytestmark = [pytest.mark.R4, pytest.mark.formats(day="iceberg", night="delta iceberg")]


@pytest.mark.core
def test_a_table_is_read_as_of_a_version_or_a_time(guarded: Guarded) -> None:
    """R4.4: by version and by time; by catalog, namespace and table."""
    guarded.insert("(1, 5)")
    guarded.dbt("run", "--select", "guarded")
    table = guarded.table("guarded")
    first = latest_version(guarded.spark, table)
    moment = guarded.spark.sql("select current_timestamp()").first()
    assert moment is not None
    guarded.insert("(1, 6), (2, 6)")
    guarded.dbt("run", "--select", "guarded")
    by_version = guarded.spark.sql(f"select * from {table} version as of {first}").collect()
    by_time = guarded.spark.sql(f"select * from {table} timestamp as of '{moment[0]}'").collect()
    named = guarded.spark.sql(f"select * from {guarded.spark.catalog.currentCatalog()}.{table}").collect()
    assert [tuple(row) for row in by_version] == [tuple(row) for row in by_time] == [(1, 5)]
    assert sorted(tuple(row) for row in named) == [(1, 6), (2, 6)]


def test_compaction_changes_no_row_and_triggers_no_downstream_model(guarded: Guarded) -> None:
    """R4.4: many small files become few; models that read the table read nothing again."""
    for number in range(4):
        guarded.insert(f"({number}, 5)")
    guarded.dbt("run")
    (planned,) = plan(guarded.spark, [guarded.input], Kept(0), guarded.state.versions_read())
    assert (planned.small_files, planned.unread) == (4, [])
    assert compact(guarded.spark, guarded.input) == (4, 1)
    assert guarded.spark.table(guarded.input).count() == 4
    messages = guarded.messages("guarded", "totals")
    assert messages == {"guarded": "no change", "totals": "no change"}
    run = guarded.last_run("guarded")
    assert (run.state, run.rows_read) == ("incremental", 0)
    assert compact(guarded.spark, guarded.input) == (0, 0)


def test_expiry_keeps_what_a_model_has_yet_to_read(guarded: Guarded) -> None:
    """R4.4: refused for a table with an unread version; afterwards old versions are gone, rows are not."""
    guarded.insert("(1, 5)")
    first = latest_version(guarded.spark, guarded.input)
    guarded.dbt("run", "--select", "guarded")
    for number in range(KEPT_SNAPSHOTS):
        guarded.insert(f"({number}, 6)")
    late = [f"{guarded.table('guarded')} (up to version {first})"]
    assert expire(guarded.spark, guarded.input, 0, guarded.readers(guarded.input)) == (0, late)
    (planned,) = plan(guarded.spark, [guarded.input], Kept(0), guarded.state.versions_read())
    assert (planned.unread, planned.old) == (late, 0)
    assert expire(guarded.spark, guarded.input, 24, guarded.readers(guarded.input)) == (0, [])
    assert guarded.messages("guarded") == {"guarded": "4 inserted, 1 updated"}
    compact(guarded.spark, guarded.input)
    for number in range(KEPT_SNAPSHOTS):
        guarded.insert(f"({number}, 7)")
    guarded.messages("guarded")
    (planned,) = plan(guarded.spark, [guarded.input], Kept(0), guarded.state.versions_read())
    assert planned.old > 0
    deleted, unread = expire(guarded.spark, guarded.input, 0, guarded.readers(guarded.input))
    assert (deleted > 0, unread) == (True, [])
    assert _is_gone(guarded.spark, guarded.input, first)
    guarded.insert("(9, 9)")
    assert guarded.messages("guarded") == {"guarded": "1 inserted"}, "the mark's own version is still there"


def _is_gone(spark: SparkSession, table: str, version: int) -> bool:
    try:
        spark.sql(f"select * from {table} version as of {version}").collect()
    except Exception:
        return True
    return False


def test_a_table_that_is_not_the_projects_is_refused(spark: SparkSession, table_format: str) -> None:
    """R4.4: the message names those that there are."""
    with pytest.raises(TidemarkError, match=r"There is no table silver\.typo"):
        chosen_tables(spark, ["silver.none_yet"], ["silver.typo"])
