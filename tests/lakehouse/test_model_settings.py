"""dbt's model settings on a lake: followed, or refused by name before anything is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.conftest import ROOT
from tests.lakehouse.conftest import FIXTURES, FixtureProject
from tidemark.engine.explain import explain
from tidemark.engine.verify.verify import verify

pytestmark = [pytest.mark.R1, pytest.mark.R3]
REFUSED = {
    "refused_grants": "grants is set",
    "refused_strategy": "incremental_strategy is delete+insert",
    "refused_microbatch": "partition_by is not set",
    "refused_header": "sql_header runs `set spark.sql.session.timeZone = Asia/Tokyo`",
    "refused_view": "materialized is materialized_view, which Spark does not have",
    "refused_python": "an incremental model is SQL",
    "refused_python_table": "dbt-spark runs Python models on clusters of Databricks only",
    "refused_key": "`concat(id, day)` is in unique_key",
    "refused_predicates": "incremental_predicates finds present rows only where its condition holds, but the",
}
ROWS = [
    (1, "2026-01-01", 10, None, None),
    (2, "2026-01-01", 20, None, None),
    (3, "2026-01-02", 20, "new", 7),
]


class Orders(FixtureProject):
    """The project `settings`, with its two sources."""

    def __init__(self, spark: SparkSession, prefix: str) -> None:
        super().__init__(spark, "settings", prefix)
        self.orders = self.create_source("orders_in", "id int, day date, amount int, info struct<a: int>")
        self.widened = self.create_source("widened_in", "id int, price decimal(6, 2)")
        spark.sql(
            f"insert into {self.orders} values (1, date '2026-01-01', 10, named_struct('a', 1)), "
            "(2, date '2026-01-01', 20, null)"
        )
        spark.sql(f"insert into {self.widened} values (1, 10.50), (2, 20.25)")

    def gain_columns(self) -> None:
        """The source gets a column and a field, and a row that has them; the other one a wider type."""
        self.spark.sql(f"alter table {self.orders} add columns (extra string, info.b int)")
        self.spark.sql(
            f"insert into {self.orders} (id, day, amount, info, extra) "
            "values (3, date '2026-01-02', 20, named_struct('a', 3, 'b', 7), 'new')"
        )
        self.replace_source(
            self.widened,
            f"select id, cast(price as decimal(9, 2)) as price from {self.widened} union all select 3, 30.75",
        )

    def of_orders(self, model: str, *columns: str) -> list[tuple[object, ...]]:
        """Some columns of a model's rows, in the order of id."""
        table = self.spark.table(self.table(model)).orderBy("id").selectExpr(*columns)
        return [tuple(row) for row in table.collect()]

    def columns_of(self, model: str) -> list[str]:
        return self.spark.table(self.table(model)).columns


@pytest.fixture
def orders(spark: SparkSession, prefix: str, table_format: str, monkeypatch: pytest.MonkeyPatch) -> Orders:
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    monkeypatch.setenv("DBT_PROFILES_DIR", str(ROOT))
    return Orders(spark, prefix)


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_each_setting_is_followed_or_refused_by_name(orders: Orders, table_format: str) -> None:
    """Columns that a source gains, keys in another case, partitions, folders, headers; R1.4, R3.4."""
    first = orders.dbt("run")
    failed = dict(first.failed)
    assert failed.keys() == REFUSED.keys(), "".join(f"\n{a}: {b}" for a, b in failed.items())
    for model, sentence in REFUSED.items():
        assert sentence in failed[model]
        assert not orders.spark.catalog.tableExists(orders.table(model))
    _check_created(orders, table_format)

    orders.gain_columns()
    second = orders.dbt("run", "--exclude", *REFUSED)
    assert [name for name, _ in second.failed] == ["gains_fail"], second.failed
    message = second.failed[0][1]
    assert (
        "on_schema_change is fail, and its columns have changed: `extra` is new, `info` is struct<" in message
    )
    assert "--full-refresh" in message
    messages = {
        table.table.removeprefix(f"{orders.prefix}_silver."): table.message for table in second.tables
    }
    _check_columns(orders, messages)
    assert orders.of_orders("headed", "id", "doubled") == [(1, 20), (2, 40), (3, 40)]
    assert orders.rows("two_partitions") == sorted(
        tuple(row)
        for row in orders.spark.sql(
            f"select day, amount, count(*) from {orders.orders} group by all"
        ).collect()
    )
    os.chdir(FIXTURES / "settings")
    names = [*messages.keys() - {"asks"}]
    verdicts = {each.table: each for each in verify(orders.spark, names)}
    assert [plan.failed for plan in explain(orders.spark, ["headed"])] == [None]
    os.chdir(ROOT)
    assert len(verdicts) == len(names)
    unproven = {table: each.unproven or each.shown for table, each in verdicts.items() if not each.holds}
    ignored = "3 rows, 0 rows differ, but not compared: columns extra, info.b (only in the query)"
    assert unproven == {orders.table("gains_ignore"): ignored}


def _check_created(orders: Orders, table_format: str) -> None:
    spark = orders.spark
    properties = {
        row.key: row.value for row in spark.sql(f"show tblproperties {orders.table('placed')}").collect()
    }
    assert properties["made.by"] == "us"
    described = spark.sql(f"describe extended {orders.table('placed')}").collect()
    location = next(row.data_type for row in described if row.col_name == "Location")
    assert location.endswith(f"/elsewhere/{orders.prefix}/placed")
    assert any(Path(location.removeprefix("file:")).rglob("*.parquet"))
    assert orders.of_orders("headed", "id", "doubled", "separator") == [(1, 20, ";"), (2, 40, ";")]


def _check_columns(orders: Orders, messages: dict[str, str]) -> None:
    columns = ["id", "day", "amount", "info"]
    assert messages["gains_ignore"].startswith("1 inserted")
    assert "ignored the new columns `extra`, `info.b`: on_schema_change is ignore" in messages["gains_ignore"]
    assert orders.columns_of("gains_ignore") == columns
    assert orders.of_orders("gains_ignore", "info.a") == [(1,), (None,), (3,)]
    for model in ("gains_append_new_columns", "gains_sync_all_columns", "reads_changes"):
        assert "its columns have changed: `extra` is new" in messages[model]
        found = orders.of_orders(model, "id", "cast(day as string)", "amount", "extra", "info.b")
        assert found == ROWS
    assert "added `extra`" in messages["asks"] or "stop" in messages["asks"]
    assert orders.columns_of("gains_fail") == columns
    prices = [(1, "10.50"), (2, "20.25"), (3, "30.75")]
    for model, kind in {
        "widens_ignore": "decimal(6,2)",
        "widens_append_new_columns": "decimal(9,2)",
        "widens_sync_all_columns": "decimal(9,2)",
    }.items():
        assert dict(orders.spark.table(orders.table(model)).dtypes)["price"] == kind
        assert orders.of_orders(model, "id", "cast(price as string)") == prices
    assert "kept the type of `price`" in messages["widens_ignore"]
