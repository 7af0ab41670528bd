"""`tidemark prove`: models are tried without a lake."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.night import nightly

pytestmark = [pytest.mark.R2, nightly("prove")]
PROVED = re.compile(r"^  gold\.(\w+) +([\d,]+) histories, 0 rows differ \((.+)\)", re.MULTILINE)


PROJECT = ROOT / "tests/fixtures/proved"
LINE = re.compile(r"^  gold\.(\w+) +(.*?) +[\d.]+ s$", re.MULTILINE)
# the expected message of each model of the fixture
EXPECTED = {
    "value_of_a_row": r"\d+ histories, 0 rows differ \(changed rows; touched sale_id\)",
    "value_of_distinct_rows": "not tried: its query has a subquery with the alias of a source outside of it",
    "correlated_value": r"\d+ histories, 0 rows differ",
    "exists_in_a_case": r"\d+ histories, 0 rows differ",
    "nested_ctes": r"\d+ histories, 0 rows differ",
    "listed_values": "not tried: |\\d+ histories, 0 rows differ",
    "lateral_rows": "not tried: |\\d+ histories, 0 rows differ",
    "scored": r"60 histories, 0 rows differ",
    "repeated_keys": r"\d+ histories, 0 rows differ \(touched day\); \d+ more had two rows of one key",
    "tied_places": "the query has several right answers: its order has ties",
    "tied_labels": "the query has several right answers: it depends on the order of its rows",
    "allowed_ties": r"\d+ histories, 0 rows differ \(touched day\); \d+ more had ties in an order",
    "open_order": r"line 1: lag\(\) depends on the order of rows .* Add `sale_id`",
    "strange": r"\d+ histories, 0 rows differ|not tried: ",
}


def test_a_failed_model_does_not_stop_the_others(tmp_path: Path) -> None:
    """R2.4: a line for each; ties are reported, and keys from tests of sources are used."""
    project = tmp_path / "project"
    shutil.copytree(PROJECT, project)
    shutil.copy(ROOT / "profiles.yml", project)
    for shared in (".jars",):
        (project / shared).symlink_to(ROOT / shared)
    done = subprocess.run(
        [sys.executable, "-m", "tidemark.cli.main", "prove", "--histories", "20"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TIDEMARK_LAKE": str(tmp_path / "lake")},
        capture_output=True,
        text=True,
        check=False,
    )
    messages: dict[str, str] = {}
    for name, line in LINE.findall(done.stdout):
        messages.setdefault(name, line)
    assert messages.keys() == EXPECTED.keys(), done.stdout + done.stderr
    for name, line in messages.items():
        assert re.match(EXPECTED[name], line), (name, line)
    assert done.returncode == 1
    assert (
        "3 models not proven: gold.open_order, gold.tied_labels, gold.tied_places."
        in done.stderr + done.stdout
    )


def test_the_projects_gold_models_are_proved(tmp_path: Path) -> None:
    """R2.2: every gold model is a plain query that random histories cannot tell from its rebuild."""
    lake = tmp_path / "lake"
    done = subprocess.run(
        [sys.executable, "-m", "tidemark.cli.main", "prove", "--histories", "20"],
        cwd=ROOT,
        env={**os.environ, "TIDEMARK_LAKE": str(lake), "TIDEMARK_CONNECTION_SHOP": "none"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    proved = {name: (int(number.replace(",", "")), how) for name, number, how in PROVED.findall(done.stdout)}
    models = {path.stem for path in (ROOT / "models/gold").rglob("*.sql")}
    assert proved.keys() == models
    assert all(number >= 15 and "full" not in how for number, how in proved.values()), proved
    assert "not tried: it reads by changes()" in done.stdout
    assert not lake.exists(), "it has a lake of its own"
