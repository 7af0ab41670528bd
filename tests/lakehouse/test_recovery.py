"""What a run finds when the last one was cut off, or when a source is not what it was."""

from __future__ import annotations

import pytest

from tests.conftest import MakeFeed, latest_version
from tests.lakehouse.conftest import FixtureProject, Guarded
from tests.night import nightly

pytestmark = pytest.mark.R1


@pytest.mark.core
@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_a_row_that_moves_changes_both_groups(guarded: Guarded) -> None:
    """R1.5: a row that moves changes the key that it left and the one that it joins; an empty key goes."""
    guarded.insert("(1, 5), (2, 5), (3, 6)")
    guarded.dbt("run")
    assert guarded.rows("totals") == [(5, 2), (6, 1)]
    guarded.insert("(1, 7), (3, 7)")
    built = guarded.dbt("run")
    assert guarded.rows("totals") == [(5, 1), (7, 2)]
    assert {table.table: table.message for table in built.tables} == {
        guarded.table("guarded"): "2 updated",
        guarded.table("totals"): "1 inserted, 1 updated, 1 deleted",
    }


@pytest.mark.core
def test_an_interrupted_run_is_completed_by_the_next_one(guarded: Guarded) -> None:
    """R1.5: the merge was done, its mark was not written: the same versions are read again, harmlessly."""
    guarded.insert("(1, 5), (2, 5)")
    guarded.dbt("run")
    guarded.insert("(1, 6)")
    guarded.dbt("run")
    tables = [guarded.table("guarded"), guarded.table("totals")]
    versions = [latest_version(guarded.spark, table) for table in tables]
    guarded.forget_last_run()
    guarded.dbt("run")
    assert guarded.rows("totals") == [(5, 1), (6, 1)]
    assert [latest_version(guarded.spark, table) for table in tables] == versions
    assert [guarded.checkpoint(model)["sequence"] for model in ("guarded", "totals")] == [2, 2]


@pytest.mark.R4
@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_a_replaced_source_is_read_in_full(guarded: Guarded) -> None:
    """R1.5, R4.2: rows deleted from it, a layer rebuilt, or another table of its name: gaps are detected."""
    guarded.insert("(1, 5), (2, 5), (3, 6)")
    guarded.dbt("run")

    guarded.spark.sql(f"delete from {guarded.input} where id = 3")
    guarded.dbt("run")
    assert (guarded.rows("guarded"), guarded.rows("totals")) == ([(1, 5), (2, 5)], [(5, 2)])

    guarded.insert("(4, 8)")
    guarded.dbt("run", "--select", "guarded", "--full-refresh")
    guarded.dbt("run", "--select", "totals")
    assert guarded.rows("totals") == [(5, 2), (8, 1)]

    guarded.replace_source(guarded.input, "select 9L as id, 9 as amount, 1 as sent")
    guarded.dbt("run")
    assert (guarded.rows("guarded"), guarded.rows("totals")) == ([(9, 9)], [(9, 1)])

    guarded.spark.sql(f"insert overwrite {guarded.input} values (8, 8, 9)")
    guarded.dbt("run")
    assert (guarded.rows("guarded"), guarded.rows("totals")) == ([(8, 8)], [(8, 1)])


