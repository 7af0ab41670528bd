"""A lake of the version before: `ops.runs` without kinds of checkpoints is read as it is, and migrated."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.conftest import ROOT
from tests.lakehouse.conftest import Guarded
from tests.lakehouse.test_plain_models import PLAIN
from tests.night import nightly
from tidemark.base.errors import TidemarkError
from tidemark.cli.undo import undo_run
from tidemark.engine.checkpoints.layout import CHECKPOINT, opening_statements
from tidemark.engine.checkpoints.rows import Checkpoint, Contract
from tidemark.engine.checkpoints.state import State
from tidemark.engine.project import Project
from tidemark.engine.verify.verify import verify

pytestmark = [pytest.mark.R1, pytest.mark.R4]
TABLES = ("guarded", "totals", "plain")
# the columns of ops.runs as the version before created them
RUNS = """
    invocation_id string, command string, started_at timestamp, ended_at timestamp, succeeded boolean,
    models_written int, models_unchanged int, models_failed int, models_skipped int, tests_passed int,
    tests_failed int,
    model_runs array<struct<model: string, status: string, state: string, reads: array<string>,
        rows_read: bigint, rows_inserted: bigint, rows_updated: bigint, rows_deleted: bigint,
        rows_unchanged: bigint, rows_superseded: bigint, rows_rejected: bigint, bytes_read: bigint,
        files_read: bigint, bytes_written: bigint, files_written: bigint, table_version: bigint,
        seconds: double, message: string>>,
    checkpoints array<struct<model: string, source: string, source_id: string, version: bigint,
        watermark: string, table_version: bigint, table_id: string, contract: string, sequence: bigint>>,
    git_commit string, git_is_dirty boolean, locks map<string, string>, dbt_version string,
    tidemark_version string, target string, vars string, failed_tests array<string>,
    tables_written array<struct<table: string, table_id: string, version_before: bigint, version: bigint>>,
    undone_runs array<string>,
    failed_audits array<struct<model: string, test: string, failures: bigint, batch: string>>
"""
# a checkpoint as the version before wrote it
EARLIER = """
    named_struct('model', c.model, 'source', c.source, 'source_id', case c.kind when 'joined' then
    concat('joined ', c.source_id) when 'watermark' then concat('watermark ', c.watermark_column)
    else c.source_id end, 'version', c.version, 'watermark', c.watermark, 'table_version', c.table_version,
    'table_id', c.table_id, 'contract', if(c.kind is null, null, concat_ws('.', c.contract, c.grain,
    concat_ws('-', c.code, c.macros, c.variables))), 'sequence', c.sequence)
