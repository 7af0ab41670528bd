"""The command as a user meets it: its errors are sentences, and its exit code tells."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import ROOT
from tidemark.base.errors import TidemarkError
from tidemark.cli import main as cli
from tidemark.cli import options

Tidemark = Callable[..., "Done"]


@dataclass(frozen=True)
class Done:
    """A command that ran in this process: its exit code and what it printed."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def tidemark(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tidemark:
    """Run `tidemark` as its entry point does; these commands end before Spark starts."""

    def run(*arguments: str, cwd: Path = ROOT, **environment: str) -> Done:
        with monkeypatch.context() as patch:
            patch.chdir(cwd)
            patch.setattr("sys.argv", ["tidemark", *arguments])
            for name, value in environment.items():
                patch.setenv(name, value)
            code = 0
            try:
                cli.main()
            except SystemExit as ended:
                code = int(ended.code or 0)
            except Exception:
                code = 1
                traceback.print_exc()  # as Python does with what nobody catches
        return Done(code, *capsys.readouterr())

    return run


def test_an_unknown_feed_name_is_refused(tidemark: Tidemark, tmp_path: Path) -> None:
    """No stack trace, exit code 1, the declared feeds named."""
    lake = str(tmp_path / "lake")
    done = tidemark("land", "ordres", TIDEMARK_LAKE=lake)
    assert done.returncode == 1
    declared = "device_events, inventory_movements, transactions, user_events"
    assert f"There is no feed named 'ordres' (declared: {declared})." in done.stderr
    assert "Traceback" not in done.stderr
    assert "Traceback" in tidemark("--debug", "land", "ordres", TIDEMARK_LAKE=lake).stderr


def test_variables_in_a_dotenv_file_are_read(tidemark: Tidemark, tmp_path: Path) -> None:
    """R1: as by dbt-core 1.12; the environment takes precedence."""
    (tmp_path / ".env").write_text("TIDEMARK_LAKE=of_the_file\nTIDEMARK_RAW=of_the_file\n")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("TIDEMARK_LAKE", "TIDEMARK_RAW"):
            patch.setenv(name, "")  # restores it afterwards
            os.environ.pop(name)
        tidemark("init", str(tmp_path / "project"), cwd=tmp_path, TIDEMARK_RAW="of_the_environment")
        assert os.environ["TIDEMARK_LAKE"] == "of_the_file"
        assert (tmp_path / "project" / "dbt_project.yml").is_file()


def test_serve_reports_a_used_port(tidemark: Tidemark, tmp_path: Path) -> None:
    """A taken port and a held lake are sentences."""
    lake = tmp_path / "lake"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = tidemark("serve", "--port", port, TIDEMARK_LAKE=str(lake))
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert f"Port {port} is taken: another program listens there." in done.stderr
    other = tmp_path / "other"
    other.mkdir()
    with (other / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = tidemark("serve", TIDEMARK_LAKE=str(other))
    assert (done.returncode, f"The lake {other} is held by another process." in done.stderr) == (1, True)


def test_an_unreachable_server_is_reported(tidemark: Tidemark, tmp_path: Path) -> None:
    """Spark itself would try for minutes."""
    there = {"TIDEMARK_LAKE": str(tmp_path / "lake"), "DBT_TARGET": "connect"}
    done = tidemark("verify", **there, TIDEMARK_CONNECT="sc://127.0.0.1:1")
    assert "No Spark Connect server answers at sc://127.0.0.1:1 (Connection refused)." in done.stderr


@pytest.mark.R3
def test_a_connection_enables_its_feeds_and_stands_in_no_file(tmp_path: Path) -> None:
    """R3.7: the shop's feeds and models are there with its URL, whose password dbt writes nowhere."""
    command = [sys.executable, "-m", "dbt.cli.main", "--log-path", str(tmp_path), "--log-level-file", "debug"]
    command += ["parse", "--target-path", str(tmp_path / "target")]
    variables = os.environ | {"TIDEMARK_CONNECTION_SHOP": "postgresql://reader:s3cr3t@localhost/shop"}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    manifest = json.loads((tmp_path / "target" / "manifest.json").read_text(encoding="utf-8"))
    assert {"source.tidemark.bronze.customers", "source.tidemark.bronze.orders"} <= manifest["sources"].keys()
    assert "model.tidemark.customer_value" in manifest["nodes"]
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"dbt.log", "partial_parse.msgpack"} <= {path.name for path in written}
    assert [path for path in written if b"s3cr3t" in path.read_bytes()] == []


def test_json_for_machines(tidemark: Tidemark, tmp_path: Path) -> None:
    """One object a line, errors too."""
    done = tidemark("--log-format", "json", "land", "ordres", TIDEMARK_LAKE=str(tmp_path / "lake"))
    (line,) = done.stdout.splitlines()
    message = json.loads(line)
    assert (done.returncode, message["event"]) == (1, "error")
    assert message["message"].startswith("There is no feed named 'ordres'")


