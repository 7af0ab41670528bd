"""Writes the results of a run of the suite to a file, for docs/conformance.md."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.adapter.suite import name_of_test

FILE = "TIDEMARK_CONFORMANCE"  # names the file; without it nothing is written
PACKAGES = ("dbt-tests-adapter", "dbt-core", "dbt-spark", "pyspark")
PASSED, FAILED = "passed", "failed"

_failed: set[str] = set()


def record(report: pytest.TestReport) -> None:
    """Add the outcome of a test of a class to the file; one that fails as expected has failed."""
    file = os.environ.get(FILE)
    if not file or report.nodeid.count("::") < 2 or not (report.when == "call" or report.outcome != PASSED):
        return
    name = name_of_test(report.nodeid)
    unexpected = str(report.longrepr).startswith("[XPASS")
    if hasattr(report, "wasxfail") or (report.outcome != PASSED and not unexpected):
        _failed.add(name)  # a failed teardown comes after a passed test
    recorded = read(Path(file))
    recorded["versions"] = {each: version(each) for each in PACKAGES}
    recorded["tests"][name] = FAILED if name in _failed else PASSED
    recorded["tests"] = dict(sorted(recorded["tests"].items()))
    Path(file).write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


def read(file: Path) -> dict[str, Any]:
    """Return the versions and the results of a file; none without it."""
    if not file.exists():
        return {"versions": {}, "tests": {}}
    recorded: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return recorded
