"""A simulated month: whatever goes wrong on its days, the tables are those of a rebuild at the end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from tests.conftest import ROOT, content_of
from tests.kills.chain import PATIENCE, QUICK
from tests.month.people import ERASED, Feed, lines_of
from tests.night import is_night

pytestmark = [pytest.mark.R1, pytest.mark.R2, pytest.mark.R4, pytest.mark.R5, pytest.mark.spark]
DAYS, LEFT_OUT = (28, ()) if is_night("month") else (7, ("people_history", "rejected_people"))
SMALL = "160m"  # the lake's disk
TESTED = """
models:
  - name: people
    columns:
      - {name: person_id, data_tests: [unique, not_null]}
      - {name: email, data_tests: [not_null]}
"""


@dataclass
class Lived:
    """What a month has left.

    Attributes:
        lake: the lake's folder.
        raw: the raw folder.
        notes: what the process has told.
        kills: how often it was killed.
    """

    lake: Path
    raw: Path
    notes: dict[str, Any]
    kills: int


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    """A month on a small disk of its own; without days of a full disk where none can be mounted."""
    folder = tmp_path_factory.mktemp("month")
    project, raw, disk, diary = (folder / name for name in ("project", "raw", "disk", "diary.json"))
    raw.mkdir()
    disk.mkdir()
    shutil.copytree(ROOT / "tests/fixtures/erasure", project)
    for name in ("profiles.yml", ".jars"):
        (project / name).symlink_to(ROOT / name)
    settings = project / "dbt_project.yml"
    settings.write_text(settings.read_text().replace("../../..", str(ROOT)))
    for name in LEFT_OUT:
        (project / f"models/silver/{name}.sql").unlink()
    (project / "models/silver/_silver__models.yml").write_text(TESTED, encoding="utf-8")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(disk)]
    unmount = ["umount", "--lazy", str(disk)]
    is_mounted = os.geteuid() == 0 and subprocess.run(mount, check=False).returncode == 0
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TIDEMARK_")}
    environment |= QUICK | {
        "TIDEMARK_LAKE": str(disk / "lake"),
        "TIDEMARK_RAW": str(raw),
        "TIDEMARK_ERASURE_KEY": "a secret of the tests, which keeps hashes apart",
        "PYTHONPATH": str(ROOT),
    }
    try:
        kills = 0
        while (returncode := _live(project, environment, diary)) == -signal.SIGKILL:
            kills += 1
        assert returncode == 0
        yield Lived(disk / "lake", raw, json.loads(diary.read_text()), kills)
    finally:
        if is_mounted:
            subprocess.run(unmount, check=True)


def _live(project: Path, environment: dict[str, str], diary: Path) -> int:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.month.life", str(diary), str(DAYS)],
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=PATIENCE * DAYS / 7)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    if process.returncode not in (0, -signal.SIGKILL):
        pytest.fail("\n".join(output.splitlines()[-40:]), pytrace=False)
    return process.returncode


def test_each_table_is_what_the_files_give(lived: Lived) -> None:
    """R2.1, R2.5: computed without Spark; and `tidemark verify` finds no row that differs from a rebuild."""
    feed = Feed(lived.raw)
    for path in sorted(lived.raw.glob("*.csv"), key=lambda path: path.stat().st_mtime_ns):
        rows = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
        feed.sent[path.name] = [(int(row[0]), row[1], row[2], row[3]) for row in rows if len(row) == 4]
    for table, expected in feed.expected().items():
        assert Counter(tuple(row) for row in lived.notes["tables"][table]) == expected, table
    assert {table: message for table, message in lived.notes["verdicts"].items() if message} == {}
    assert len(lived.notes["verdicts"]) == len(feed.expected()) + 2 - len(LEFT_OUT)


def test_rows_add_up(lived: Lived) -> None:
    """R1.3: each row of a file is in bronze: accepted, broken, or erased."""
    landed, bronze, accepted, erased = lived.notes["balance"]
    came = [line for day in range(1, DAYS + 1) for line in lines_of(day) if line[0] == ERASED["person_id"]]
    assert landed == bronze
    assert erased == len(came)
    assert bronze - accepted - erased == lived.notes["broken"]


def test_injected_failures_were_reported(lived: Lived) -> None:
    """R4.2: a killed run, a full disk, and an audit that failed, each week."""
    weeks = DAYS // 7
    assert lived.kills == weeks
    audits = [message for message in lived.notes["errors"] if "dbt nodes failed" in message]
    full = [message for message in lived.notes["errors"] if "is full" in message]
    assert len(audits) == weeks
    assert len(full) == (weeks if os.geteuid() == 0 else 0)


def test_no_file_is_left_over(lived: Lived) -> None:
    """R5.5: after maintenance, each data file belongs to a version that the log has."""
    for log in lived.lake.glob("warehouse/*/*/_delta_log"):
        known = _files_in(log)
        there = {str(path.relative_to(log.parent)) for path in log.parent.rglob("*.parquet")}
        there = {path for path in there if not path.startswith("_delta_log")}
        assert there - known == set(), log.parent


def _files_in(log: Path) -> set[str]:
    """The data files that a Delta log names."""
    actions = [json.loads(line) for path in log.glob("*.json") for line in path.read_text().splitlines()]
    for path in log.rglob("*.parquet"):
        actions += pyarrow.parquet.read_table(path).to_pylist()
    kinds = ("add", "remove", "cdc")
    return {action[kind]["path"] for action in actions for kind in kinds if action.get(kind)}


def test_no_byte_of_the_erased_person_is_left(lived: Lived) -> None:
    """R5.5: not in a data file, a log, a change feed, or the catalog."""
    texts = [str(ERASED["email"]), str(ERASED["city"]), str(ERASED["person_id"])]
    for path in lived.lake.rglob("*"):
        if path.is_file():
            content = content_of(path)
            assert [text for text in texts if text in content] == [], path
