"""A new column gets its values in present rows: checkpoints stay, and nothing else may differ."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, latest_version
from tests.lakehouse.conftest import Guarded
from tests.lakehouse.test_code_changes import put
from tests.lakehouse.test_plain_models import PLAIN
from tidemark.engine.project.build import Built
from tidemark.engine.verify.verify import verify

pytestmark = [pytest.mark.R1, pytest.mark.R3, pytest.mark.formats(day="iceberg", night="delta iceberg")]
DOUBLED = """      - name: doubled
        data_type: int
        description: Twice the amount.
        constraints: [{type: not_null}]
"""


@pytest.fixture
def edited(guarded: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The models of a copy of `guarded` with a plain one; after its first run, `doubled` is added."""
    models = guarded.own_copy(tmp_path)
    (models.parent / "profiles.yml").symlink_to(ROOT / "profiles.yml")
    monkeypatch.setenv("DBT_PROFILES_DIR", str(ROOT))
    (models / "plain.sql").write_text(PLAIN)
    guarded.insert("(1, 5), (2, 7), (3, 5)")
    guarded.messages("guarded", "totals", "plain")
    put(
        models / "guarded.sql",
        "    id,\n    amount\nfrom",
        "    id,\n    amount,\n    amount * 2 as doubled\nfrom",
    )
    yml = models / "_guarded.yml"
    yml.write_text(f"{yml.read_text().rstrip()}\n{DOUBLED}")
    return models


def rebuilt(guarded: Guarded, model: str = "guarded", columns: str = "doubled", **variables: Any) -> Built:
    """Run what `tidemark rebuild --columns` runs."""
    given = {"rebuild_columns": columns.split(","), **variables}
    return guarded.dbt("run", "--select", model, "--vars", json.dumps(given))


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_a_new_column_is_filled_and_the_marks_stay(guarded: Guarded, edited: Path) -> None:
    """R3.4: in steps by a condition, too; what is not read yet is read by the next run, incrementally."""
    guarded.insert("(4, 9)")
    mark = guarded.checkpoint("guarded")
    version = latest_version(guarded.spark, guarded.table("guarded"))
    runs = guarded.spark.table(f"{guarded.prefix}_ops.runs").count()
    (planned,) = rebuilt(guarded, rebuild_plan=True).tables
    assert planned.message == "would update 3 of 3 rows"
    assert latest_version(guarded.spark, guarded.table("guarded")) == version
    assert guarded.spark.table(f"{guarded.prefix}_ops.runs").count() == runs

    (part,) = rebuilt(guarded, rebuild_where="amount = 5").tables
    assert part.message == "2 updated"
    assert guarded.rows("guarded") == [(1, 5, 10), (2, 7, None), (3, 5, 10)]
    now = guarded.checkpoint("guarded")
    assert (now.version, now.contract) == (mark.version, mark.contract), "other rows still lack it"
    (rest,) = rebuilt(guarded).tables
    assert rest.message == "1 updated"
    assert guarded.rows("guarded") == [(1, 5, 10), (2, 7, 14), (3, 5, 10)]
    now = guarded.checkpoint("guarded")
    assert (now.version, now.contract == mark.contract) == (mark.version, False)
    (again,) = rebuilt(guarded).tables
    assert again.message == "no change"

    messages = guarded.messages("guarded", "totals", "plain")
    assert messages == {"guarded": "1 inserted", "totals": "1 inserted", "plain": "1 inserted"}
    states = [guarded.last_run(model).state for model in ("guarded", "totals", "plain")]
    assert states == ["incremental"] * 3
    os.chdir(edited.parent)
    assert all(verdict.holds for verdict in verify(guarded.spark, []))


def test_a_change_of_more_than_the_columns_is_refused(guarded: Guarded, edited: Path) -> None:
    """R1.5: nothing is written, and the message names the way on; a plain model may get a column, too."""
    put(edited / "guarded.sql", "where newest_rank = 1", "where newest_rank = 1 and amount > 5")
    before = guarded.rows("guarded")
    ((_, message),) = rebuilt(guarded).failed
    assert "2 rows differ in more than doubled" in message
    assert "dbt run --full-refresh --select guarded" in message
    for columns, reason in (
        ("id", "is in unique_key"),
        ("amount", "`doubled` is not in the table yet"),
        ("x", "is not one of"),
    ):
        ((_, message),) = rebuilt(guarded, columns=columns).failed
        assert reason in message
    assert guarded.rows("guarded") == before

    put(edited / "plain.sql", "count(*) as copies", "count(*) as copies,\n    max(id) as newest_id")
    (done,) = rebuilt(guarded, "plain", "newest_id").tables
    assert done.message == "2 updated"
    assert guarded.rows("plain") == [(5, 2, 3), (7, 1, 2)]
    assert guarded.messages("plain") == {"plain": "no change"}
