"""Which dbt commands hold which lake; none of them starts Spark here."""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from pathlib import Path

import pytest
from dbt.cli.main import dbtRunner

from tests.conftest import ROOT
from tidemark.base.errors import TidemarkError
from tidemark.base.process import command_name
from tidemark.lake import lock
from tidemark.lake.private_folder import NAME, private_folder

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


def test_a_full_disk_is_reported_before_the_command_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R4.2: the catalog's database would wait for ever."""
    monkeypatch.setattr(lock, "LEAST_FREE", 2**62)
    with pytest.raises(TidemarkError, match=r"The disk of the lake .* MiB free; a command needs"):
        lock.hold(tmp_path / "lake")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["/venv/bin/dbt", "--vars", "api_key: s3cr3t", "run", "--select", "s3cr3t"], "dbt run"),
        (["/venv/dbt/cli/main.py", "--log-path", "s3cr3t", "test"], "dbt test"),
        (["/venv/bin/dbt", "s3cr3t"], "dbt"),
        (["/venv/bin/tidemark", "erase"], "tidemark erase"),
        (["/venv/bin/dagster", "run", "s3cr3t"], "dagster"),
    ],
)
def test_a_lock_names_the_command_without_values(
    words: list[str], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other users see who holds the lake, and nothing of what its options say."""
    monkeypatch.setattr("sys.argv", words)
    monkeypatch.delenv("TIDEMARK_METASTORE", raising=False)
    assert command_name() == name
    (tmp_path / ".lock").write_text("process 1 (an older lock that all could read)")
    (tmp_path / ".lock").chmod(0o644)
    lock.hold(tmp_path)
    held = tmp_path / ".lock"
    assert (held.read_text(), stat.S_IMODE(held.stat().st_mode)) == (f"process {os.getpid()} ({name})", 0o600)
    assert lock.holder(tmp_path) == f"process {os.getpid()} ({name})"


def test_blocks_of_spark_are_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder for this user alone; if another one has taken the name, one of this process."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    place = tmp_path / f"{NAME}{os.getuid()}"
    place.mkdir(0o755)
    private_folder.cache_clear()
    assert private_folder() == place
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    place.rmdir()
    place.symlink_to(tmp_path)
    private_folder.cache_clear()
    assert private_folder() not in (place, tmp_path)
    assert stat.S_IMODE(private_folder().stat().st_mode) == 0o700
    private_folder.cache_clear()
