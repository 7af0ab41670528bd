"""The lake as of a run is what the run saw and left, and a run's tables are what its code gives on it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from dbt.cli.main import dbtRunner

from tests.conftest import ROOT
from tests.lakehouse.conftest import Guarded
from tidemark.base.errors import TidemarkError, VerificationError
from tidemark.cli.reproduce import reproduce_run
from tidemark.engine.project import Project
from tidemark.engine.runs.checkout import code_at
from tidemark.maintain.maintenance import expire

pytestmark = [pytest.mark.R1, pytest.mark.R4]
SEEN = """{{ config(materialized='view') }}
select amount, count(*) as copies from {{ ref('guarded') }} group by amount
"""
LATE = """{{ config(
    unique_key='id', pre_hook="insert into {{ source('input', 'rows_in') }} values (9, 9, 9)"
) }}
select id from {{ ref('guarded') }}
"""  # lands during the run, after its reader
PLAIN = """{{ config(unique_key='amount') }}
select amount, sum(copies) as copies from {{ ref('seen') }} group by amount
"""
DOUBLED = ("sum(copies)", "sum(copies) * 2")
TESTS = """
models:
  - name: seen
    columns:
      - name: amount
        data_tests: [{accepted_values: {arguments: {values: [5], quote: false}}}]
  - name: totals
    data_tests: [{unique_key: {arguments: {columns: [amount]}}}]
    columns:
      - name: copies
        data_tests: [{same_total: {arguments: {of: ref('guarded'), value: "1"}}}]
"""
ALL = """
select 'rows_in' as name, count(*) as number, sum(amount) as amount from {{ source('input', 'rows_in') }}
union all select 'guarded', count(*), sum(amount) from {{ ref('guarded') }}
union all select 'totals', sum(copies), sum(copies * amount) from {{ ref('totals') }}
union all select 'seen', sum(copies), sum(copies * amount) from {{ ref('seen') }}
union all select 'names', count(*), null from {{ ref('names') }}
"""


@pytest.fixture
def models(guarded: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The models of a copy of the project `guarded`, with a view."""
    folder = guarded.own_copy(tmp_path)
    (folder.parent / "profiles.yml").symlink_to(ROOT / "profiles.yml")
    monkeypatch.setenv("DBT_PROFILES_DIR", str(ROOT))
    (folder / "seen.sql").write_text(SEEN)
    (folder / "_seen.yml").write_text(TESTS)
    return folder


def _runs(guarded: Guarded) -> list[str]:
    return [run.id for run in guarded.state.runs()]


def _as_of(guarded: Guarded, run: str, *command: str) -> Any:
    """Run a dbt command as of a run; return the first table that it shows, or the message of its failure."""
    options = ["--project-dir", str(guarded.folder), "--vars", f"{{as_of: '{run}'}}"]
    outcome = dbtRunner().invoke(["--log-level", "none", "--no-write-json", *command, *options])
    if outcome.exception is not None:
        return str(outcome.exception)
    return [tuple(row.values()) for row in outcome.result.results[0].agate_table.rows]


def _totals(guarded: Guarded, run: str) -> dict[str, tuple[Any, ...]]:
    shown = _as_of(guarded, run, "show", "--limit", "-1", "--inline", ALL)
    assert not isinstance(shown, str), shown
    return {name: tuple(int(value) for value in values if value is not None) for name, *values in shown}


def _expire(guarded: Guarded, model: str) -> None:
    if guarded.spark.conf.get("spark.sql.sources.default") == "iceberg":
        now = "timestamp '2999-01-01 00:00:00'"
        guarded.spark.sql(f"call lakehouse.system.expire_snapshots('{guarded.table(model)}', {now}, 1)")
    else:
        expire(guarded.spark, guarded.table(model), 0, guarded.readers(guarded.table(model)))


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_the_lake_is_read_as_of_a_run(guarded: Guarded, models: Path) -> None:
    """R4.4: sources, models, a view and a seed; tests see it whole; nothing is written or recorded."""
    guarded.insert("(1, 5), (2, 5)")
    guarded.dbt("build", "--exclude-resource-type", "test")
    guarded.insert("(2, 7), (3, 8)")
    (models / "late.sql").write_text(LATE)
    guarded.dbt("run")
    first, second = _runs(guarded)
    guarded.insert("(4, 9)")
    guarded.spark.sql(f"delete from {guarded.table('totals')}")
    names = len(guarded.rows("names"))

    assert _totals(guarded, first[:8]) == {
        **dict.fromkeys(("rows_in", "guarded", "totals", "seen"), (2, 10)),
        "names": (names,),
    }
    assert _totals(guarded, "last") == {
        "rows_in": (4, 25),
        **dict.fromkeys(("guarded", "totals", "seen"), (3, 20)),
        "names": (names,),
    }
    tests = guarded.dbt("test", "--project-dir", str(guarded.folder), "--vars", f"{{as_of: '{second}'}}")
    assert (len(tests.failed), tests.passed) == (1, 2)

    late = _as_of(guarded, first, "show", "--inline", "select * from {{ ref('late') }}")
    assert "late did not exist at the end of the run" in late
    for command in ("run", "build", "seed", "snapshot", "run-operation x"):
        message = _as_of(guarded, first, *command.split())
        assert f"`dbt {command.split()[0]}` does not run with the variable as_of" in message
    missing = _as_of(guarded, "lust", "show", "--inline", ALL)
    assert "No recorded run begins with lust" in missing
    assert "Did you mean 'last'?" in missing
    _expire(guarded, "totals")
    expired = _as_of(guarded, first, "show", "--inline", ALL)
    assert f"totals cannot be read as of the run {first[:8]}" in expired
    assert _runs(guarded) == [first, second]
    assert guarded.rows("totals") == []


