"""The wheel of this repository, built as a release is, and commands in an environment that has it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tidemark.spark.jars import cache_folder

BUILT_FROM = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "THIRD_PARTY_NOTICES.md",
    "python_ingest",
    "tidemark",
    "dbt",
)
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
OF_THIS_PROCESS = {"DBT_TARGET_PATH", "DBT_LOG_PATH", "PYTHONPATH", "TIDEMARK_LAKE", "TIDEMARK_SCHEMA"}


def build_wheel(folder: Path) -> Path:
    """Build the wheel in a folder, from a copy of what it is made of, and return its path."""
    source = folder / "source"
    source.mkdir()
    for name in BUILT_FROM:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([*PIP, "wheel", *options, str(source)], check=True)
    shutil.rmtree(source)
    (wheel,) = folder.glob("dbt_tidemark-*.whl")
    return wheel


def keep_jars(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `tidemark init` find the jars of this repository in the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    cache_folder().parent.mkdir(parents=True)
    cache_folder().symlink_to(ROOT / ".jars")


def output_of(
    command: list[str], project: Path, settings: Mapping[str, str] | None = None, *, code: int = 0
) -> str:
    """Run a command in a project, without this repository, and return what it prints, in single spaces.

    Args:
        command: the command with its arguments.
        project: the folder in which it runs.
        settings: environment variables beside those of this process.
        code: the exit code that is expected.
    """
    environment = {name: value for name, value in os.environ.items() if name not in OF_THIS_PROCESS}
    environment |= settings or {}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return " ".join((done.stdout + done.stderr).split())
