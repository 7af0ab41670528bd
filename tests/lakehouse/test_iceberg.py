"""What is another on Iceberg: contracts held at each write, snapshots for versions, and the whole project."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dev.servers.iceberg_rest import iceberg_rest
from tests.conftest import ONLY_TABLES, ROOT, Lakehouse, latest_version, take_back
from tests.lakehouse.conftest import Guarded
from tests.night import is_night
from tidemark.cli.build import DATA_ONLY
from tidemark.engine.explain import explain
from tidemark.engine.project.session import retarget
from tidemark.engine.verify.verify import verify
from tidemark.lake.cached_view import create_cached_view, drop_cached_view
from tidemark.lake.delta_log import make_active

pytestmark = [
    pytest.mark.R1,
    pytest.mark.R4,
    pytest.mark.parametrize("table_format", ["iceberg"], indirect=True),
]
FEEDS = {
    "transactions": "*1997-0[1-3].csv",
    "user_events": "*.csv",
    "device_events": "*.json",
    "inventory_movements": "*.json",
}


def test_a_violated_contract_stops_the_run_and_leaves_the_table_as_it_was(guarded: Guarded) -> None:
    """R4.3, R1.4: Iceberg has no CHECK constraints: what is written is checked before it is."""
    guarded.insert("(null, 1)")
    first = guarded.run("guarded")
    assert "`id is not null` (id_not_null), but a row violates it" in first
    assert not guarded.spark.catalog.tableExists(guarded.table("guarded"))
    guarded.spark.sql(f"delete from {guarded.input}")
    guarded.insert("(1, 5)")
    assert guarded.run("guarded") == ""
    version = latest_version(guarded.spark, guarded.table("guarded"))
    guarded.insert("(2, 6), (3, -1)")
    assert "(amount_positive), but a row violates it" in guarded.run("guarded")
    assert latest_version(guarded.spark, guarded.table("guarded")) == version
    guarded.insert("(3, 7)")
    assert guarded.run("guarded") == ""
    assert guarded.rows("guarded") == [(1, 5), (2, 6), (3, 7)]
    guarded.spark.sql(
        f"alter table {guarded.table('guarded')} set tblproperties ('tidemark.constraints' = '{{}}')"
    )
    guarded.insert("(4, 8)")
    assert "The constraints of" in guarded.run("guarded")


def test_a_source_whose_snapshots_expired_is_read_whole(guarded: Guarded) -> None:
    """R4.2: the one that was read last is gone, and the run says so."""
    guarded.insert("(9, 9)")
    guarded.dbt("run")
    guarded.insert("(1, 5)")
    guarded.insert("(2, 5)")
    guarded.spark.sql(
        f"call lakehouse.system.expire_snapshots('{guarded.input}', timestamp '2100-01-01', retain_last => 1)"
    )
    built = guarded.dbt("run")
    assert "read whole" in built.tables[0].message
    assert "expired" in built.tables[0].message
    assert guarded.rows("totals") == [(5, 2), (9, 1)]


def test_cached_rows_of_changes_are_computed_once(guarded: Guarded) -> None:
    """R4.2: else count and MERGE would each compute a batch, and check rows that the query leaves out."""
    guarded.insert("(1, 5)")
    first = latest_version(guarded.spark, guarded.input)
    guarded.insert("(2, 6)")
    last = latest_version(guarded.spark, guarded.input)
    window = f"with (`start-snapshot-id` = {first}, `end-snapshot-id` = {last})"
    changes = (
        f"with changed as (select * from {guarded.input}.changes {window}) select id, amount from changed"
    )
    create_cached_view(guarded.spark.sql(changes), "cached_changes")
    try:
        plan = str(guarded.spark.sql("explain select * from cached_changes where amount > 0").head())
        assert "InMemoryRelation" in plan
        assert [tuple(row) for row in guarded.spark.table("cached_changes").collect()] == [(2, 6)]
    finally:
        drop_cached_view(guarded.spark, "cached_changes")


def test_a_table_changed_by_another_writer_is_rebuilt(guarded: Guarded) -> None:
    """R4.2: rolled back, or rows deleted; a run cut off after its merge comes to the same rows."""
    guarded.insert("(1, 5)")
    guarded.dbt("run")
    totals = guarded.table("totals")
    first = latest_version(guarded.spark, totals)
    guarded.insert("(2, 5), (3, 6)")
    guarded.dbt("run")
    take_back(guarded.spark, totals, first)
    guarded.insert("(4, 7)")
    guarded.dbt("run")
    assert guarded.rows("totals") == [(5, 2), (6, 1), (7, 1)]
    guarded.spark.sql(f"delete from {totals} where amount = 5")
    guarded.insert("(4, 8)")
    guarded.dbt("run")
    assert guarded.rows("totals") == [(5, 2), (6, 1), (8, 1)]
    guarded.forget_last_run()
    guarded.dbt("run")
    assert guarded.rows("totals") == [(5, 2), (6, 1), (8, 1)]


@pytest.fixture
def on_a_catalog_server(
    spark: SparkSession, tmp_path: Path, table_format: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SparkSession]:
    """A session of its own: a session keeps a catalog that it has opened."""
    with iceberg_rest(tmp_path, f"{tmp_path}/tables") as url:
        monkeypatch.setenv("TIDEMARK_ICEBERG_REST", url)
        session = spark.newSession()
        make_active(session)  # Spark opens a catalog with the settings of the active session
        retarget(session, ROOT)
        monkeypatch.setattr(SparkSession, "_instantiatedSession", session)
        yield session
        make_active(spark)


@pytest.fixture
def lakehouse(
    on_a_catalog_server: SparkSession, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Lakehouse:
    for name in FEEDS:
        (tmp_path / name).mkdir()
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    monkeypatch.setenv("TIDEMARK_RAW", str(tmp_path))
    return Lakehouse(on_a_catalog_server, tmp_path, prefix)


def test_the_whole_project_runs_as_it_does_on_delta(lakehouse: Lakehouse) -> None:
    """R4.2, R4.3, R1.5: all but the last file, the last, nothing new; each table is what a rebuild gives.

    The catalog is a server with Iceberg's REST interface; the other tests have Iceberg's catalog in a file.
    By day, one feed has files.
    """
    is_whole = is_night("project on Iceberg")
    feeds = FEEDS if is_whole else {"inventory_movements": FEEDS["inventory_movements"]}
    chosen = [] if is_whole else ["source:bronze.inventory_movements+"]
    selected = ["--select", *chosen] if chosen else []
    files = {name: sorted((ROOT / "data" / "raw" / name).glob(pattern)) for name, pattern in feeds.items()}
    for name, found in files.items():
        for file in found[:-1]:
            shutil.copy(file, lakehouse.raw / name)
    assert lakehouse.run(*ONLY_TABLES, *selected).failed == []
    for name, found in files.items():
        shutil.copy(found[-1], lakehouse.raw / name)
    lakehouse.land()
    feed = next(iter(feeds))
    plans = {plan.table: plan for plan in explain(lakehouse.spark, [feed])}
    (read,) = plans[f"{lakehouse.prefix}_silver.{feed}"].reads
    last = len(files[feed][-1].read_text().splitlines()) - files[feed][-1].name.endswith(".csv")
    assert (read.message.split()[:2], read.rows) == (["versions", "after"], last)
    assert lakehouse.run(*ONLY_TABLES, *selected).failed == []
    versions = lakehouse.versions()
    built = lakehouse.run(*DATA_ONLY, *selected)
    assert (built.failed, built.skipped) == ([], 0)
    assert built.passed > (50 if is_whole else 5)
    assert lakehouse.versions() == versions, "nothing new commits nothing"
    verdicts = list(verify(lakehouse.spark, chosen))
    assert len(verdicts) > (10 if is_whole else 2)
    assert (lakehouse.raw / "tables").is_dir(), "the server places them there"
    assert [verdict for verdict in verdicts if not verdict.holds] == []


@pytest.mark.parametrize(
    "config", ["{{ config(unique_key='id') }}", ""], ids=["merged by key", "written as differences"]
)
def test_a_contract_checks_no_row_that_a_null_condition_leaves_out(
    guarded: Guarded, tmp_path: Path, config: str
) -> None:
    """A row for which the model's condition is NULL would break the contract."""
    models = guarded.own_copy(tmp_path)
    (models / "totals.sql").unlink()
    query = "select id, amount from {{ source('input', 'rows_in') }} where if(id = 4, true, amount > 0)"
    (models / "guarded.sql").write_text(f"{config}\n{query}\n")
    contract = models / "_guarded.yml"
    contract.write_text(contract.read_text().replace("amount > 0", "amount between 1 and 8"))
    guarded.insert("(1, 5), (2, cast(null as int)), (null, -7)")
    assert guarded.run("guarded") == ""
    assert guarded.rows("guarded") == [(1, 5)]

    guarded.insert("(3, cast(null as int)), (4, 6), (null, -8)")
    assert guarded.run("guarded") == ""
    assert guarded.rows("guarded") == [(1, 5), (4, 6)]

    guarded.insert("(5, 9)")
    assert "amount_positive" in guarded.run("guarded")
    assert guarded.rows("guarded") == [(1, 5), (4, 6)]
