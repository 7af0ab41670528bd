"""`tidemark why`: a row is followed to the rows that it was made from, down to the record of a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.conftest import ROOT
from tests.lakehouse.test_staging_models import Staged
from tidemark.base.errors import TidemarkError
from tidemark.cli.why import conditions_of, show_runs, show_why
from tidemark.engine.incremental.pinning import unpinned
from tidemark.engine.incremental.unsupported import Unsupported
from tidemark.engine.project import Project
from tidemark.engine.why.asked import Asked
from tidemark.engine.why.levels import Level, why
from tidemark.engine.why.places import RECORD, with_records

pytestmark = [pytest.mark.R1, pytest.mark.formats(day="iceberg", night="delta iceberg")]
MODELS = ("orders", "rejected_orders", "order_lines", "totals")
TOTALS = """{{ config(unique_key='amount') }}
select orders.amount, count(*) as number, max(customers.id) as newest
from {{ ref('orders') }} as orders
inner join {{ source('bronze', 'customers') }} as customers on orders.id = customers.id
group by orders.amount
"""


class Followed(Staged):
    """The project `staged` with two landed batches that its models have read, and one that they have not."""

    def enter(self) -> None:
        manifest = self.manifest_of_copy()
        os.chdir(self.folder)
        self.project = Project.of(self.folder, manifest)

    def levels(self, table: str, column: str = "", run: str = "", **conditions: str) -> list[Level]:
        asked = Asked(f"{self.prefix}_{table}", conditions, column, run=run)
        return list(why(self.spark, self.project.manifest, asked))

    def tables(self, levels: list[Level]) -> list[tuple[int, str, int]]:
        return [(one.depth, one.table.removeprefix(f"{self.prefix}_"), one.number) for one in levels]


@pytest.fixture
def followed(
    spark: SparkSession, prefix: str, table_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Followed]:
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    monkeypatch.setenv("DBT_PROFILES_DIR", str(ROOT))
    found = Followed(spark, prefix)
    models = found.own_copy(tmp_path)
    (models / "silver" / "totals.sql").write_text(TOTALS)
    found.land((1, " 5"), (2, "x"), (3, "6"))
    spark.sql(f"insert into {prefix}_bronze.customers values (1), (3), (7)")
    found.messages(*MODELS)
    found.land((1, "6"), (4, "it's"))
    found.messages(*MODELS)
    found.land((1, "7"))
    found.enter()
    yield found
    os.chdir(ROOT)


def test_a_row_is_followed_to_the_records_of_its_files(
    followed: Followed, capsys: pytest.CaptureFixture[str]
) -> None:
    """R1.1: through joins and groups, at the versions that were read; bad input is named."""
    levels = followed.levels("silver.totals", "newest", amount="6")
    assert followed.tables(levels) == [
        (0, "silver.totals", 1),
        (1, "silver.orders", 2),
        (2, "bronze.orders", 3),
        (1, "bronze.customers", 2),
    ]
    total, orders, landed, customers = levels
    assert [(row["number"], row["newest"]) for row in total.shown] == [(2, 3)]
    assert [row["id"] for row in orders.shown] == [1, 3]
    assert [(row["id"], row["amount"], row["_batch_id"], row[RECORD]) for row in landed.shown] == [
        (1, " 5", 1, 1),
        (3, "6", 1, 3),
        (1, "6", 2, 1),
    ]
    assert [note.replace(f"{followed.prefix}_", "") for note in landed.notes] == [
        "the query chooses among these rows",
        "2 more records of the same files: amount is not a whole number (silver.rejected_orders)",
    ]
    assert [row["id"] for row in customers.shown] == [1, 3]
    assert [one.adds_up for one in levels] == ["", "", "", "max(id) = 3"]

    levels = followed.levels("silver.order_lines", rejection_reason="amount is not a whole number")
    assert followed.tables(levels) == [(0, "silver.order_lines", 1), (1, "bronze.orders", 2)], levels
    assert levels[-1].notes == ()
    levels = followed.levels("silver.rejected_orders", raw_record='{"id":4,"amount":"it\'s"}')
    assert followed.tables(levels) == [(0, "silver.rejected_orders", 1), (1, "bronze.orders", 1)]
    assert levels[-1].notes == ()

    project, state = followed.project, followed.state
    show_why(followed.spark, project, Asked("rejected_orders", {"_row_number": "1", "_batch_id": "2"}))
    assert "f record 2: id=4" in capsys.readouterr().out, "the record of the file, not of the model"
    show_why(followed.spark, project, Asked("totals", {"AMOUNT": "6"}))
    text = capsys.readouterr().out
    assert "  bronze.orders  3 rows" in text.replace(f"{followed.prefix}_", "")
    assert "f record 3: id=3, amount=6" in text
    show_runs(followed.spark, project, Asked("totals", {"amount": "6"}))
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[0].endswith("totals 2 runs changed it")
    assert [line.rpartition(": ")[2] for line in lines if "(run, " in line] == ["first run", "incremental"]
    assert lines[2:3] + lines[4:] == ["+ amount=6, number=1, newest=3", "number 1 → 2"]

    first = state.runs()[0].id
    levels = followed.levels("silver.totals", "newest", run=first, amount="6")
    assert [one.number for one in levels] == [1, 1, 1, 1], "as the first run left and read the tables"
    assert [row["id"] for row in levels[2].shown] == [3]
    with pytest.raises(TidemarkError, match="has no row with id=1, amount=6 after the run"):
        followed.levels("silver.orders", run=first, id="1", amount="6")
    for table, key, message in (
        ("stg_orders", "id=1", "stg_orders has no rows of its own: its materialization is ephemeral."),
        ("total", "amount=6", "No model builds total."),
        ("totals", "amont=6", "Did you mean 'amount'?"),
        ("totals", "amount=six", "six is no value of"),
        ("totals", "amount=9", "has no row with amount=9."),
        ("totals", "amount", "amount is not COLUMN=VALUE."),
        ("rejected_orders", "raw_record=it's", "has no row with raw_record=it's."),
    ):
        with pytest.raises(TidemarkError, match=message.replace(".", r"\.").replace("?", r"\?")):
            show_why(followed.spark, project, Asked(table, conditions_of([key])))


def test_a_record_has_a_number_only_if_it_landed_with_its_file(spark: SparkSession, prefix: str) -> None:
    """R1.1: not one that was replayed later, nor a copy that landed as another file is gone."""
    spark.sql(f"create schema {prefix}_bronze")
    table = f"{prefix}_bronze.landed"
    landed = "_source_file string, _source_modified_at timestamp, _batch_id bigint, _row_number bigint"
    spark.sql(f"create table {table} ({landed}, _is_deleted boolean, _first_batch_id bigint)")
    spark.sql(
        f"""insert into {table} values
        ('a', timestamp '2026-01-01', 1, 0, false, null), ('a', timestamp '2026-01-01', 1, 7, false, null),
        ('a', timestamp '2026-01-01', 2, 0, false, null), ('b', timestamp '2026-01-01', 1, 8, false, null),
        ('a', timestamp '2026-01-02', 3, 4, false, null), ('a', timestamp '2026-01-02', 3, 9, false, null),
        ('b', timestamp '2026-01-01', 3, 10, true, null), ('a', timestamp '2026-01-01', 3, 11, false, 1),
        ('shop.orders', null, 4, 0, false, null)"""
    )
    rows = with_records(spark, table, spark.table(table)).orderBy("_batch_id", "_row_number").collect()
    assert [(row["_batch_id"], row["_row_number"], row[RECORD]) for row in rows] == [
        (1, 0, 1),
        (1, 7, 2),
        (1, 8, 1),
        (2, 0, None),
        (3, 4, 1),
        (3, 9, 2),
        (3, 10, None),
        (3, 11, None),
        (4, 0, None),
    ]


def test_two_versions_of_one_table_are_not_read_as_one() -> None:
    """R1.1: which of them a row comes from is not known then."""
    one = "select * from s.t version as of 3 union all select * from s.u version as of 4"
    assert unpinned(one)[1] == {"s.t": "s.t version as of 3", "s.u": "s.u version as of 4"}
    with pytest.raises(Unsupported, match=r"two versions of s\.t"):
        unpinned(one.replace("s.u", "s.t"))
