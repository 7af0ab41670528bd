"""Models in plain dbt SQL: kept up to date from changes, or marked as not proven; tables changed by hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import ROOT, latest_version
from tests.lakehouse.conftest import Guarded
from tidemark.base.errors import UnprovenError
from tidemark.cli.verdicts import show_verdicts
from tidemark.engine.explain import explain
from tidemark.engine.verify.verify import verify

pytestmark = [pytest.mark.R1, pytest.mark.R2, pytest.mark.formats(day="iceberg", night="delta iceberg")]
PLAIN = """{{ config(unique_key='amount') }}
select
    amount,
    count(*) as copies
from {{ ref('guarded') }}
group by amount
"""
STOCK = """{{ config(unique_key='amount') }}
select
    amount,
    count(*) as copies
from {{ ref('guarded') }}
{% if is_incremental() %}
where amount >= (select max(amount) from {{ this }})
{% endif %}
group by amount
"""
LOOSE = """
sources:
  - name: loose
    schema: "{{ target.schema }}_bronze"
    tables: [{name: loose_in}]
"""


@pytest.fixture
def models(guarded: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The models of a copy of the project `guarded`, in which commands of `tidemark` work."""
    folder = guarded.own_copy(tmp_path)
    (folder.parent / "profiles.yml").symlink_to(ROOT / "profiles.yml")
    monkeypatch.setenv("DBT_PROFILES_DIR", str(ROOT))
    return folder


@pytest.mark.core
@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_a_plain_model_is_what_a_rebuild_gives(guarded: Guarded, models: Path) -> None:
    """R2.1, R2.2: late and moved rows count, emptied groups go, and `verify` proves it."""
    (models / "plain.sql").write_text(PLAIN)
    guarded.insert("(1, 5), (2, 5), (3, 7)")
    assert guarded.messages("guarded", "plain")["plain"] == "2 inserted"
    version = latest_version(guarded.spark, guarded.table("plain"))
    assert guarded.messages("guarded", "plain")["plain"] == "no change"
    guarded.insert("(3, 5), (4, 1)")
    assert guarded.messages("guarded", "plain")["plain"] == "1 inserted, 1 updated, 1 deleted"
    assert guarded.rows("plain") == [(1, 1), (5, 3)]
    assert latest_version(guarded.spark, guarded.table("plain")) != version
    run = guarded.last_run("plain")
    assert (run.state, run.rows_read, run.rows_updated, run.rows_deleted) == ("incremental", 2, 1, 1)
    guarded.insert("(1, 5)")
    messages = guarded.messages("guarded", "plain")
    assert messages == {"guarded": "1 updated", "plain": "no change"} or messages["plain"] == "no change"
    os.chdir(models.parent)
    proofs = {verdict.table: (verdict.rows, verdict.holds) for verdict in verify(guarded.spark, ["plain"])}
    assert proofs == {guarded.table("plain"): (2, True)}
    (idle,) = explain(guarded.spark, ["plain"])
    assert idle.idle
    guarded.insert("(9, 9)")
    guarded.messages("guarded")
    os.chdir(models.parent)
    (plan,) = explain(guarded.spark, ["plain"])
    (read,) = plan.reads
    assert "(folded)" in read.message
    assert (plan.idle, read.rows) == (False, 1)
    (behind,) = verify(guarded.spark, ["plain"])
    assert (behind.rows, behind.holds) == (2, True)  # at the versions that it has read


NAMED = """{{ config(unique_key='id') }}
select guarded.id, names.name
from {{ ref('guarded') }} as guarded
left join {{ ref('names') }} as names on guarded.id = names.id
"""
RANKED = """{{ config(unique_key='id', meta=META) }}
select
    guarded.id,
    names.name,
    row_number() over (ORDER guarded.amount, guarded.id) as place
from {{ ref('guarded') }} as guarded
left join {{ ref('names') }} as names on guarded.id = names.id
"""


def test_a_run_says_why_it_computes_in_full(guarded: Guarded, models: Path) -> None:
    """R2.3: `explain` and the record of the run name the construct."""
    (models / "ranked.sql").write_text(RANKED.replace("ORDER", "order by").replace(", meta=META", ""))
    guarded.insert("(1, 5), (2, 7)")
    assert guarded.dbt("seed").failed == []
    assert guarded.messages("guarded", "ranked")["ranked"] == "2 inserted"
    guarded.insert("(3, 1)")
    guarded.messages("guarded")
    os.chdir(models.parent)
    (plan,) = explain(guarded.spark, ["ranked"])
    assert any("(full: a window without partition by (line 5))" in read.message for read in plan.reads)
    reason = "a window without partition by (line 5)"
    assert guarded.messages("ranked")["ranked"] == f"1 inserted, 2 updated; in full: {reason}"
    run = guarded.last_run("ranked")
    assert run.state == "full"
    assert any(f"full: {reason}" in read for read in run.reads)


