"""The site of docs/, and the commands that the pages name."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.conftest import ROOT
from tidemark.cli.main import app

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(?:bash|sh)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:tidemark|make) [^`\n]+)`")
PROGRAM = re.compile(r"^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?((?:tidemark|make)(?: .*)?)$")


def written(text: str) -> Iterator[str]:
    """Yield the commands of `tidemark` and `make` that a page shows."""
    for block in BLOCK.findall(text):
        for line in block.splitlines():
            if found := PROGRAM.match(line.strip()):
                yield found[1]
    yield from INLINE.findall(text)


def wrong(command: str, targets: set[str]) -> str:
    """Return what a command names that there is not; empty for a command that can be typed."""
    try:
        words = shlex.split(command.replace("…", " "), comments=True)
    except ValueError:
        return ""  # not a whole command
    if words[0] == "make":
        names = [word for word in words[1:] if "=" not in word and not word.startswith("-")]
        return next((name for name in names[:1] if name not in targets), "")
    return _wrong_of_tidemark(words[1:])


def _wrong_of_tidemark(words: list[str]) -> str:
    group: Any = typer.main.get_command(app)
    while words and words[0].startswith("--"):  # an option of all commands, with or without a value
        if words[0] not in {"--debug", "--log-format", "--help"}:
            return words[0]
        del words[: 2 if words[0] == "--log-format" else 1]
    if not words or not re.fullmatch(r"[a-z-]+", words[0]):
        return ""
    one = group.commands.get(words[0])
    if one is None:
        return words[0]
    if hasattr(one, "commands"):
        one = one.commands.get(words[1], one) if len(words) > 1 else one
    known = {name for option in one.params for name in (*option.opts, *option.secondary_opts)} | {"--help"}
    given = [word.split("=")[0] for word in words[1:] if word.startswith("--")]
    return next((name for name in given if name not in known), "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_can_be_typed(page: Path) -> None:
    """Each command, option and target that a page names is there."""
    targets = set(re.findall(r"^([\w.-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    commands = [*written(page.read_text(encoding="utf-8"))]
    found = {command: what for command in commands if (what := wrong(command, targets))}
    assert found == {}


def test_a_wrong_command_is_noticed() -> None:
    """A renamed option or target would be found."""
    text = (
        "```\n$ tidemark verify --samples 5%   # one\nTIDEMARK_LAKE=x make demos\n```\nand `tidemark varify`"
    )
    assert [wrong(command, {"demo"}) for command in written(text)] == ["--samples", "demos", "varify"]


def build(*options: str) -> subprocess.CompletedProcess[str]:
    """Build the site; not `--quiet`, which hides warnings from `--strict`, too."""
    mkdocs = [sys.executable, "-m", "mkdocs", "build", "--strict", *options]
    return subprocess.run(mkdocs, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_link_to_nothing_is_noticed(tmp_path: Path) -> None:
    """So is a page that the navigation lacks."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    (tmp_path / "docs" / "lost.md").write_text("# Lost\n\n[Nothing](nothing.md), [file](../nothing.yml)\n")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    settings = settings.replace("docs_dir: docs", f"docs_dir: {tmp_path / 'docs'}")
    settings = settings.replace("scripts/site.py", str(ROOT / "scripts/site.py"))
    (tmp_path / "mkdocs.yml").write_text(settings)
    built = build("--config-file", str(tmp_path / "mkdocs.yml"))
    assert built.returncode == 1
    assert "but the target is not found" in built.stderr
    assert "lost.md" in built.stderr


def test_the_site_is_whole(tmp_path: Path) -> None:
    """Each link and anchor leads to a page, each page is in the navigation; nothing loads from a network."""
    built = build("--site-dir", str(tmp_path))
    assert built.returncode == 0, built.stdout + built.stderr
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    loaded = re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=[\"']?(https?:[^\"' >]+)", html)
    assert loaded == []
    commands = (tmp_path / "reference" / "commands.html").read_text(encoding="utf-8")
    assert "Prove this share of each table, such as 5%." in commands
    feeds = (tmp_path / "reference" / "feeds.html").read_text(encoding="utf-8")
    assert "what to do with a landed file whose content has changed" in feeds
    assert "newest_of" in (tmp_path / "reference" / "macros.html").read_text(encoding="utf-8")
