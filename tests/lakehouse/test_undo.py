"""Undo restores a run's tables and checkpoints to their previous versions, also after a kill."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.lakehouse.conftest import FixtureProject, Guarded
from tests.lakehouse.test_plain_models import PLAIN
from tests.night import is_night, nightly
from tidemark.base.errors import TidemarkError
from tidemark.base.output import output
from tidemark.cli.diff import show_differences
from tidemark.cli.undo import undo_run
from tidemark.engine.project import Project
from tidemark.engine.runs.differences import differences
from tidemark.engine.runs.provenance import git_state
from tidemark.engine.runs.undo import Undo
from tidemark.engine.verify.verify import verify
from tidemark.maintain.maintenance import expire

pytestmark = [pytest.mark.R1, pytest.mark.R4]
Rows = dict[str, list[tuple[Any, ...]]]
MODELS = ("guarded", "totals")


class KilledError(Exception):
    """Stands for the end of the process."""


def _project(fixture: FixtureProject) -> Project:
    return Project(ROOT, f"{fixture.prefix}_ops")


def _undo(fixture: FixtureProject, run: str = "last", *, with_later: bool = False) -> None:
    undo_run(fixture.spark, _project(fixture), run, with_later=with_later)


def _last_run(fixture: FixtureProject) -> str:
    return fixture.state.runs()[-1].id


def _rows(fixture: FixtureProject, *tables: str) -> Rows:
    return {table: fixture.rows(table) for table in tables or MODELS}


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_a_run_is_undone_and_run_again(
    guarded: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R4.4: models by macros, a plain model, a seed; the next run reads the same versions, incrementally."""
    models = guarded.own_copy(tmp_path)
    (models.parent / "profiles.yml").symlink_to(ROOT / "profiles.yml")
    monkeypatch.setenv("DBT_PROFILES_DIR", str(ROOT))
    (models / "plain.sql").write_text(PLAIN)
    tables = (*MODELS, "plain", "names")
    guarded.insert("(1, 5), (2, 5)")
    assert guarded.dbt("build").failed == []
    guarded.insert("(3, 6)")
    assert guarded.dbt("build").failed == []
    before = _rows(guarded, *tables)
    guarded.insert("(1, 7), (4, 7)")
    seed = models.parent / "seeds/names.csv"
    seed.write_text(seed.read_text() + "4,Ann,\n")
    messages = {table.table: table.message for table in guarded.dbt("build").tables}
    after = _rows(guarded, *tables)
    assert all(after[table] != before[table] for table in tables)

    _undo(guarded)
    assert _rows(guarded, *tables) == before
    os.chdir(models.parent)
    assert all(verdict.holds for verdict in verify(guarded.spark, []))
    again = {table.table: table.message for table in guarded.dbt("build").tables}
    assert again == messages
    assert "whole" not in str(messages)
    assert _rows(guarded, *tables) == after
    assert [guarded.last_run(model).state for model in ("guarded", "totals", "plain")] == ["incremental"] * 3
    assert {table.message for table in guarded.dbt("build").tables} == {"no change"}


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_a_killed_undo_is_completed_or_corrected(guarded: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.5: after the first table, and before the record: the same command finishes it, a run corrects it."""
    guarded.insert("(1, 5), (2, 5), (3, 6)")
    guarded.messages(*MODELS)
    before = _rows(guarded)
    guarded.insert("(1, 7), (4, 7)")
    guarded.messages(*MODELS)
    after = _rows(guarded)
    assert after == {"guarded": [(1, 7), (2, 5), (3, 6), (4, 7)], "totals": [(5, 1), (6, 1), (7, 2)]}

    def kill(after_tables: int, run: str) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(Undo, "_set_back", _kills(Undo._set_back, after_tables))
            patched.setattr(Undo, "_record", _kills(Undo._record, 0))
            with pytest.raises(KilledError):
                _undo(guarded, run, with_later=True)

    run = _last_run(guarded)
    for after_tables in (1, 2) if is_night("undo") else (1,):
        kill(after_tables, run)
        assert guarded.rows("totals") == before["totals"]
        assert (guarded.rows("guarded") == before["guarded"]) == (after_tables == 2)
        guarded.messages(*MODELS)
        assert _rows(guarded) == after
    kill(1, run)
    kill(2, run)
    _undo(guarded, run, with_later=True)
    assert _rows(guarded) == before
    wrote = {"guarded": "1 inserted, 1 updated", "totals": "1 inserted, 1 updated"}
    assert guarded.messages(*MODELS) == wrote, "incrementally"
    assert _rows(guarded) == after


def _kills(method: Callable[..., Any], after: int) -> Callable[..., Any]:
    """Return a method that ends the process instead of its call after some calls."""
    calls = iter(range(after))

    def killed(*arguments: Any, **options: Any) -> Any:
        if next(calls, None) is None:
            raise KilledError
        return method(*arguments, **options)

    return killed


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_later_runs_are_named(guarded: Guarded) -> None:
    """R4.4: nothing is set back then; with the later runs, all of them are."""
    guarded.insert("(1, 5), (2, 5)")
    guarded.messages(*MODELS)
    before = _rows(guarded)
    guarded.insert("(1, 6), (3, 6)")
    guarded.messages("guarded")
    second = _last_run(guarded)
    guarded.messages("totals")
    third = _last_run(guarded)
    after = _rows(guarded)
    with pytest.raises(TidemarkError, match=f"(?s){third[:8]}.*--with-later"):
        _undo(guarded, second)
    assert _rows(guarded) == after
    _undo(guarded, second[:13], with_later=True)
    assert _rows(guarded) == before
    with pytest.raises(TidemarkError, match="undone already"):
        _undo(guarded, second)
    with pytest.raises(TidemarkError, match="is an undo itself"):
        _undo(guarded, _last_run(guarded))

    guarded.messages("guarded")
    _undo(guarded)
    assert guarded.messages("totals") == {"totals": "no change"}, (
        "what was restored is no change for its reader"
    )
    assert guarded.state.runs()[-1].command == "undo"
    guarded.messages(*MODELS)
    assert _rows(guarded) == after


@nightly("undo")
@pytest.mark.formats(day="delta", night="delta iceberg")
def test_what_cannot_be_set_back_is_named(guarded: Guarded) -> None:
    """R4.4: a table that was changed by hand, whose versions are gone, or that is gone itself."""
    guarded.insert("(1, 5), (2, 5)")
    guarded.messages(*MODELS)
    before = _rows(guarded)
    guarded.insert("(1, 6), (3, 6)")
    guarded.messages(*MODELS)
    after = _rows(guarded)
    guarded.spark.sql(f"delete from {guarded.table('totals')} where amount = 6")
    with pytest.raises(TidemarkError, match=r"totals was changed after the run by something"):
        _undo(guarded)
    _undo(guarded, with_later=True)
    assert _rows(guarded) == before

    guarded.messages(*MODELS)
    _expire(guarded, "totals")
    with pytest.raises(TidemarkError, match=r"totals cannot be set back"):
        _undo(guarded)
    assert _rows(guarded) == after
    guarded.spark.sql(f"drop table {guarded.table('totals')}")
    with pytest.raises(TidemarkError, match=r"totals does not exist any more"):
        _undo(guarded)
    guarded.messages(*MODELS)
    assert _rows(guarded) == after


def _expire(guarded: Guarded, model: str) -> None:
    table = guarded.table(model)
    if guarded.spark.conf.get("spark.sql.sources.default") == "iceberg":
        now = "timestamp '2999-01-01 00:00:00'"
        guarded.spark.sql(f"call lakehouse.system.expire_snapshots('{table}', {now}, 1)")
    else:
        expire(guarded.spark, table, 0, guarded.readers(table))


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_what_a_first_run_created_is_dropped(cases: FixtureProject) -> None:
    """R1.5: with its tests and its snapshot; what they had seen is forgotten, so no failure is hidden."""
    cases.spark.sql(f"create schema {cases.prefix}_ops")  # a state table of an earlier version
    cases.spark.sql(f"create table {cases.prefix}_ops.runs (invocation_id string, started_at timestamp)")
    source = cases.create_source("readings_in", "id int, name string, unit string")
    cases.spark.sql(f"insert into {source} values (1, 'a', 'kg')")
    build = ("build", "--select", "tested", "tested_snapshot", "--vars")
    secret = json.dumps({"api_key": "hidden", "note": "seen"})
    assert cases.dbt(*build, secret).failed == []
    cases.spark.sql(f"insert into {source} values (2, null, 'kg')")
    failed = [name for name, _ in cases.dbt(*build, "{}").failed]
    assert failed == ["not_null_tested_name"]
    rows = cases.spark.table(f"{cases.prefix}_ops.runs").orderBy("started_at").collect()
    assert json.loads(rows[0]["vars"]) == {"api_key": "***", "note": "seen"}
    assert rows[0]["failed_tests"] == []
    assert [name.split(".")[2] for name in rows[1]["failed_tests"]] == failed
    assert (rows[0]["git_commit"], rows[0]["dbt_version"] is None) == (git_state(ROOT)[0], False)
    assert {"jars.lock", "requirements.lock"} >= set(rows[0]["locks"]) >= {"jars.lock"}

    _undo(cases)
    assert cases.rows("tested") == [(1, "a")]
    assert [name for name, _ in cases.dbt(*build, "{}").failed] == failed
    _undo(cases, rows[0]["invocation_id"], with_later=True)
    assert not cases.spark.catalog.tableExists(cases.table("tested"))
    assert [name for name, _ in cases.dbt(*build, "{}").failed] == failed
    assert cases.rows("tested") == [(1, "a"), (2, None)]


def test_two_runs_are_compared(
    guarded: Guarded, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R4.4: rows added, removed and changed, by the key; without a key, by the whole row."""
    guarded.insert("(1, 5), (2, 5)")
    guarded.messages(*MODELS)
    first = _last_run(guarded)
    guarded.insert("(2, 7), (3, 8)")
    guarded.messages(*MODELS)
    second = _last_run(guarded)
    manifest = guarded.manifest()
    project = Project(ROOT, f"{guarded.prefix}_ops", manifest=manifest)
    show_differences(guarded.spark, project, "guarded", first[:12])
    guarded.spark.sql(f"delete from {guarded.table('guarded')} where id = 1")
    show_differences(guarded.spark, project, "guarded", first, second)
    show_differences(guarded.spark, project, "guarded", second)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert [line for line in lines if line[:1] in "+~-"] == [
        *("~ id=2: amount 5 → 7", "+ id=3: amount=8") * 2,
        "- id=1: amount=5",
    ]
    assert "1 added, 1 changed" in lines[0]
    monkeypatch.setattr(output, "as_json", True)
    show_differences(guarded.spark, project, "guarded", first, second)
    facts = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (facts[0]["added"], facts[0]["removed"], facts[0]["changed"]) == (1, 0, 1)
    assert facts[1]["values"] == {"amount": [5, 7]}
    by_row = differences(guarded.spark, guarded.table("guarded"), [], 0, None)
    assert by_row.counts == {"added": 2, "removed": 2, "changed": 0}
    with pytest.raises(TidemarkError, match="No model builds nothing"):
        show_differences(guarded.spark, project, "nothing", first)