def test_an_edited_seed_updates_the_rows_that_join_it(guarded: Guarded, models: Path) -> None:
    """R2.2: the next run gives what a rebuild gives."""
    (models / "named.sql").write_text(NAMED)
    guarded.insert("(1, 5), (2, 7)")
    assert guarded.dbt("seed").failed == []
    guarded.messages("guarded", "named")
    names = models.parent / "seeds" / "names.csv"
    header, first, *_ = names.read_text().splitlines()
    names.write_text("\n".join((header, first.replace(first.split(",")[1], "renamed"))) + "\n")
    assert guarded.dbt("seed").failed == []
    guarded.messages("guarded", "named")
    assert "renamed" in {row[1] for row in guarded.rows("named")}
    os.chdir(models.parent)
    (verdict,) = verify(guarded.spark, ["named"])
    assert (verdict.rows, verdict.holds) == (2, True)


def test_a_model_may_limit_what_a_changed_row_costs(guarded: Guarded, models: Path) -> None:
    """R2.3: `max_bytes_per_changed_row` is compared with what Spark read, before anything is written."""
    sql = RANKED.replace("ORDER", "partition by guarded.amount order by")
    limit = "{'max_bytes_per_changed_row': 1, 'on_cost': 'stop'}"
    (models / "ranked.sql").write_text(sql.replace("META", limit))
    guarded.insert("(1, 5), (2, 7)")
    assert guarded.dbt("seed").failed == []
    guarded.messages("guarded", "ranked")
    guarded.insert("(3, 7)")
    guarded.messages("guarded")
    version = latest_version(guarded.spark, guarded.table("ranked"))
    assert "(max_bytes_per_changed_row)" in guarded.run("ranked")
    assert latest_version(guarded.spark, guarded.table("ranked")) == version
    (models / "ranked.sql").write_text(sql.replace("META", limit.replace("stop", "warn")))
    why = "a window by `amount`, which is not in the select: add it (line 5)"
    assert guarded.messages("ranked")["ranked"] == f"1 inserted; in full: {why}"


BROKEN = {
    "doubled": "select\n    id,\n    (select other.amount from {{ ref('guarded') }} as other) as part",
    "misspelled": "select\n    id,\n    amuont",
    "stopped": "select id {{ stop('Ask the owner.') }}",
}


def test_the_message_of_a_failed_model_has_no_internals(guarded: Guarded, models: Path) -> None:
    """R1.4: no Java, no plan, no trace of the engine's macros; a trace of the user's own macro stays."""
    stop = "{% if execute %}{{ exceptions.raise_compiler_error(why) }}{% endif %}"
    macro = f"{{% macro stop(why) %}}{stop}{{% endmacro %}}"
    (models.parent / "macros").mkdir()
    (models.parent / "macros" / "stop.sql").write_text(macro)
    project = models.parent / "dbt_project.yml"
    project.write_text(project.read_text().replace("macro-paths: [", "macro-paths: [macros, "))
    for name, sql in BROKEN.items():
        text = f"{{{{ config(unique_key='id') }}}}\n{sql}\nfrom {{{{ ref('guarded') }}}}"
        (models / f"{name}.sql").write_text(text)
    guarded.insert("(1, 5), (2, 7)")
    results = guarded.invoke("run", "--select", "guarded", *BROKEN).results
    messages = {one.node.name: one.message for one in results if one.node.name in BROKEN}
    assert "[SCALAR_SUBQUERY_TOO_MANY_ROWS]" in messages["doubled"]
    assert "(at `amuont`)" in messages["misspelled"]
    assert "> in macro stop (macros/stop.sql)" in messages["stopped"]
    for message in (messages["doubled"], messages["misspelled"]):
        for word in ("org.apache", "An error occurred", "SQLSTATE", "> in macro", "+- ", "#"):
            assert word not in message, message


