"""dbt's commands and options on a lake, as docs/dbt_features.md says: tests/dbt_features.py is its table."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from dbt.artifacts.resources.v1.model import ModelConfig
from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

from tests.artifacts import check_catalog, check_nodes, check_results
from tests.conftest import ROOT
from tests.lakehouse.conftest import FixtureProject
from tests.night import nightly

pytestmark = [pytest.mark.R1, pytest.mark.R2]
FAILS = ("--vars", "{fails: 'yes'}")
IS_NEW = "on_error" in ModelConfig.__dataclass_fields__  # since dbt-core 1.12
WORKS = ("--vars", "{fails: 'no'}")


class Features(FixtureProject):
    """The project `features` on schemas of its own; `folder` gets what dbt writes."""

    def __init__(self, spark: SparkSession, prefix: str, folder: Path) -> None:
        super().__init__(spark, "features", prefix)
        self.target = folder / prefix

    def results(self, *arguments: str) -> list[Any]:
        """Run a command, whose artifacts are written; return dbt's results."""
        os.environ["TIDEMARK_SCHEMA"] = self.prefix
        options = ["--project-dir", str(self.folder), "--profiles-dir", str(ROOT)]
        given = ["--log-level", "none", *arguments, *options, "--target-path", str(self.target)]
        outcome = dbtRunner(self.manifest()).invoke(given)
        os.chdir(ROOT)
        assert outcome.exception is None, outcome.exception
        return list(getattr(outcome.result, "results", []))

    def messages(self, *arguments: str) -> dict[str, str]:
        """Run a command; return the message of each node, without the reasons for no proof."""
        return {
            getattr(one.node, "alias", one.node.name): (one.message or "").split("; not proven")[0]
            for one in self.results(*arguments)
        }

    def state(self) -> str:
        """Write the manifest for `--state`; return its folder."""
        self.target.mkdir(exist_ok=True)
        os.environ["TIDEMARK_SCHEMA"] = self.prefix
        self.manifest().writable_manifest().write(str(self.target / "manifest.json"))
        return str(self.target)

    def sources_of(self, model: str) -> set[str]:
        """The tables on which a model has checkpoints."""
        found = self.spark.table(f"{self.prefix}_ops.checkpoints").where(f"model = '{self.table(model)}'")
        return {row.source for row in found.collect()}