@nightly("states")
def test_a_table_changed_by_another_writer_is_rebuilt(guarded: Guarded) -> None:
    """R1.5: restored, rows deleted, or dropped and built by a run cut off: its checkpoints are not for it."""
    guarded.insert("(1, 5)")
    guarded.dbt("run")
    guarded.insert("(2, 5), (3, 6)")
    guarded.dbt("run")
    totals = guarded.table("totals")
    guarded.spark.sql(f"restore table {totals} to version as of 0")
    guarded.insert("(4, 7)")
    assert guarded.dbt("run").failed == []
    assert guarded.rows("totals") == [(5, 2), (6, 1), (7, 1)]
    guarded.spark.sql(
        f"create or replace table {totals} using delta as select * from {totals} where amount = 5"
    )
    guarded.insert("(4, 8)")
    guarded.dbt("run")
    assert guarded.rows("totals") == [(5, 2), (6, 1), (8, 1)]


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_rows_inserted_and_deleted_between_two_runs_are_ignored(cases: FixtureProject) -> None:
    """R1.5: a largest value of a version that nothing has read is not the largest of the present rows."""
    source = cases.create_source("pairs_in", "id int, value int, sent int")
    cases.spark.sql(f"insert into {source} values (1, 5, 1), (2, 6, 1)")
    cases.messages("pairs", "pair_spans")
    for row in ("(2, 5, 2)", "(2, 6, 3)"):
        cases.spark.sql(f"insert into {source} values {row}")
        cases.messages("pairs")
    cases.messages("pair_spans")
    assert cases.rows("pair_spans") == [(5, 1, 1, 1), (6, 1, 2, 2)]


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_changes_of_a_table_that_lost_rows_are_refused(cases: FixtureProject) -> None:
    """R1.5: new and updated rows cannot say what went, so the model would keep it."""
    source = cases.create_source("pairs_in", "id int, value int, sent int")
    cases.spark.sql(f"insert into {source} values (1, 5, 1), (2, 6, 1)")
    cases.messages("pairs", "pair_spans", "pairs_copied")
    cases.spark.sql(f"insert into {source} values (1, 6, 2)")
    cases.messages("pairs", "pair_spans")
    assert "deleted rows. Read it by ref()" in cases.run("pairs_copied")


def test_a_changed_table_that_is_joined_as_it_is_rebuilds_the_model(cases: FixtureProject) -> None:
    """R1.5: changes() does not read it, here below a view; earlier rows would keep its earlier values."""
    source = cases.create_source("pairs_in", "id int, value int, sent int")
    labels = cases.create_source("labels_in", "value int, label string")
    cases.spark.sql(f"insert into {source} values (1, 5, 1)")
    cases.spark.sql(f"insert into {labels} values (5, 'five')")
    cases.messages("labels", "pairs_labelled")
    assert cases.messages("pairs_labelled") == {"pairs_labelled": "no change"}
    cases.spark.sql(f"insert into {source} values (2, 6, 1)")
    assert cases.messages("pairs_labelled") == {"pairs_labelled": "1 inserted"}
    cases.spark.sql(f"insert into {labels} values (6, 'six')")
    assert "labels_in changed, and is joined as it is" in cases.messages("pairs_labelled")["pairs_labelled"]
    assert cases.rows("pairs_labelled") == [(1, "five"), (2, "six")]
    cases.spark.sql(f"optimize {labels}")
    for _ in range(2):
        assert cases.messages("pairs_labelled") == {"pairs_labelled": "no change"}
    assert cases.dbt("run", "--select", "pairs_labelled", "--empty").failed == []
    assert cases.rows("pairs_labelled") == [(1, "five"), (2, "six")]


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_lost_files_that_land_again_change_no_other_row(cases: FixtureProject, make_feed: MakeFeed) -> None:
    """R1.5: an older file that comes back wins over no newer one: silver is as it was before the loss."""
    columns = {"id": "string", "name": "string", "sent": "string"}
    people = make_feed(columns, on_lost_rows="land_again")
    people.write("one.csv", "id,name,sent\n1,old,1\n2,Bob,1\n")
    people.land()
    people.write("two.csv", "id,name,sent\n1,new,1\n")
    people.land()
    cases.messages("people")
    before = cases.rows("people")
    assert before == [("1", "new", 1), ("2", "Bob", 1)]

    people.spark.sql(f"delete from {people.feed.table} where _source_file = 'one.csv'")
    assert "append-only" in cases.messages("people")["people"]
    assert cases.rows("people") == [("1", "new", 1)], "built before the landing that brings the file back"
    people.land()
    assert "append-only" in cases.messages("people")["people"]
    assert cases.rows("people") == before
    assert people.land().settled is None
    assert cases.messages("people") == {"people": "no change"}