@pytest.mark.formats(day="delta", night="delta")
def test_a_plain_model_reads_a_table_without_versions(guarded: Guarded, models: Path) -> None:
    """R2.2: it is read in full each time, and proved against the table as it is."""
    (models / "loose.yml").write_text(LOOSE)
    (models / "plain.sql").write_text(PLAIN.replace("ref('guarded')", "source('loose', 'loose_in')"))
    guarded.spark.sql(f"create table {guarded.prefix}_bronze.loose_in using parquet as select 5 as amount")
    for _ in range(2):
        guarded.messages("plain")
        os.chdir(models.parent)
        (verdict,) = verify(guarded.spark, ["plain"])
        assert (verdict.rows, verdict.holds) == (1, True)
        (plan,) = explain(guarded.spark, ["plain"])
        (read,) = plan.reads
        assert read.message == f"all of it ({guarded.prefix}_bronze.loose_in has no versions)"
        assert (plan.idle, read.rows) == (False, 0)


def test_microbatch_is_refused(guarded: Guarded, models: Path) -> None:
    """R2.1: dbt would run the model once for each day, and each day would replace the others."""
    settings = "incremental_strategy='microbatch', unique_key='id', event_time='day', batch_size='day'"
    (models / "batches.sql").write_text(
        f"{{{{ config({settings}, begin='2025-01-01', lookback=0) }}}}\n"
        "select id, timestamp '2025-01-01' as day from {{ ref('guarded') }}"
    )
    guarded.messages("guarded")
    span = ("--event-time-start", "2025-01-01", "--event-time-end", "2025-01-02")
    assert [name for name, _ in guarded.dbt("run", "--select", "batches", *span).failed] == ["batches"]
    assert not guarded.spark.catalog.tableExists(guarded.table("batches"))


def test_a_plain_model_loses_rows_that_its_source_lost(guarded: Guarded, models: Path) -> None:
    """R2.1: `--empty` deletes nothing, and changed SQL rebuilds it."""
    (models / "plain.sql").write_text(PLAIN)
    guarded.insert("(1, 5)")
    guarded.messages("guarded", "plain")
    assert guarded.messages("plain", options=("--empty",)) == {"plain": "no change"}
    assert guarded.rows("plain") == [(5, 1)]
    (models / "plain.sql").write_text(PLAIN.replace("count(*)", "2 * count(*)"))
    assert guarded.messages("plain") == {"plain": "1 inserted; read whole: its SQL has changed"}
    assert guarded.rows("plain") == [(5, 2)]


def test_a_model_that_asks_is_incremental_is_not_proven(
    guarded: Guarded, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """R2.2: it runs as its SQL says; the run, `explain` and `verify` say that nothing proves it."""
    (models / "stock.sql").write_text(STOCK)
    guarded.insert("(1, 5)")
    words = "1 inserted; not proven: its SQL calls is_incremental()"
    assert guarded.messages("guarded", "stock")["stock"] == words
    guarded.insert("(2, 3), (3, 7)")
    assert guarded.messages("guarded", "stock")["stock"] == words
    assert guarded.rows("stock") == [(5, 1), (7, 1)], "the late group is missed, as its SQL says"
    os.chdir(models.parent)
    with pytest.raises(UnprovenError, match=r"1 table cannot be compared: .*stock") as raised:
        show_verdicts(guarded.spark, ["stock"])
    assert raised.value.exit_code == 3
    assert "its SQL calls is_incremental()" in capsys.readouterr().out
    (plan,) = explain(guarded.spark, ["stock"])
    assert plan.unproven
    assert not plan.idle


BY_HAND = (
    "update {} set amount = 99 where id = 1",
    "delete from {} where id = 2",
    "merge into {} as t using (select 1 as id) as s on t.id = s.id when matched then update set amount = 98",
)


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_a_manual_change_is_reported_and_the_table_rebuilt(guarded: Guarded) -> None:
    """R1.5: with no news of the source, too; what read the table follows. No row is deleted unasked."""
    guarded.insert("(1, 5), (2, 7)")
    guarded.messages("guarded", "totals")
    for statement in BY_HAND:
        guarded.spark.sql(statement.format(guarded.table("guarded")))
        messages = guarded.messages("guarded", "totals")
        assert "after its last run" in messages["guarded"]
        assert guarded.rows("guarded") == [(1, 5), (2, 7)]
        assert guarded.rows("totals") == [(5, 1), (7, 1)]
    assert guarded.messages("guarded", "totals") == {"guarded": "no change", "totals": "no change"}
    guarded.spark.sql(f"insert into {guarded.table('guarded')} values (77, 77)")
    assert "1 row of the table would be deleted" in guarded.run("guarded")
    assert (77, 77) in guarded.rows("guarded")
    guarded.messages("guarded", "totals", options=("--full-refresh",))
    assert guarded.rows("guarded") == [(1, 5), (2, 7)]
