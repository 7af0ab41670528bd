"""`tidemark plan --rows` says what the next run does: the rows that differ are those that a run changes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer import Exit

from tests.conftest import ROOT
from tests.lakehouse.conftest import Guarded
from tidemark.base.errors import UnprovenError
from tidemark.cli.plan import finished, show_plan
from tidemark.engine.preview.plan import planned
from tidemark.engine.project.to_read import parsed_to_read
from tidemark.engine.runs.differences import Differences, differing

pytestmark = [pytest.mark.R2, pytest.mark.formats(day="iceberg", night="delta iceberg")]
KEPT = "{{ config(unique_key='id', meta={'accumulates': true}) }}\n"
VIEW = "{{ config(materialized='view') }}\n"
SOURCES = "[{name: input, schema: '{{ target.schema }}_bronze', tables: [{name: rows_in}]}]"
KEYED = "{{ config(unique_key='id') }}\n"
ROWS = "select id, amount from {{ source('input', 'rows_in') }}"
# by model: its SQL, and its SQL after the change; None for a model that is new
CHANGES: dict[str, tuple[str | None, str]] = {
    "narrowed": (KEYED + ROWS, f"{KEYED}{ROWS} where amount < 10"),
    "computed": (KEYED + ROWS, KEYED + ROWS.replace("amount", "amount + id div 3 as amount")),
    "rewritten": (KEYED + ROWS, f"{KEYED}with found as ({ROWS}) select * from found"),
    "widened": (KEYED + ROWS, KEYED + ROWS.replace("amount", "amount, 2 * amount as twice")),
    "shortened": (KEYED + ROWS, KEYED + ROWS.replace(", amount", "")),
    "by_macro": (f"{KEYED}{ROWS} where {{{{ sound() }}}}",) * 2,
    "by_variable": (f"{KEYED}{ROWS} where amount < {{{{ var('most', 90) }}}}",) * 2,
    "named": (KEYED + f"select t.*, name from ({ROWS}) as t join {{{{ ref('names') }}}} using (id)",) * 2,
    "seen": (VIEW + ROWS, f"{VIEW}{ROWS} where id > 1"),
    "of_view": ("{{ config(materialized='table') }} select * from {{ ref('seen') }} as seen",) * 2,
    "bag": (ROWS.replace("id, ", ""), f"{ROWS.replace('id, ', '')} union all select 7"),
    "reader": (
        "{{ config(unique_key='amount') }}"
        "select narrowed.amount, count(*) as number from {{ ref('narrowed') }} group by narrowed.amount",
    )
    * 2,
    "second_reader": (KEYED + "select reader.amount as id, number from {{ ref('reader') }}",) * 2,
    "unread": (KEYED + "select * from {{ ref('rewritten') }}",) * 2,
    "kept": (KEPT + ROWS, f"{KEPT}{ROWS.replace('amount', '9 as amount')} where id = 1"),
    "fresh": (None, KEYED + "select * from {{ ref('computed') }} as one where id < 3"),
    "same": (KEYED + ROWS, KEYED + ROWS),
}  # fmt: skip


@pytest.fixture
def edited(guarded: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Guarded]:
    """A project that has run, and was then changed in many ways."""
    monkeypatch.setenv("DBT_PROFILES_DIR", str(ROOT))
    models = guarded.own_copy(tmp_path)
    project = models.parent / "dbt_project.yml"
    project.write_text(project.read_text().replace("macro-paths: [", "macro-paths: [macros, "))
    for folder in ("macros", "seeds"):
        (models.parent / folder).mkdir(exist_ok=True)
    for path in (*models.glob("*.sql"), *models.parent.glob("seeds/*")):
        path.unlink()
    for path in models.glob("*.yml"):
        path.unlink()
    (models / "_sources.yml").write_text(f"sources: {SOURCES}\n")
    sound, names = models.parent / "macros" / "sound.sql", models.parent / "seeds" / "names.csv"
    sound.write_text("{% macro sound() %}amount > 5{% endmacro %}")
    names.write_text("id,name\n1,one\n2,two\n3,it's\n")
    for name, (before, _) in CHANGES.items():
        if before is not None:
            (models / f"{name}.sql").write_text(before)
    guarded.insert("(1, 5), (2, 7), (3, 9), (4, 11), (5, 11)")
    assert guarded.dbt("build").failed == []
    sound.write_text("{% macro sound() %}amount > 7{% endmacro %}")
    names.write_text("id,name\n1,one\n2,zwei\n4,four\n")
    for name, (_, after) in CHANGES.items():
        (models / f"{name}.sql").write_text(after)
    os.chdir(guarded.folder)
    yield guarded
    os.chdir(ROOT)


def counts(found: Differences) -> dict[str, int]:
    return {kind: number for kind, number in found.counts.items() if number}


def what_cannot_be_planned_is_named(edited: Guarded, capsys: pytest.CaptureFixture[str]) -> None:
    """Repeated keys, a column that is not there, a macro that is not there; the others are planned."""
    models, variables = edited.folder / "models", {"most": 10}
    (models / "computed.sql").write_text(
        f"{KEYED}select 1 as id, amount from {{{{ source('input', 'rows_in') }}}}"
    )
    (models / "bag.sql").write_text("select amont from {{ source('input', 'rows_in') }}")
    (models / "kept.sql").write_text("select {{ nothing() }} as id")
    manifest = parsed_to_read(variables)[0]
    changes = planned(edited.spark, manifest, ["computed", "bag", "kept"], variables, with_rows=True)
    found = show_plan(changes, with_rows=True)
    printed = " ".join(capsys.readouterr().out.split())
    assert "the run stops here not known: 5 rows have one id, so the run stops" in printed
    assert "bag: its SQL has changed not known: A column" in printed
    assert "Did you mean one of the following? [`amount`" in printed
    assert "'nothing' is undefined" in printed
    assert {one.table for one in found if one.unknown} == {
        edited.table(n) for n in ("computed", "bag", "kept")
    }
    with pytest.raises(UnprovenError, match="The rows of 3 tables are not known"):
        finished(found, with_rows=True, tells=True)
    with pytest.raises(Exit) as ended:
        finished(found, with_rows=False, tells=True)
    assert ended.value.exit_code == 2
    finished([], with_rows=True, tells=True)


def test_the_planned_rows_are_those_that_a_run_changes(
    edited: Guarded, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    """R2.2: for many kinds of changes at once, through views and readers; nothing is written."""
    tables = {name: edited.table(name) for name in CHANGES if name not in ("fresh", "seen")}
    kept = {name: spark.table(table).localCheckpoint() for name, table in tables.items()}
    manifest = edited.manifest_of_copy()
    os.chdir(edited.folder)
    versions = edited.state.rows().count()
    variables = {"most": 10}
    found = {one.table: one for one in planned(spark, manifest, [], variables, with_rows=True)}
    assert edited.state.rows().count() == versions, "a plan leaves no record"
    unknown = {one.table: one.unknown for one in found.values() if one.unknown}
    assert unknown == {}

    os.chdir(ROOT)
    built = edited.dbt("build", "--vars", "{most: 10}")
    assert built.failed == []
    for name, before in kept.items():
        after = spark.table(tables[name])
        key = () if name in ("bag", "of_view") else ("amount",) if name == "reader" else ("id",)
        real = differing(before, after, key)
        plan = found.pop(tables[name], None)
        if plan is None:
            assert counts(real) == {}, name
            continue
        assert plan.rows is not None, name
        assert counts(plan.rows) == counts(real), (name, plan)
        assert plan.rows.columns_added == real.columns_added, name
        assert plan.rows.columns_removed == real.columns_removed, name
        assert plan.rows.shown == real.shown, name
    fresh, names = found.pop(edited.table("fresh")), found.pop(edited.table("names"))
    assert (fresh.kind, fresh.number) == ("new", spark.table(edited.table("fresh")).count())
    assert counts(names.rows) == {"added": 2, "removed": 2}
    assert found == {}
    manifest = edited.manifest_of_copy()
    os.chdir(edited.folder)
    assert list(planned(spark, manifest, [], variables, with_rows=True)) == []
    what_cannot_be_planned_is_named(edited, capsys)
