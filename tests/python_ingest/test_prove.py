"""`tidemark prove`: models are tried without a lake."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, nightly

pytestmark = [pytest.mark.R2, nightly]
PROVED = re.compile(r"^  gold\.(\w+) +([\d,]+) histories, 0 rows differ \((.+)\)", re.MULTILINE)


def test_the_projects_gold_models_are_proved(tmp_path: Path) -> None:
    """R2.2: every gold model is a plain query that random histories cannot tell from its rebuild."""
    lake = tmp_path / "lake"
    done = subprocess.run(
        [sys.executable, "-m", "python_ingest.cli", "prove", "--histories", "20"],
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
