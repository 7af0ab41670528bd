"""Which dbt commands hold which lake; none of them starts Spark here."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest
from dbt.cli.main import dbtRunner

from python_ingest.errors import TidemarkError
from python_ingest.lake import lock
from tests.conftest import ROOT

pytestmark = pytest.mark.R4


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder beside the project, as the current one; the lake is relative."""
    for name in ("DBT_TARGET_PATH", "DBT_LOG_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TIDEMARK_LAKE", "lake")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path / "elsewhere"


def project_of(folder: Path, name: str) -> Path:
    """Make a dbt project without models, which a run has nothing to do for."""
    folder.mkdir()
    (folder / "dbt_project.yml").write_text(f"name: {name}\nprofile: tidemark\n", encoding="utf-8")
    return folder


def dbt(command: str, project: Path, profiles: Path = ROOT) -> str:
    """Run a dbt command on a project; return its error."""
    options = ["--project-dir", str(project), "--profiles-dir", str(profiles)]
    return str(dbtRunner().invoke(["--quiet", command, *options]).exception or "")


@pytest.mark.parametrize("command", ["ls", "list", "parse"])
def test_commands_without_spark_hold_nothing(elsewhere: Path, command: str) -> None:
    """They may be asked for while a run goes on, and make no folder."""
    project = project_of(elsewhere.parent / "project", "tidemark")
    assert dbt(command, project) == ""
    assert not (project / "lake").exists()
    assert list(elsewhere.iterdir()) == []


def test_the_lake_is_that_of_the_project(elsewhere: Path) -> None:
    """Two runs on one lake see each other, from wherever they were started."""
    project = project_of(elsewhere.parent / "project", "tidemark")
    (project / "lake").mkdir()
    with (project / "lake" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("process 4711 (tidemark run)")
        lock.flush()
        assert "is held by process 4711 (tidemark run)" in dbt("run", project)
    assert list(elsewhere.iterdir()) == []


def test_another_adapter_is_left_alone(elsewhere: Path) -> None:
    """Projects on dbt-spark may share a Python with Tidemark."""
    project = project_of(elsewhere.parent / "project", "others")
    target = "{type: spark, method: session, host: localhost, schema: default}"
    profile = f"tidemark: {{target: local, outputs: {{local: {target}}}}}"
    (project / "profiles.yml").write_text(profile, encoding="utf-8")
    assert dbt("run", project, project) == ""
    assert not (project / "lake").exists()


def test_a_full_disk_is_said_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R4.2: the catalog's database would wait for ever."""
    monkeypatch.setattr(lock, "LEAST_FREE", 2**62)
    with pytest.raises(TidemarkError, match=r"The disk of the lake .* MiB left, and a command needs"):
        lock.hold(tmp_path / "lake")