@pytest.fixture
def features(
    spark: SparkSession, prefix: str, table_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Features:
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    return Features(spark, prefix, tmp_path)


@pytest.fixture
def production(features: Features, tmp_path: Path) -> Features:
    """The same project on the schemas of production, built."""
    made = Features(features.spark, features.prefix.replace("t", "p"), tmp_path)
    made.messages(
        "build", "--select", "days", "orders", "amounts", "daily", "--exclude-resource-type", "test"
    )
    return made


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_deferred_tables_are_read_by_their_changes(features: Features, production: Features) -> None:
    """`--defer --state`, `--favor-state`: checkpoints name the table that was read; R2.1, R2.2."""
    deferred = ("--defer", "--state", production.state())
    reads = ("run", "--select", "daily", "reads_view", *deferred)
    assert features.messages(*reads) == {"daily": "3 inserted", "reads_view": "3 inserted"}
    for model in ("daily", "reads_view"):
        assert features.sources_of(model) == {production.table("orders")}
    features.spark.sql(
        f"insert into {production.table('orders')} values (7, 70, timestamp '2020-01-02 08:00:00')"
    )
    again = features.messages(*reads)
    assert again == {"daily": "1 updated", "reads_view": "1 inserted"}, "not in full"
    features.messages("seed")
    features.messages("run", "--select", "orders", *deferred)
    daily = ("run", "--select", "daily", *deferred)
    own = features.messages(*daily)["daily"]
    assert own == f"1 updated; in full: {features.table('orders')} has no checkpoint yet"
    back = features.messages(*daily, "--favor-state")["daily"]
    assert (
        back
        == f"1 updated; in full: {features.table('daily')} was last built from {features.table('orders')}"
    )
    assert features.messages(*daily, "--favor-state") == {"daily": "no change"}
    assert [row[1] for row in features.rows("daily")] == [10, 90, 30]
    own = features.messages(*daily)["daily"]
    assert f"was last built from {production.table('orders')}" in own
    assert [row[1] for row in features.rows("daily")] == [10, 20, 30]


@nightly("features")
@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_a_clone_is_completed_by_the_next_run(
    features: Features, production: Features, table_format: str
) -> None:
    """`dbt clone`: it has no checkpoints, and its rows are no other writer's; R1.5."""
    clone = ("clone", "--select", "days", "orders", "daily", "amounts", "--state", production.state())
    messages = features.messages(*clone)
    if table_format == "iceberg":
        assert "Iceberg has no shallow clones" in messages["orders"]
        return
    assert features.rows("daily") == production.rows("daily")
    assert messages["orders"] == f"shallow clone of {production.table('orders')}"
    assert features.messages("seed") == {"days": "no change"}
    features.spark.sql(f"delete from {features.table('days')} where id = 3")
    runs = ("run", "--select", "orders", "daily")
    first = features.messages(*runs)
    assert {name: one.split(";")[0] for name, one in first.items()} == dict.fromkeys(
        ("orders", "daily"), "1 deleted"
    )
    assert features.messages(*runs) == {"orders": "no change", "daily": "no change"}
    features.spark.sql(
        f"insert into {features.table('orders')} values (8, 80, timestamp '2020-01-02 08:00:00')"
    )
    assert "1 row of the table would be deleted" in features.messages(*runs)["orders"], "another writer's"
    cloned = features.messages(*clone, "--full-refresh")
    assert features.rows("orders") == production.rows("orders"), cloned
    again = features.messages("run", "--select", "daily")
    assert features.rows("daily") == production.rows("daily"), again
    features.spark.sql(f"drop table {production.table('daily')}")
    lost = features.messages(*clone, "--full-refresh")["daily"]
    assert "which the state names, does not exist in this lake" in lost


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_commands_and_options(features: Features) -> None:
    """`--empty` seeds, versions, groups, ephemeral models, `dbt retry`, freshness, refusals; R1.4, R1.5."""
    for _ in range(2 if IS_NEW else 0):
        features.messages("seed", "--empty")
        assert features.rows("days") == []
        assert features.messages("seed") == {"days": "3 inserted"}, "an empty seed is not the file's"
    features.messages("seed")
    built = features.messages("run", "--select", "orders", "amounts", "priced", "both_versions", "secret")
    assert {
        name: built[name] for name in ("priced_v1", "priced_v2", "both_versions", "secret")
    } == dict.fromkeys(("priced_v1", "priced_v2", "both_versions", "secret"), "3 inserted")
    assert features.rows("both_versions") == [(1, 20, 10), (2, 40, 20), (3, 60, 30)]
    assert features.spark.table(features.table("priced")).columns == ["id", "amount", "doubled"], (
        "the pointer"
    )

    failed = features.messages("run", "--select", "failing+", *FAILS)
    assert "asked to fail" in failed["failing"]
    assert ("cannot be found" in failed["below_failing"]) is IS_NEW, "on_error is continue: it runs"
    errors = check_results(features.target)
    check_nodes(features.target)
    assert "asked to fail" in errors["model.tidemark.failing"]["message"]
    assert features.messages("retry", *WORKS) == {"failing": "3 inserted", "below_failing": "3 inserted"}

    written = check_results(features.target)["model.tidemark.failing"]
    assert written["adapter_response"]["rows_affected"] == 3
    assert "raise_error" not in written["compiled_code"] or "'no' = 'yes'" in written["compiled_code"]

    fresh = {one.node.name: one for one in features.results("source", "freshness")}
    statuses = {name: str(one.status) for name, one in fresh.items()}
    assert statuses == {
        "by_commits": "pass",
        "by_field": "warn",
        "by_query": "warn",
        "by_view": "runtime error",
    }
    assert "amounts is not a table of the lake" in fresh["by_view"].message
    refused = features.messages("build", "--select", "double_it", "calls_function", "in_catalog", "granted")
    assert "dbt-spark does not create functions" in refused["double_it"]
    assert "catalog_name is elsewhere. All tables are in the catalog of the target" in refused["in_catalog"]
    assert "models/granted.sql: grants is set, but Spark knows no GRANT" in refused["granted"]
    assert not features.spark.catalog.tableExists(features.table("calls_function"))


@nightly("features")
@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_one_batch_is_retried(features: Features) -> None:
    """`--event-time-start`, `--event-time-end`, and `dbt retry` of a microbatch model; R1.5."""
    features.messages("build", "--select", "days", "orders", "--exclude-resource-type", "test")
    times = ("--event-time-start", "2020-01-01", "--event-time-end", "2020-01-04")
    (partly,) = features.results("run", "--select", "batches", *times, *FAILS)
    assert str(partly.status) == "partial success"
    assert len(partly.batch_results.failed) == 1
    (whole,) = features.results("retry", *WORKS)
    assert str(whole.status) == "success"
    assert [row[0] for row in features.rows("batches")] == [1, 2, 3]


@nightly("features")
@pytest.mark.formats(day="delta", night="delta iceberg")
def test_commands_that_read(features: Features, table_format: str) -> None:
    """`show`, `compile`, `docs generate`, `run-operation`, unit tests, saved queries; R1."""
    built = features.messages("build", "--select", "days", "orders+", "time_spine", "--exclude", "batches")
    assert built["daily"] == built["secret"] == "3 inserted"
    assert {"totals_of_a_day", "rows_of_an_ephemeral_model", "kept_orders", "kept_by_time"} <= built.keys()
    assert "board" in built, "an exposure is no work"
    assert len(features.rows("kept_orders")) == len(features.rows("kept_by_time")) == 3
    (shown,) = features.results("show", "--select", "daily", "--limit", "2")
    assert len(shown.agate_table.rows) == 2
    (inline,) = features.results("show", "--inline", "select count(*) as n from {{ ref('orders') }}")
    assert inline.agate_table.rows[0]["n"] == 3
    (compiled,) = features.results("compile", "--select", "secret", "--no-introspect")
    assert features.table("orders") in compiled.node.compiled_code
    features.results("docs", "generate", "--static")
    catalog = json.loads((features.target / "catalog.json").read_text())
    assert {"model.tidemark.orders", "seed.tidemark.days"} <= catalog["nodes"].keys()
    check_catalog(features.target)
    if table_format == "delta":  # dbt-spark does not list the views of an Iceberg catalog
        assert "model.tidemark.amounts" in catalog["nodes"]
    assert (features.target / "static_index.html").exists()
    features.results("docs", "generate", "--empty-catalog")
    assert json.loads((features.target / "catalog.json").read_text())["nodes"] == {}
    features.results("run-operation", "greet", "--args", "{name: you}")
    only = features.messages("build", "--resource-type", "saved_query", "exposure")
    assert {"revenue_by_day", "board"} <= only.keys()