def _commit(folder: Path) -> None:
    name = ("-c", "user.name=a", "-c", "user.email=a@b")
    for command in (("init", "-q"), ("add", "-A"), (*name, "commit", "-qm", "change")):
        subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True)  # noqa: S607


def _build(guarded: Guarded, *options: str) -> None:
    assert guarded.dbt("build", "--exclude-resource-type", "test", *options).failed == []


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_a_run_is_reproduced_from_its_commit(
    guarded: Guarded, models: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """R4.4: models by macros, plain ones over a view; rows that the run's code does not give are found."""
    root = models.parent
    monkeypatch.chdir(root)
    project = Project(root, f"{guarded.prefix}_ops")
    (root / ".gitignore").write_text("target/\nlogs/\n")
    (models / "plain.sql").write_text(PLAIN)
    totals = (models / "totals.sql").read_text()
    kept = totals.replace("config(", "config(meta={'on_code_change': 'ignore'}, ")
    (models / "kept.sql").write_text(kept)
    _commit(root)
    guarded.insert("(1, 5), (2, 5), (5, 6)")
    _build(guarded)
    (models / "plain.sql").write_text(PLAIN.replace(*DOUBLED))
    (models / "kept.sql").write_text(kept.replace("count(*) as", "2 * count(*) as"))
    (models / "seen.sql").write_text(SEEN.replace("count(*)", "count(*) * 3"))
    (root / "requirements.lock").write_text("")
    _commit(root)
    guarded.insert("(2, 7), (3, 8)")
    _build(guarded)
    (models / "totals.sql").write_text(totals + "-- not committed")
    guarded.insert("(4, 9)")
    _build(guarded, "--exclude", "kept", "--vars", "{api_key: hidden}")
    first, second, third = _runs(guarded)
    guarded.spark.sql(f"delete from {guarded.table('guarded')}")

    def messages_of(run: str, **options: Any) -> dict[str, str]:
        try:
            reproduce_run(guarded.spark, project, run, **options)
        finally:
            lines[:] = capsys.readouterr().out.splitlines()
        rows = [line.split(maxsplit=1) for line in lines if guarded.prefix in line]
        return {name.partition(".")[2]: text.rsplit(maxsplit=2)[0].strip() for name, text in rows}

    lines: list[str] = []
    proven = dict.fromkeys(("guarded", "totals", "plain", "kept"), "0 rows differ")
    found = messages_of(first[:8])
    assert found.pop("names") == "not reproduced: a seed is the content of its file"
    assert {name: text.partition(", ")[2] for name, text in found.items()} == proven
    assert any("changed since then" in line and "requirements.lock" in line for line in lines)
    with pytest.raises(VerificationError, match=r"1 table of the run .* not reproduced: \w+\.kept"):
        messages_of(second)
    assert "    only in the table: amount=6, copies=1" in lines
    with pytest.raises(TidemarkError, match="differ from its commit"):
        messages_of(third)
    with pytest.raises(TidemarkError, match="did not record the value of api_key"):
        messages_of(third, allow_dirty=True)
    found = messages_of(third, allow_dirty=True, variables={"api_key": "hidden"})
    assert set(found.values()) == {"5 rows, 0 rows differ"}
    assert guarded.rows("guarded") == []
    with pytest.raises(TidemarkError, match="does not have the run's commit 0000"), code_at(root, "0" * 40):
        pass
