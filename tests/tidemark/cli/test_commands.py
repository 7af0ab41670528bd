"""Each command once as a process of its own, with its real command line, on one lake."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from typer.main import get_command

from python_ingest.ops.erasures import ERASURE_KEY
from tests.conftest import ROOT
from tests.night import nightly
from tidemark.cli.main import app
from tidemark.lake.private_folder import NAME

pytestmark = [pytest.mark.R4, nightly("commands")]
ELSEWHERE = {
    "demo",
    "tour",
    "simulate",
    "serve",
    "reproduce",
}  # test_demo.py, test_servers.py, test_reproduce.py
VISITS = "visit,email,amount\n1,wilhelmina.quandary@example.org,5\n2,ann@example.org,6\n"


def test_every_command_is_a_process(tmp_path: Path) -> None:
    """R4.4, R4.5: `init` to `erase`; the exit code is 0, and 4 or 5 for the warnings of `status`."""
    ours = {"DBT_TARGET_PATH", "DBT_LOG_PATH", "TIDEMARK_LAKE", "TIDEMARK_SCHEMA", "SPARK_LOCAL_DIRS"}
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    environment |= {"PYTHONPATH": str(ROOT), ERASURE_KEY: "a secret of these tests"}
    used: set[str] = set()

    def tidemark(*arguments: str, codes: tuple[int, ...] = (0,), given: str = "") -> str:
        used.add(arguments[0])
        done = subprocess.run(
            [sys.executable, "-m", "tidemark.cli.main", *arguments],
            cwd=tmp_path, env=environment, input=given, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode in codes, (arguments, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return " ".join(done.stdout.split())

    tidemark("init", ".", "--name", "shop")
    folder = tmp_path / "data/raw/visits {{ env_var('X') }} [a]"
    folder.mkdir()
    (folder / "[b]_1.csv").write_text(VISITS)
    tidemark("add", str(folder), "--key", "visit", "--name", "visits")
    tidemark("doctor", "--skip", "support", codes=(0, 1))
    assert "1 file landed, 2 rows" in tidemark("land", "visits")
    assert "silver.visits 2 inserted" in tidemark("run")
    (folder / "[b]_2.csv").write_text(VISITS.replace(",6", ",7"))
    assert "silver.visits 1 updated" in tidemark("run", "--select", "source:bronze.visits+")
    tidemark("run")  # tests of new models record what they have read
    tidemark("run")  # it changes nothing
    assert "unchanged since" in tidemark("run")
    assert "no change" in tidemark("run", "--force")
    assert "0 rows differ" in tidemark("verify")
    assert "silver.visits" in tidemark("diff", "visits", "--from", "last")
    assert "[b]_1.csv record 2" in tidemark("why", "visits", "visit=2")
    for command in (
        ["explain"],
        ["prove", "daily_orders", "--histories", "1"],
        ["report"],
        ["export-rejected", "rejected.csv"],
        ["replay-rejected"],
        ["maintain", "--plan"],
        ["maintain", "silver.visits"],
        ["rebuild", "visits", "--columns", "amount", "--plan"],
        ["undo", "last"],
    ):
        tidemark(*command)
    tidemark("status", codes=(0, 4, 5))
    key = "email=wilhelmina.quandary@example.org\n"
    assert "0 hits" in tidemark("erase", "--feed", "visits", "--key-file", "-", given=key)

    commands = set(get_command(app).commands)
    assert commands - used - ELSEWHERE == set(), "a command that nothing runs as a process"
    place = Path(tempfile.gettempdir()) / f"{NAME}{os.getuid()}"
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
