"""Staging models: relations that can be looked at, and that other models read by their changes."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from benchmarks.measuring import timed_statements
from tests.conftest import ROOT
from tests.lakehouse.conftest import FixtureProject
from tidemark.engine.project.build import build
from tidemark.engine.verify.verify import verify

pytestmark = [pytest.mark.R1, pytest.mark.R2]
BOTH = ("orders", "rejected_orders")
ORDERS = "source('bronze', 'orders')"


class Staged(FixtureProject):
    """The project `staged` with its bronze table, into which lines `(id, amount)` are landed."""

    def __init__(self, spark: SparkSession, prefix: str) -> None:
        super().__init__(spark, "staged", prefix)
        landed = "_batch_id bigint, _row_number bigint, _source_file string, _source_modified_at timestamp"
        self.input = self.create_source(
            "orders", f"id bigint, amount string, {landed}, _ingested_at timestamp"
        )
        self.create_source("customers", "id bigint")
        self._batch = 0

    def land(self, *lines: tuple[int, str]) -> None:
        self._batch += 1
        rows = ", ".join(f'({key}, "{text}", {number}L)' for number, (key, text) in enumerate(lines))
        self.spark.sql(
            f"insert into {self.input} select id, amount, {self._batch}, number, 'f', now(), now() "
            f"from values {rows} as t (id, amount, number)"
        )

    def compiled(self, model: str, *options: str) -> str:
        (result,) = self.invoke("compile", "--select", model, *options).results
        return str(result.node.compiled_code)


@pytest.fixture
def staged(spark: SparkSession, prefix: str, table_format: str, monkeypatch: pytest.MonkeyPatch) -> Staged:
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    monkeypatch.setenv("DBT_PROFILES_DIR", str(ROOT))
    return Staged(spark, prefix)


@pytest.mark.core
@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_accepted_and_rejected_rows_are_read_once_by_their_changes(staged: Staged, table_format: str) -> None:
    """R1.4, R2.2: through two ephemeral models; a plain query folds the same staging model."""
    staged.land((1, " 5"), (2, "x"))
    staged.messages(*BOTH, "order_lines")
    assert staged.rows("orders") == [(1, 5)]
    assert [row[:2] for row in staged.rows("rejected_orders")] == [
        ("amount is not a whole number", '{"id":2,"amount":"x"}')
    ]
    staged.land((1, "6"), (3, "7"), (4, "y"))
    feed = {"delta": "table_changes('{}'", "iceberg": "{} with (`start-snapshot-id`"}[table_format]
    feed = feed.format(staged.input)
    with timed_statements() as statements:
        assert staged.messages(*BOTH) == {"orders": "1 inserted, 1 updated", "rejected_orders": "1 inserted"}
    assert len([one for one in statements if feed in one.sql]) == 1, "bronze is read once"
    assert staged.rows("orders") == [(1, 6), (3, 7)]
    for model in BOTH:
        run = staged.last_run(model)
        assert (run.state, run.rows_read) == ("incremental", 3)
    assert staged.messages("order_lines") == {"order_lines": "2 updated"}
    assert staged.rows("order_lines") == [("accepted", 3), ("amount is not a whole number", 2)]
    assert staged.messages(*BOTH) == {"orders": "no change", "rejected_orders": "no change"}
    staged.land((9, "9"))  # a rebuild is of the versions that were read
    os.chdir(staged.folder)
    verdicts = list(verify(staged.spark, [*BOTH, "order_lines"]))
    os.chdir(ROOT)
    assert {verdict.table: verdict.holds for verdict in verdicts} == {
        staged.table(name): True for name in (*BOTH, "order_lines")
    }


def test_a_staging_model_is_a_relation(staged: Staged) -> None:
    """R1.4: shown, tested by data tests and unit tests, and compiled by itself; all rows of bronze."""
    staged.land((1, "5"), (2, "x"))
    results = staged.invoke("show", "--select", "stg_orders").results
    (shown,) = (result for result in results if result.node.name == "stg_orders")
    columns = shown.agate_table.column_names
    assert {"amount", "rejection_reason"} <= set(columns)
    assert sorted(shown.agate_table.columns["rejection_reason"].values(), key=str) == [
        None,
        "amount is not a whole number",
    ]
    built = staged.invoke("build", "--select", "stg_orders", "orders")
    statuses = {result.node.name: str(result.status) for result in built.results}
    assert set(statuses.values()) <= {"pass", "success"}
    assert {"stg_orders_names_the_broken_rule", "orders_are_the_accepted_rows"} <= statuses.keys()
    assert [name for name in statuses if name.startswith(("not_null", "unique"))] != []
    staged.spark.sql(f"insert into {staged.input} (id, _batch_id, _row_number) values (null, 9, 9)")
    failed = [name for name, _ in staged.dbt("test", "--select", "stg_orders,test_type:data").failed]
    assert failed == ["not_null_stg_orders_id"]


def test_the_compiled_query_names_the_staging_model_only_where_it_reads_all_rows(staged: Staged) -> None:
    """R2.2: a model may read both the changes and all rows."""
    staged.land((1, "5"), (2, "x"))
    assert "__dbt__cte__" not in staged.compiled("orders")
    assert "__dbt__cte__stg_orders as (" in staged.compiled("order_lines")
    found = staged.compiled("compared")
    assert "__dbt__cte__stg_orders as (" in found
    assert len(re.findall(r"/\* tidemark \{", found)) == 1
    assert staged.messages("compared") == {"compared": "2 inserted"}
    assert staged.rows("compared") == [(1, True), (2, False)]


def test_a_staging_model_of_several_tables_is_refused(staged: Staged) -> None:
    """R2.1: the changes of a join are not the join of the changes."""
    message = staged.run("joined")
    assert "changes(ref('stg_joined')) needs a staging model that reads one table" in message
    assert "bronze" not in message


@pytest.mark.parametrize(
    ("materialized", "call", "read"),
    [
        ("view", "watermark_filter()", "{{ SOURCE }} where {{ watermark_filter(SOURCE, 'id') }}"),
        ("ephemeral", "changes()", "{{ changes(SOURCE) }}"),
    ],
)
def test_a_view_has_no_checkpoint_to_read_from(
    staged: Staged, tmp_path: Path, materialized: str, call: str, read: str
) -> None:
    """R2.1: it would read all rows each time, or stay as it was when it was made."""
    models = staged.own_copy(tmp_path)
    newest = models / "silver" / "newest.sql"
    query = f"select * from {read.replace('SOURCE', ORDERS)}"
    newest.write_text(f"{{{{ config(materialized='{materialized}') }}}}\n{query}")
    newest.with_name("reader.sql").write_text("select id from {{ ref('newest') }}")
    os.chdir(staged.folder)
    built = build(["--select", "newest", "reader"], lambda _: None)
    os.chdir(ROOT)
    ((name, message),) = built.failed
    assert (name, built.tables, built.skipped) == ("newest", [], 1)
    assert f"newest calls {call}, but it is" in message
    assert f"{call} in the incremental model that reads newest" in message
    run = staged.spark.table(f"{staged.prefix}_ops.runs").orderBy("started_at", ascending=False).first()
    assert run is not None
    assert (run.succeeded, run.models_failed) == (False, 1)


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_empty_runs_and_changed_code(staged: Staged, tmp_path: Path) -> None:
    """R2.2: `--empty` builds the schema; an edited staging model builds its readers again."""
    staged.land((1, "5"), (2, "x"))
    staged.messages(*BOTH, options=("--empty",))
    assert staged.rows("orders") == []
    staged.messages(*BOTH, options=("--full-refresh",))
    models = staged.own_copy(tmp_path)
    text = (models / "staging" / "stg_orders.sql").read_text()
    (models / "staging" / "stg_orders.sql").write_text(text.replace("amount is null", "amount < 9"))
    staged.messages(*BOTH)
    assert staged.last_run("orders").state == "code changed"
    assert staged.rows("orders") == [(2, None)]
