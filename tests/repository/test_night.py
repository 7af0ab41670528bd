"""What runs at night stands in one list; docs/testing.md has it as a table."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT
from tests.night import CASES, PAGE, page
from tests.schedule import LONGEST_FIRST

pytestmark = [pytest.mark.R1, pytest.mark.core]


def test_the_page_has_the_list() -> None:
    """R1: `python -m tests.night` writes it."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_each_case_is_used() -> None:
    """R1: a test asks for it, or `make test-nightly` sets its variable."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    used = {case for text in texts for case in re.findall(r'(?:is_night|nightly)\("([^"]+)"\)', text)}
    (command,) = re.findall(r"TIDEMARK_NIGHTLY=1 TIDEMARK_HISTORIES.*", (ROOT / "Makefile").read_text())
    for name, case in CASES.items():
        if case.variable:
            assert f"{case.variable}=" in command
        else:
            assert name in used or name in ("iceberg", "delta"), name
    assert used <= CASES.keys()


def test_each_long_file_is_there() -> None:
    """R1: a moved file keeps its place in the schedule."""
    assert [name for name in LONGEST_FIRST if not (ROOT / name).is_file()] == []