"""
KNOWN = [  # of one run: source_id, contract; and what they mean now
    ("id", "c.g.s-m-v", "changes", "id", None, Contract("c", "g", "s", "m", "v")),
    ("joined id", "c.g.s-m-v", "joined", "id", None, Contract("c", "g", "s", "m", "v")),
    ("watermark sent at", "c.g.s-m-v", "watermark", None, "sent at", Contract("c", "g", "s", "m", "v")),
    ("id", "c.s-m-v", "changes", "id", None, Contract("c", None, "s", "m", "v")),
    ("id", "c.g", "changes", "id", None, Contract("c", "g")),
    ("id", "c", "changes", "id", None, Contract("c")),
    (None, None, None, None, None, Contract()),
]


def _as_before(guarded: Guarded) -> None:
    """Rewrite `ops.runs` and its views as the version before left them."""
    spark, runs = guarded.spark, f"{guarded.prefix}_ops.runs"
    kept = f"{guarded.prefix}_ops.kept"
    names = ", ".join(
        f"transform(checkpoints, c -> {EARLIER}) as checkpoints" if name == "checkpoints" else name
        for name in spark.table(runs).columns
        if name != "layout"
    )
    table_format = spark.conf.get("spark.sql.sources.default")
    spark.sql(f"create table {kept} using {table_format} as select {names} from {runs}")
    spark.sql(f"drop table {runs}")
    spark.sql(f"create table {runs} ({RUNS}) using {table_format}")
    spark.sql(f"insert into {runs} select * from {kept}")
    spark.sql(f"drop table {kept}")
    view = f"select invocation_id, started_at as recorded_at, inline(checkpoints) from {runs}"
    spark.sql(f"create or replace view {guarded.prefix}_ops.checkpoints as {view}")


def _checkpoints(state: State) -> set[Checkpoint]:
    return set(state.newest())


def test_checkpoints_of_the_version_before_are_read(
    spark: SparkSession, prefix: str, table_format: str
) -> None:
    """R4.4: each kind, each form of a contract, and a checkpoint that was taken back."""
    spark.sql(f"create schema {prefix}_ops")
    spark.sql(f"create table {prefix}_ops.runs ({RUNS})")
    for number, (source_id, contract, *_) in enumerate(KNOWN):
        values = [f"'{value}'" if value else "cast(null as string)" for value in (source_id, contract)]
        spark.sql(
            f"insert into {prefix}_ops.runs (invocation_id, started_at, ended_at, checkpoints) select "
            f"'run{number}', current_timestamp(), current_timestamp(), array(named_struct('model', 's.m', "
            f"'source', 'b.s{number}', 'source_id', {values[0]}, 'version', 7l, 'watermark', null, "
            f"'table_version', 3l, 'table_id', 'own', 'contract', {values[1]}, 'sequence', 1l))"
        )
    found = sorted(State(spark, f"{prefix}_ops").newest(), key=lambda each: each.source)
    expected = [row[2:] for row in KNOWN]
    assert [(one.kind, one.source_id, one.watermark_column, one.contract) for one in found] == expected
    assert {(one.version, one.table_version, one.sequence) for one in found} == {(7, 3, 1)}


@nightly("earlier lakes")
@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_a_lake_of_the_version_before_goes_on(
    guarded: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.5: nothing is built again, history is readable, also after a kill; earlier runs can be undone."""
    models = guarded.own_copy(tmp_path)
    (models.parent / "profiles.yml").symlink_to(ROOT / "profiles.yml")
    monkeypatch.setenv("DBT_PROFILES_DIR", str(ROOT))
    (models / "plain.sql").write_text(PLAIN)
    guarded.insert("(1, 5), (2, 5)")
    assert guarded.dbt("build").failed == []
    before = {table: guarded.rows(table) for table in TABLES}
    guarded.insert("(1, 7), (3, 6)")
    assert guarded.dbt("build").failed == []
    after = {table: guarded.rows(table) for table in TABLES}
    known, runs, read = _checkpoints(guarded.state), guarded.state.runs(), guarded.state.versions_read()
    _as_before(guarded)

    def is_readable() -> None:
        assert _checkpoints(guarded.state) == known
        assert guarded.state.runs() == runs
        assert guarded.state.versions_read() == read
        assert guarded.checkpoint("guarded").sequence == 2

    is_readable()
    os.chdir(models.parent)
    assert all(verdict.holds for verdict in verify(guarded.spark, []))
    table, views = f"{guarded.prefix}_ops.runs", ("model_runs", "checkpoints")
    columns = {each.name: each.dataType.simpleString() for each in guarded.spark.table(table).schema}
    table_format = str(guarded.spark.conf.get("spark.sql.sources.default"))
    statements = list(opening_statements(table, columns, views, table_format))
    for statement in statements[:-1]:  # a process is killed after each of them
        guarded.spark.sql(statement)
        is_readable()

    built = guarded.dbt("build")
    assert (built.failed, {each.message for each in built.tables}) == ([], {"no change"})
    assert {*CHECKPOINT} <= {*guarded.spark.table(f"{guarded.prefix}_ops.checkpoints").columns}
    assert "layout" in guarded.spark.table(table).columns
    is_readable()
    guarded.insert("(4, 8)")
    assert guarded.messages(*TABLES) == {
        "guarded": "1 inserted",
        "totals": "1 inserted",
        "plain": "1 inserted",
    }
    assert {guarded.last_run(model).state for model in TABLES} == {"incremental"}

    project = Project(ROOT, f"{guarded.prefix}_ops")
    undo_run(guarded.spark, project, "last", with_later=False)
    assert {each: guarded.rows(each) for each in TABLES} == after
    undo_run(guarded.spark, project, runs[1].id, with_later=False)
    assert {each: guarded.rows(each) for each in TABLES} == before
    assert guarded.dbt("build").failed == []
    assert guarded.rows("guarded") == [(1, 7), (2, 5), (3, 6), (4, 8)]

    guarded.spark.sql(f"alter table {table} add columns (cost double)")
    with pytest.raises(TidemarkError, match=r"newer version of Tidemark .* cost\."):
        guarded.state.runs()
    with pytest.raises(AssertionError, match="newer version of Tidemark"):  # the command ends with this error
        guarded.invoke("run", "--select", "guarded")
