"""The code of a model is part of its state: when it changes, the table is rebuilt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lakehouse.conftest import Guarded
from tests.night import nightly
from tidemark.base.errors import VerificationError
from tidemark.base.output import output
from tidemark.cli import verdicts
from tidemark.cli.verdicts import show_verdicts
from tidemark.engine.project import Project
from tidemark.engine.verify.verdict import Verdict

pytestmark = [pytest.mark.R1, pytest.mark.R2, pytest.mark.formats(day="iceberg", night="delta iceberg")]
WORDS = "select amount from {{ ref('guarded') }}"
LATEST = "where newest_rank = 1"
SOUND = "{% macro sound(amount) %}{{ amount }} > 0{% endmacro %}"


@pytest.fixture
def edited(guarded: Guarded, tmp_path: Path) -> Path:
    """The project `guarded`, to be edited: its model asks a macro and a variable which rows are sound."""
    models = guarded.own_copy(tmp_path)
    (models.parent / "macros").mkdir()
    (models.parent / "macros" / "sound.sql").write_text(SOUND)
    put(models.parent / "dbt_project.yml", "macro-paths: [", "macro-paths: [macros, ")
    asked = "{{ sound('amount') }} and amount < {{ var('most', 90) }}"
    put(models / "guarded.sql", LATEST, f"{LATEST} and {asked}")
    guarded.insert("(1, 5), (2, 7)")
    assert guarded.messages("guarded", "totals") == {"guarded": "2 inserted", "totals": "2 inserted"}
    return models


def put(path: Path, old: str, new: str) -> None:
    """Put a text in the place of another in a file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_changed_code_rebuilds_the_table(guarded: Guarded, edited: Path) -> None:
    """R1.5, R2.1: changed SQL, macro or variable; comments and blanks are no change."""
    put(edited / "guarded.sql", LATEST, "-- the newest alone\n" + LATEST.replace(" ", "  "))
    put(edited / "totals.sql", "count(*) as copies", "2 * count(*) as copies")
    assert guarded.messages("guarded", "totals") == {
        "guarded": "no change",
        "totals": "2 inserted; read whole: its SQL has changed",
    }
    assert guarded.rows("totals") == [(5, 2), (7, 2)]

    put(edited.parent / "macros" / "sound.sql", "> 0", "> 5")
    guarded.insert("(3, 9)")
    messages = guarded.messages("guarded", "totals")
    assert messages["guarded"] == "2 inserted; read whole: a macro that it uses has changed"
    assert guarded.rows("guarded") == [(2, 7), (3, 9)]
    assert guarded.rows("totals") == [(7, 2), (9, 2)]

    messages = guarded.messages("guarded", "totals", options=("--vars", "{most: 8}"))
    assert messages["guarded"] == "1 deleted; read whole: a variable that it reads has changed"
    assert (guarded.rows("guarded"), guarded.rows("totals")) == ([(2, 7)], [(7, 2)])
    assert guarded.last_run("guarded").state == "code changed"


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_changed_code_writes_only_the_rows_that_differ(guarded: Guarded, edited: Path) -> None:
    """R2.1, R2.2: none if it gives the same rows; what reads the table then has nothing new."""
    guarded.insert("(3, 9), (4, 9), (5, 11)")
    guarded.messages("guarded", "totals")
    put(edited / "totals.sql", "count(*) as copies", "count(1) as copies")
    put(edited / "guarded.sql", LATEST, f"{LATEST} and 1 < 2")
    assert guarded.messages("guarded", "totals") == {
        "guarded": "no change; read whole: its SQL has changed",
        "totals": "no change; read whole: its SQL has changed",
    }
    assert guarded.messages("guarded", "totals") == {"guarded": "no change", "totals": "no change"}
    put(edited / "guarded.sql", "1 < 2", "id < 5")
    assert guarded.messages("guarded", "totals") == {
        "guarded": "1 deleted; read whole: its SQL has changed",
        "totals": "1 deleted",
    }
    assert guarded.last_run("totals").state == "incremental", "it reads the rows that were written"
    assert guarded.rows("totals") == [(5, 1), (7, 1), (9, 2)]
    (edited / "words.sql").write_text(WORDS)
    assert guarded.messages("words") == {"words": "4 inserted"}
    put(edited / "words.sql", "select", "select distinct")
    assert guarded.messages("words") == {"words": "3 inserted; read whole: its SQL has changed"}
    assert guarded.rows("words") == [(5,), (7,), (9,)], "a key of the new query is none of the table"
    put(next(edited.glob("*.yml")), "amount > 0", "amount > 1")
    put(edited / "guarded.sql", "id < 5", "id <= 4")
    replaced = {"guarded": "4 inserted; read whole: its SQL has changed"}
    assert guarded.messages("guarded") == replaced, (
        "rows that do not differ must hold the new constraint, too"
    )


