"""The faults of `make mutations` can be made, and there is one for each promise."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from tests.mutations.faults import FAULTS, Fault

pytestmark = pytest.mark.R2


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.promise)
def test_a_fault_can_be_made(fault: Fault) -> None:
    """R2.2: the text that it changes is in one place of the code, and its promise in the README's table."""
    assert (ROOT / fault.file).read_text(encoding="utf-8").count(fault.old) == 1
    assert f"\n| {fault.promise}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_each_promise_has_a_fault() -> None:
    """R2.2: a promise without a fault may have a test that cannot fail."""
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("| promise | test |\n|---|---|\n")[2]
    rows = [line for line in table.partition("\n\n")[0].splitlines() if line.startswith("| ")]
    lacking = [row for row in rows if not any(row.startswith(f"| {f.promise}") for f in FAULTS)]
    assert rows
    assert lacking == []
