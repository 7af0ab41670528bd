"""What a run finds when the last one was cut off, or when a source is not what it was."""

from __future__ import annotations

import pytest

from tests.conftest import latest_version
from tests.lakehouse.conftest import Guarded

pytestmark = pytest.mark.R1


def test_touched_keys_move_and_go(guarded: Guarded) -> None:
    """R1.5: a row that moves changes the key that it left and the one that it joins; an empty key goes."""
    guarded.insert("(1, 5), (2, 5), (3, 6)")
    guarded.dbt("run")
    assert guarded.rows("totals") == [(5, 2), (6, 1)]
    guarded.insert("(1, 7), (3, 7)")
    built = guarded.dbt("run")
    assert guarded.rows("totals") == [(5, 1), (7, 2)]
    assert {table.table: table.said for table in built.tables} == {
        guarded.table("guarded"): "2 updated",
        guarded.table("totals"): "1 inserted, 1 updated, 1 deleted",
    }


def test_cut_off_before_the_checkpoint_the_next_run_comes_to_the_same(guarded: Guarded) -> None:
    """R1.5: the merge was done, its mark was not written: the same versions are read again, harmlessly."""
    guarded.insert("(1, 5), (2, 5)")
    guarded.dbt("run")
    guarded.insert("(1, 6)")
    guarded.dbt("run")
    tables = [guarded.table("guarded"), guarded.table("totals")]
    checkpoints = f"{guarded.prefix}_ops.checkpoints"
    versions = [latest_version(guarded.spark, table) for table in tables]
    guarded.spark.sql(f"delete from {checkpoints} where sequence = 2")
    guarded.dbt("run")
    assert guarded.rows("totals") == [(5, 1), (6, 1)]
    assert [latest_version(guarded.spark, table) for table in tables] == versions
    marks = guarded.spark.table(checkpoints).groupBy("model").max("sequence").collect()
    assert sorted(row["max(sequence)"] for row in marks) == [2, 2]


def test_a_source_that_is_not_what_it_was_is_read_whole(guarded: Guarded) -> None:
    """R1.5: rows deleted from it, a rebuilt layer below, or another table of its name: never a silent gap."""
    guarded.insert("(1, 5), (2, 5), (3, 6)")
    guarded.dbt("run")

    guarded.spark.sql(f"delete from {guarded.input} where id = 3")
    guarded.dbt("run")
    assert (guarded.rows("guarded"), guarded.rows("totals")) == ([(1, 5), (2, 5)], [(5, 2)])

    guarded.insert("(4, 8)")
    guarded.dbt("run", "--select", "guarded", "--full-refresh")
    guarded.dbt("run", "--select", "totals")
    assert guarded.rows("totals") == [(5, 2), (8, 1)]

    guarded.spark.sql(
        f"create or replace table {guarded.input} using delta "
        "tblproperties ('delta.enableChangeDataFeed' = 'true') as select 9L as id, 9 as amount, 1 as sent"
    )
    guarded.dbt("run")
    assert (guarded.rows("guarded"), guarded.rows("totals")) == ([(9, 9)], [(9, 1)])
