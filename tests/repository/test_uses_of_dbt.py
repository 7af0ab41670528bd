"""What is used of dbt-core stands in decision 0040, so that a new version is checked where it may break."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = [pytest.mark.R1, pytest.mark.core]
DECISION = ROOT / "docs/decisions/0040-use-of-dbt-core.md"


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def used_names() -> set[str]:
    sources = [
        path
        for folder in ("python_ingest", "tidemark", "dev", "dbt")
        for path in (ROOT / folder).rglob("*.py")
    ]
    names = {name for path in sources for name in imported(path)}
    return {name for name in names if name.startswith(("dbt.", "dbt_common."))}


def test_each_module_of_dbt_that_is_imported_stands_in_the_decision() -> None:
    """R1: by its name, or by that of a module above it."""
    text = DECISION.read_text(encoding="utf-8")
    used = used_names()
    assert {"dbt.task.run.RunTask", "dbt.cli.main.dbtRunner"} <= used
    unnamed = [
        name
        for name in sorted(used)
        if not any(f"`{'.'.join(name.split('.')[:depth])}`" in text for depth in range(2, 6))
    ]
    assert not unnamed


def test_each_module_in_the_decision_is_imported() -> None:
    """R1: what is no longer used is no longer listed."""
    rows = [line for line in DECISION.read_text(encoding="utf-8").splitlines() if line.startswith("| `dbt")]
    named = {
        word for row in rows for word in row.split("|")[1].split("`") if word.startswith(("dbt.", "dbt_"))
    }
    assert len(named) > 2
    assert [name for name in sorted(named) if not any(one.startswith(name) for one in used_names())] == []
