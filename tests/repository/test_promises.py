"""docs/promises.md: each names tests that exist, and has a fault that they must notice."""

from __future__ import annotations

import re

from tests.conftest import ROOT
from tests.mutations.faults import FAULTS


def _promises() -> dict[str, str]:
    """The rows of the table: promise and where it is shown."""
    page = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
    table = page.split("| promise | test |\n|---|---|\n")[1].split("\n\n")[0]
    return {row.split("|")[1].strip(): row.split("|")[2] for row in table.splitlines()}


def test_each_promise_has_a_fault() -> None:
    """`make mutations` breaks each promise once."""
    promises = _promises()
    assert len(promises) > 30
    without = [promise for promise in promises if not any(promise.startswith(f.promise) for f in FAULTS)]
    assert without == []
    assert [f.promise for f in FAULTS if not any(p.startswith(f.promise) for p in promises)] == []


def test_each_fault_can_be_made() -> None:
    """Its text is in one place of its file, and is not what replaces it."""
    for fault in FAULTS:
        assert (ROOT / fault.file).read_text(encoding="utf-8").count(fault.old) == 1, fault
        assert fault.old != fault.new


def test_the_named_tests_exist() -> None:
    """A path in the table is one of the repository."""
    for where in _promises().values():
        for path in re.findall(r"`(tests/[\w/.]+)`", where):
            assert (ROOT / path).exists(), path
