"""Jars: exact, hashed, fetched once."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tidemark.base.errors import TidemarkError
from tidemark.spark import jars


def test_the_lock_names_the_delta_that_is_installed() -> None:
    """The jar and the Python package of Delta are of one version."""
    from importlib.metadata import version

    delta = next(jar for jar in jars.read_lock(jars.LOCK) if jar.artifact.startswith("delta-spark"))
    assert delta.version == version("delta-spark")


def test_a_line_that_is_no_coordinate_is_named(tmp_path: Path) -> None:
    """The error gives the line's number."""
    lock = tmp_path / "jars.lock"
    lock.write_text("# jars\nabc io.delta:delta-spark\n")
    with pytest.raises(TidemarkError, match="line 2"):
        jars.read_lock(lock)


def test_a_sound_jar_is_not_fetched_again(tmp_path: Path) -> None:
    """The second time works offline; the jar of another version goes, or both would be on the class path."""
    content = b"jar"
    jar = jars.Jar(hashlib.sha256(content).hexdigest(), "g", "a", "1")
    (tmp_path / jar.file_name).write_bytes(content)
    (tmp_path / "a-0.jar").write_bytes(content)
    assert jars.fetch([jar], tmp_path) == []
    assert [path.name for path in tmp_path.iterdir()] == ["a-1.jar"]


def test_a_jar_with_another_hash_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error gives the hash that was found."""

    def retrieve(wanted: list[jars.Jar], scratch: Path) -> None:
        (scratch / "jars").mkdir()
        (scratch / "jars" / wanted[0].file_name).write_bytes(b"other")

    monkeypatch.setattr(jars, "_ivy", retrieve)
    with pytest.raises(TidemarkError, match=hashlib.sha256(b"other").hexdigest()):
        jars.fetch([jars.Jar("0" * 64, "g", "a", "1")], tmp_path)
    assert not list(tmp_path.iterdir())