@nightly("states")
def test_a_model_may_stop_or_go_on_instead(guarded: Guarded, edited: Path) -> None:
    """R2.1: `on_code_change: stop` names the fix and does not change the table; `ignore` continues."""
    put(edited / "guarded.sql", "unique_key='id'", "unique_key='id', meta={'on_code_change': 'stop'}")
    assert guarded.run("guarded") == ""
    put(edited / "guarded.sql", LATEST, "where newest_rank < 2")
    stopped = guarded.run("guarded")
    assert "its SQL has changed since the table was built" in stopped
    assert "dbt run --full-refresh --select guarded" in stopped
    assert "A rebuild reads " in stopped
    put(edited / "guarded.sql", "{'on_code_change': 'stop'}", "{'max_rebuild_bytes': 10}")
    assert "more than max_rebuild_bytes" in guarded.run("guarded")
    put(edited / "guarded.sql", "{'max_rebuild_bytes': 10}", "{'on_code_change': 'stop'}")
    put(edited / "guarded.sql", "'stop'", "'ignore'")
    guarded.insert("(3, 9)")
    assert guarded.messages("guarded") == {"guarded": "1 inserted"}
    put(edited / "guarded.sql", "'ignore'", "'perhaps'")
    put(edited / "guarded.sql", "newest_rank < 2", "newest_rank <= 1")
    assert "Set it to rebuild, stop or ignore." in guarded.run("guarded")


def test_broken_sql_is_seen_where_nothing_is_new(guarded: Guarded, edited: Path) -> None:
    """R1.5: neither a misspelt column nor one that is missing is `no change`."""
    put(edited / "guarded.sql", "amount\nfrom", "amuont\nfrom")
    assert "amuont" in guarded.run("guarded")
    put(edited / "guarded.sql", "    id,\n    amuont\n", "    id\n")
    assert "amount" in guarded.run("guarded"), "its contract has that column"
    assert guarded.rows("guarded") == [(1, 5), (2, 7)]


def test_a_test_that_asks_the_clock_runs_each_time(guarded: Guarded, edited: Path) -> None:
    """R1.4: it fails once its table is too old, which is unchanged; `meta.reads` tells otherwise."""
    tests = edited.parent / "tests"
    tests.mkdir()
    put(edited.parent / "dbt_project.yml", "model-paths", "test-paths: [tests]\nmodel-paths")
    limit = tests / "limit.txt"
    limit.write_text("2999-01-01")
    read = f"(select max(value) from text.`{limit}`)"
    query = f"select 1 from {{{{ ref('guarded') }}}} where current_timestamp() > {read}"
    (tests / "recent.sql").write_text(query)
    (tests / "touched.sql").write_text("{{ config(meta={'reads': 'touched'}) }} " + query)
    assert guarded.dbt("test").failed == []
    limit.write_text("2000-01-01")
    assert [name for name, _ in guarded.dbt("test").failed] == ["recent"]


def test_a_proof_compiles_what_a_rebuild_would_run(guarded: Guarded, edited: Path) -> None:
    """R2.2: `is_incremental()` is false for `tidemark verify`: a rebuild does not use its branch."""
    branch = "{% if is_incremental() %}and amount < 80 {% endif %}"
    put(edited / "guarded.sql", LATEST, f"{LATEST} {branch}")
    guarded.messages("guarded", options=("--full-refresh",))
    assert "amount < 80" in compiled(guarded)
    assert "amount < 80" not in compiled(guarded, "--vars", "tidemark_purpose: verify")


def compiled(guarded: Guarded, *options: str) -> str:
    """The query of the model, as a command that only looks compiles it."""
    (result,) = guarded.invoke("compile", "--select", "guarded", *options).results
    return str(result.node.compiled_code)


def test_verify_names_changed_code_first(
    guarded: Guarded, edited: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.5: rows that differ after an edit are not a defect; the message names the change and the fix."""
    put(edited / "guarded.sql", LATEST, "where newest_rank < 2")
    differing = [Verdict(guarded.table(model), rows=2, differing=1) for model in ("guarded", "totals")]
    monkeypatch.setattr(verdicts, "verify", lambda *_: iter(differing))
    lakehouse = Project(guarded.folder, f"{guarded.prefix}_ops", manifest=guarded.invoke("parse"))
    with output.console.capture() as printed, pytest.raises(VerificationError) as raised:
        show_verdicts(guarded.spark, [], lakehouse)
    changed = f"code changed {guarded.table('guarded')}: its SQL has changed since its last run"
    assert changed in printed.get()
    assert f"{guarded.table('totals')}: " not in printed.get()
    assert raised.value.fix.startswith(
        "Rebuild the tables with changed code: `dbt run --full-refresh --select guarded`."
    )
