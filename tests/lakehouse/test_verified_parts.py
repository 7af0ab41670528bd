"""`tidemark verify --sample` and `--budget`: parts of tables are proved in turns, and recorded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.lakehouse.conftest import Guarded
from tidemark.base.errors import VerificationError
from tidemark.cli.verify import show_each, show_share
from tidemark.engine.project import Project
from tidemark.engine.verify.proofs import Proofs
from tidemark.engine.verify.sampling import verify_share, verify_within
from tidemark.engine.verify.slices import SLICES
from tidemark.engine.verify.verify import models_with_tables

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

    oldest = min(newest, key=newest.__getitem__)
    (verdict,) = verify_within(tampered.spark, ops, models_with_tables(tampered.spark, names), 0.001)
    assert (verdict.table, len(verdict.slices)) == (oldest.table, 1)
    found = [*verify_within(tampered.spark, ops, models_with_tables(tampered.spark, ["plain"]), 600)]
    taken = [len(verdict.slices) for verdict in found]
    assert taken == [1, 2, 4, 8, 16, 32, 37]
    again = {one: at for one, at in proofs.newest().items() if one.table == tampered.table("plain")}
    assert min(again.values()) > max(newest.values()), "all were proved again"

    project = Project(tampered.folder, ops, manifest=tampered.manifest_of_copy())
    os.chdir(tampered.folder)
    with pytest.raises(VerificationError, match="1 table not proven"):
        show_each(tampered.spark, found, project)
    show_share(tampered.spark, project, found)
    printed = " ".join(capsys.readouterr().out.split())
    assert "of 100 slices, 0 rows differ" in printed
    assert f"{tampered.table('plain')}: 100 of 100 slices proved within 7 days" in printed
