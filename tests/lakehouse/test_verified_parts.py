"""`tidemark verify --sample` and `--budget`: parts of tables are proved in turns, and recorded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.lakehouse.conftest import Guarded
from tidemark.base.errors import VerificationError
from tidemark.cli.repair import repaired
from tidemark.cli.verdicts import show_each
from tidemark.cli.verify import show_share
from tidemark.engine.project import Project
from tidemark.engine.verify.proofs import Proofs
from tidemark.engine.verify.recorded import verify_changed
from tidemark.engine.verify.sampling import verify_share, verify_within
from tidemark.engine.verify.slices import SLICES
from tidemark.engine.verify.verify import models_with_tables
from tidemark.engine.verify.verify import verify as verify_models

pytestmark = [pytest.mark.R2, pytest.mark.formats(day="iceberg", night="delta iceberg")]
ROWS = 300
# the key of a model that is proved may be of any type, and its type may differ from that of the query
PLAIN = """{{ config(unique_key=['id', 'word']) }}
select id, if(id = 1, null, concat('w', id)) as word, amount from {{ source('input', 'rows_in') }}
"""


@pytest.fixture
def tampered(guarded: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Guarded]:
    """Three tables, of which one has a wrong row."""
    monkeypatch.setenv("DBT_PROFILES_DIR", str(ROOT))
    models = guarded.own_copy(tmp_path)
    (models / "plain.sql").write_text(PLAIN)
    (models / "listed.sql").write_text("{{ config(materialized='table') }} select * from {{ ref('plain') }}")
    guarded.insert(", ".join(f"({number}, {number % 90 + 1})" for number in range(ROWS)))
    guarded.messages("guarded", "totals", "plain")
    guarded.spark.sql(f"update {guarded.table('plain')} set amount = 99 where id = 17")
    os.chdir(guarded.folder)
    yield guarded
    os.chdir(ROOT)


def test_each_slice_is_proved_once_in_turns(tampered: Guarded, capsys: pytest.CaptureFixture[str]) -> None:
    """R2.2: a wrong row is found in one of the rounds; a budget goes to the oldest proofs."""
    ops, names = f"{tampered.prefix}_ops", ["guarded", "totals", "plain"]
    proofs = Proofs(tampered.spark, ops)
    compared, differing = dict.fromkeys(map(tampered.table, names), 0), dict[str, list[int]]()
    for _ in range(2):
        for verdict in verify_share(tampered.spark, ops, models_with_tables(tampered.spark, names), 50):
            assert verdict.unproven is None
            compared[verdict.table] += verdict.rows
            differing.setdefault(verdict.table.rpartition(".")[2], []).append(verdict.differing)
    assert compared == {
        tampered.table(name): tampered.spark.table(tampered.table(name)).count() for name in names
    }
    assert sorted(differing.pop("plain")) == [0, 2], "the row of the table and that of the rebuild"
    assert differing == {"guarded": [0] * 2, "totals": [0] * 2}
    newest = proofs.newest()
    assert len(newest) == 3 * SLICES

    oldest = min(newest, key=lambda one: newest[one].at)
    (verdict,) = verify_within(tampered.spark, ops, models_with_tables(tampered.spark, names), 0)
    assert (verdict.table, len(verdict.facts["slices"])) == (oldest.table, 1)
    found = [*verify_within(tampered.spark, ops, models_with_tables(tampered.spark, ["plain"]), 600)]
    taken = [len(verdict.facts["slices"]) for verdict in found]
    assert taken == [1, 2, 4, 8, 16, 32, 37]
    again = [one.at for key, one in proofs.newest().items() if key.table == tampered.table("plain")]
    assert min(again) > max(one.at for one in newest.values()), "all were proved again"
    assert {*proofs.bases()} == {tampered.table("guarded"), tampered.table("totals")}, "plain differs"

    project = Project(tampered.folder, ops, manifest=tampered.manifest_of_copy())
    os.chdir(tampered.folder)
    with pytest.raises(VerificationError, match="1 table not proven"):
        show_each(tampered.spark, found, project)
    show_share(tampered.spark, project, found)
    printed = " ".join(capsys.readouterr().out.split())
    assert "of 100 slices, 0 rows differ" in printed
    assert f"{tampered.table('plain')}: 84 of 100 slices proved within 7 days" in printed


def test_changed_keys_are_proved_and_wrong_rows_repaired(
    tampered: Guarded, capsys: pytest.CaptureFixture[str]
) -> None:
    """R2.2: the keys that changes touched, whether or not their rows differ; a repair writes what does."""
    ops, names, spark = f"{tampered.prefix}_ops", ["guarded", "totals", "plain"], tampered.spark

    def changed(*of: str) -> dict[str, str]:
        os.chdir(tampered.folder)
        found = verify_changed(spark, ops, models_with_tables(spark, of or names))
        return {one.table.rpartition(".")[2]: one.message for one in found}

    never = "(all rows, as they were never all proved)"
    assert changed() == {
        "guarded": f"{ROWS} rows, 0 rows differ {never}",
        "totals": f"90 rows, 0 rows differ {never}",
        "plain": f"{ROWS} rows, 2 rows differ {never}",
    }
    os.chdir(tampered.folder)
    project = Project(tampered.folder, ops, manifest=tampered.manifest_of_copy())
    os.chdir(tampered.folder)

    def repair(name: str) -> bool:
        differing = [*verify_models(spark, [name])]
        return all(one.holds for one in repaired(spark, project, differing, {}))

    assert repair("plain")
    printed = " ".join(capsys.readouterr().out.split())
    plain = tampered.table("plain")
    assert f"{plain}: its rows before the repair are `select * from {plain} version as of" in printed
    assert f"{plain} {ROWS} rows, 0 rows differ" in printed
    assert changed() == dict.fromkeys(names, "0 rows of 0 touched keys, 0 rows differ")

    unknown = "not all versions of what it reads are recorded, or its query cannot be followed"
    tampered.messages("listed")
    assert changed("listed") == {"listed": f"{ROWS} rows, 0 rows differ (all rows, as {unknown})"}
    names.remove("plain")  # its key would be repeated
    tampered.insert("(1, 30), (7, 8), (1000, 5)")  # the amount of 7 was 8 before
    tampered.messages(*names)
    assert changed() == {
        "guarded": "3 rows of 3 touched keys, 0 rows differ",
        "totals": "3 rows of 3 touched keys, 0 rows differ",
    }
    spark.sql(f"update {tampered.table('guarded')} set amount = 50 where id = 17")
    assert changed()["guarded"] == "1 row of 1 touched key, 2 rows differ"
    spark.sql(f"insert into {tampered.table('guarded')} values (5, 6), (5, 60)")  # three rows of one key
    assert repair("guarded")
    assert all(", 0 rows differ" in message for message in changed().values())
    assert {one.holds for one in verify_models(spark, names)} == {True}


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_what_is_not_known_to_be_the_same_is_compared_as_a_whole(tampered: Guarded) -> None:
    """R2.2: an edited view below a model, and a table that was dropped and made again."""
    ops, models = f"{tampered.prefix}_ops", tampered.folder / "models"
    view = "{{{{ config(materialized='view') }}}} select id, amount from {{{{ ref('plain') }}}} where id < {}"
    (models / "seen.sql").write_text(view.format(ROWS))
    (models / "over.sql").write_text(
        "{{ config(unique_key='amount') }} "
        "select amount, count(*) as copies from {{ ref('seen') }} group by amount"
    )

    def changed() -> str:
        os.chdir(tampered.folder)
        (verdict,) = verify_changed(tampered.spark, ops, models_with_tables(tampered.spark, ["over"]))
        return verdict.message

    tampered.messages("seen", "over")
    assert changed().endswith("0 rows differ (all rows, as they were never all proved)")
    assert changed() == "0 rows of 0 touched keys, 0 rows differ"
    (models / "seen.sql").write_text(view.format(1))
    tampered.messages("seen")
    replaced = "(all rows, as its query or a table was replaced since the last proof)"
    assert changed().endswith(replaced)
    assert " 0 rows differ" not in changed()
    (models / "seen.sql").write_text(view.format(ROWS))
    tampered.messages("seen", "over")
    tampered.spark.sql(f"drop table {tampered.table('over')}")
    tampered.messages("over")
    assert "(all rows, as " in changed()
