"""Jars that are missing, cut off, changed, or too many."""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from pathlib import Path

import pytest

from tests.tidemark.operate.doctor.conftest import TODAY, messages_of
from tidemark.operate.doctor import jars, java
from tidemark.operate.doctor.finding import Level
from tidemark.operate.doctor.subject import Subject


@pytest.fixture
def with_jars(here: Subject, monkeypatch: pytest.MonkeyPatch) -> Subject:
    """The project with three small jars, and a lock file that names them."""
    (here.root or Path()).joinpath(".jars").mkdir()
    lines = []
    for name in ("a", "b", "c"):
        with zipfile.ZipFile(f".jars/{name}-1.jar", "w") as jar:
            jar.writestr(f"{name}.class", name * 1000)
        digest = hashlib.sha256(Path(f".jars/{name}-1.jar").read_bytes()).hexdigest()
        lines.append(f"{digest}  group:{name}:1")
    Path("jars.lock").write_text("\n".join(lines))
    monkeypatch.setattr(jars, "LOCK", Path("jars.lock"))
    version = java.properties(shutil.which("java") or "")["java.vm.version"]
    Path(".jars/classes.jsa").write_text(f"Server VM ({version})")
    return here


def test_sound_jars(with_jars: Subject) -> None:
    """Nothing to report."""
    assert jars.check_jars(Subject(TODAY, is_deep=True, root=with_jars.root)).findings == ()


def test_jars_that_are_missing_cut_off_changed_or_too_many(with_jars: Subject) -> None:
    """Which ones; a changed one is found by its hash alone."""
    cut, changed = Path(".jars/a-1.jar"), Path(".jars/b-1.jar")
    cut.write_bytes(cut.read_bytes()[:-30])
    changed.write_bytes(changed.read_bytes().replace(b"b" * 9, b"x" * 9))
    Path(".jars/c-1.jar").rename(".jars/c-2.jar")
    text = "\n".join(f"{one.level.word}: {one.message}" for one in jars.check_jars(with_jars).findings)
    assert f"error: Missing in {Path('.jars').absolute()}: c-1.jar." in text
    assert "error: Not a readable jar" in text
    assert "a-1.jar" in text
    assert "warning: Jars in" in text
    assert "c-2.jar" in text
    assert "hash" not in text
    deep = jars.check_jars(Subject(TODAY, is_deep=True, root=with_jars.root)).findings
    assert any(
        one.message.startswith("Another hash than in jars.lock") and "b-1.jar" in one.message for one in deep
    )


def test_a_missing_class_archive_is_a_note(with_jars: Subject) -> None:
    """One that is missing, older than a jar, or of another Java."""
    archive = Path(".jars/classes.jsa")
    os.utime(archive, (0, 0))
    assert "is older than a-1.jar, b-1.jar, c-1.jar" in messages_of(jars.check_jars(with_jars), Level.NOTE)
    archive.write_bytes(b"another Java")
    assert "is of another Java" in messages_of(jars.check_jars(with_jars), Level.NOTE)
    archive.unlink()
    assert "classes.jsa is missing" in messages_of(jars.check_jars(with_jars), Level.NOTE)


def test_a_class_archive_that_java_17_ignores(
    with_jars: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder whose name has a space: Java 17 writes the path in another way and finds no match."""
    root = tmp_path / "two words"
    shutil.copytree(with_jars.root or Path(), root)
    for version, is_ignored in (("17.0.15+6-Debian", True), ("21.0.5+11", False)):
        monkeypatch.setattr(jars, "properties", lambda _, version=version: {"java.vm.version": version})
        (root / ".jars/classes.jsa").write_text(f"Server VM ({version})")
        found = [one.message for one in jars.check_jars(Subject(TODAY, root=root)).findings]
        expected = f"Java 17 ignores .jars/classes.jsa in {root / '.jars'}, whose name it writes otherwise."
        assert found == ([expected] if is_ignored else [])


def test_a_link_to_deleted_jars(here: Subject) -> None:
    """The cache of a user was cleaned up."""
    Path(".jars").symlink_to("/nowhere/jars")
    assert "links to /nowhere/jars, which does not exist" in messages_of(jars.check_jars(here), Level.ERROR)
