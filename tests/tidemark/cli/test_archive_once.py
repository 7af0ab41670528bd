"""The class archive is made once, in the background, and never by two processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.night import nightly
from tidemark.cli.archive_once import BACKGROUND, MAKING, RETRY, claim
from tidemark.spark.jars import ARCHIVE


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of jars without an archive, as a user has it."""
    monkeypatch.delenv("TIDEMARK_CLASS_ARCHIVE")
    monkeypatch.delenv("CI", raising=False)
    folder = tmp_path / "jars"
    folder.mkdir()
    return folder


def test_one_process_makes_it(jars: Path) -> None:
    """The second one leaves it to the first; a failed attempt is made again a day later."""
    assert claim(jars)
    assert not claim(jars)
    old = (jars / MAKING).stat().st_mtime - RETRY - 1
    os.utime(jars / MAKING, (old, old))
    assert claim(jars)


def test_it_is_not_made_in_vain(jars: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If it is there, not wanted, of no use, on a machine that is thrown away, or has no place."""
    spaced = jars / "with space"
    spaced.mkdir()
    assert not claim(spaced), "Java 17 ignores it"
    assert not claim(jars / "missing")
    monkeypatch.setenv("CI", "true")
    assert not claim(jars)
    monkeypatch.delenv("CI")
    monkeypatch.setenv("TIDEMARK_CLASS_ARCHIVE", "Off")
    assert not claim(jars)
    monkeypatch.delenv("TIDEMARK_CLASS_ARCHIVE")
    (jars / ARCHIVE).touch()
    assert not claim(jars)
    assert not (jars / MAKING).exists()


def test_a_command_without_spark_starts_nothing(jars: Path) -> None:
    """A command that reads files alone, for example."""
    code = (
        "from pathlib import Path; from tidemark.cli.archive_once import archive_once; "
        f"print(archive_once(Path({str(jars)!r})))"
    )
    command = [sys.executable, "-c", code]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert printed.stdout == "False\n"
    assert not (jars / MAKING).exists()


@nightly("class archive")
@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_java_uses_what_the_background_makes(tmp_path: Path, kind: str) -> None:
    """In a folder that is no project: it needs the jars alone."""
    (tmp_path / ".jars").mkdir()
    for jar in (ROOT / ".jars").glob("*.jar"):
        (tmp_path / ".jars" / jar.name).symlink_to(jar)
    command = [sys.executable, "-m", "tidemark.cli.class_archive", BACKGROUND, kind]
    subprocess.run(command, cwd=tmp_path, check=True)
    archive = tmp_path / ".jars" / ARCHIVE
    assert archive.stat().st_size > 20_000_000
    assert not (tmp_path / ".jars" / "classes.new").exists()