def test_outside_of_a_project(tidemark: Tidemark, tmp_path: Path) -> None:
    """The error says where to go."""
    done = tidemark("run", cwd=tmp_path)
    assert done.returncode == 1
    assert "Run tidemark inside the project's folder" in done.stderr


def test_a_lake_that_is_held_names_its_holder(tidemark: Tidemark, tmp_path: Path) -> None:
    """Two runs at once on one lake: the second stops at once and does no harm."""
    with (tmp_path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("process 4711 (tidemark run)")
        lock.flush()
        done = tidemark("land", cwd=ROOT / "models", TIDEMARK_LAKE=str(tmp_path))
    assert done.returncode == 1
    assert "is held by process 4711 (tidemark run)" in done.stderr
    assert os.listdir(tmp_path) == [".lock"]


def test_plain_dbt_stops_at_a_held_lake_too(tmp_path: Path) -> None:
    """Two runs at once on one lake: the sentence comes before Spark starts, and says who holds it."""
    with (tmp_path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("process 4711 (tidemark run)")
        lock.flush()
        command = [sys.executable, "-m", "dbt.cli.main", "run"]
        variables = os.environ | {"TIDEMARK_LAKE": str(tmp_path)}
        done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "is held by process 4711 (tidemark run)" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert os.listdir(tmp_path) == [".lock"]


def test_plain_dbt_says_that_it_is_called_elsewhere(tmp_path: Path) -> None:
    """Outside of the project's folder Spark would not find its jars; it does not start."""
    command = [sys.executable, "-m", "dbt.cli.main", "show", "--inline", "select 1 as one"]
    command += ["--project-dir", str(ROOT), "--profiles-dir", str(ROOT)]
    variables = os.environ | {"TIDEMARK_LAKE": str(tmp_path / "lake"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"dbt was called in {tmp_path}, but" in done.stdout
    assert "first, and leave out --project-dir" in done.stdout
    assert "org.apache" not in done.stdout + done.stderr


@pytest.mark.spark
def test_plain_dbt_works_in_a_process_of_its_own(tmp_path: Path) -> None:
    """The profile alone brings Spark, Delta and the lake: no tidemark needed."""
    command = [sys.executable, "-m", "dbt.cli.main", "build", "--select", "event_types"]
    lake = tmp_path / "my lake"
    lake.mkdir()
    variables = os.environ | {"TIDEMARK_LAKE": str(lake), "TIDEMARK_SCHEMA": "default"}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "8 inserted" in done.stdout
    assert (lake / "warehouse" / "silver.db" / "event_types" / "_delta_log").is_dir()


@pytest.mark.parametrize(
    ("java", "says"),
    [
        ("echo 'openjdk version \"11.0.2\" 2019-01-15' >&2", "Java 11 is not supported"),
        ("echo 'java version \"1.8.0_202\"' >&2", "Java 1 is not supported"),
        ("echo 'openjdk version \"21\" 2023-09-19' >&2", ""),
        (None, "there is no Java here"),
    ],
)
def test_a_wrong_java_version_is_reported_in_one_line(tmp_path: Path, java: str | None, says: str) -> None:
    """`make` checks the machine before it installs anything."""
    (tmp_path / "bin").mkdir()
    if java is not None:
        fake = tmp_path / "bin" / "java"
        fake.write_text(f"#!/bin/sh\n{java}\n")
        fake.chmod(0o755)
    script = ["/bin/sh", "scripts/check_machine.sh", sys.executable]
    done = subprocess.run(
        script, env=os.environ | {"JAVA_HOME": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode != 0) == bool(says)
    assert says in done.stderr
    assert done.stderr.count("\n") <= 1


def test_a_wrong_python_version_is_reported_in_one_line() -> None:
    """The fix is in the sentence."""
    script = ["/bin/sh", "scripts/check_machine.sh", "no-such-python"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "there is no 'no-such-python' here. Install Python 3.11 to 3.13" in done.stderr


@pytest.mark.parametrize("command", ["explain", "run", "verify"])
def test_selectors_are_written_as_in_dbt(
    tidemark: Tidemark, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """`--select one two`, `-s one -s two` and plain words are the same."""
    module = sys.modules[f"tidemark.cli.{command}"]
    asked: list[list[str]] = []

    def selectors(models: list[str] | None, select: list[str] | None) -> list[str]:
        asked.append(options.selectors(models, select))
        raise TidemarkError("That is enough.", "Nothing.")

    monkeypatch.setattr(module, "selectors", selectors)
    for name in ("opened_with", "warm_session"):
        monkeypatch.setattr(module, name, lambda *_, **__: SimpleNamespace(root=ROOT), raising=False)
    for words in (["one", "two"], ["--select", "one", "two"], ["-s", "one", "-s", "two"], ["-s", "one two"]):
        tidemark(command, *words)
    assert asked == [["one", "two"]] * 4
    assert "The selector is empty" in tidemark(command, "-s", "").stderr
