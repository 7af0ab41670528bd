"""Runs dbt's adapter tests on Tidemark and on stock dbt-spark, and writes docs/conformance.md.

`python -m tests.adapter.conformance` runs both and writes the page; with `--page`, it writes the page only.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.adapter.differences import DIFFERENCES, Difference
from tests.adapter.not_applicable import NOT_APPLICABLE, reason_for
from tests.adapter.recorder import FAILED, FILE, PASSED, read
from tests.adapter.suite import FOLDER, Class, classes_of_package, classes_of_suite, names_of_tests

ROOT = FOLDER.parent.parent
PAGE = ROOT / "docs" / "conformance.md"
ADAPTERS = ("tidemark", "spark")
Results = dict[str, str]


def results_of(adapter: str) -> Results:
    """Return the results of the last run on an adapter, by test; one with parameters passes with all."""
    found: Results = {}
    for name, outcome in read(_file(adapter))["tests"].items():
        test = name.split("[")[0]
        found[test] = FAILED if FAILED in (outcome, found.get(test)) else outcome
    return found


def page() -> str:
    """Return the page for the recorded results."""
    suite = classes_of_suite()
    tidemark, stock = (results_of(adapter) for adapter in ADAPTERS)
    tests = [test for one in suite.values() for test in names_of_tests(one)]
    rows = "\n".join(_row(one, tidemark, stock) for one in suite.values())
    left_out = "\n".join(f"| {_left_out(name)} | {reason} |" for name, reason in NOT_APPLICABLE.items())
    versions = read(_file("tidemark"))["versions"]
    template = (FOLDER / "page.md").read_text(encoding="utf-8")
    return template.format(
        versions=", ".join(f"{name} {version}" for name, version in versions.items()),
        classes=len(suite),
        tests=len(tests),
        passed=sum(tidemark.get(test) == PASSED for test in tests),
        passed_by_stock=sum(stock.get(test) == PASSED for test in tests),
        classes_passed=sum(_share(one, tidemark) == PASSED for one in suite.values()),
        classes_passed_by_stock=sum(_share(one, stock) == PASSED for one in suite.values()),
        left_out_count=sum(bool(reason_for(name)) for name in classes_of_package()),
        rows=rows,
        left_out=left_out,
    )


def _row(one: Class, tidemark: Results, stock: Results) -> str:
    text = (one.__doc__ or "").strip().removesuffix(".")
    cells = (f"`{one.__name__}`", text, _share(one, tidemark), _share(one, stock), _reasons(one))
    return f"| {' | '.join(cells)} |"


def _share(one: Class, results: Results) -> str:
    tests = names_of_tests(one)
    if not set(tests) <= set(results):
        return "not run"
    passed = sum(results[test] == PASSED for test in tests)
    if passed == len(tests):
        return PASSED
    return f"{passed} of {len(tests)}" if len(tests) > 1 else FAILED


def _reasons(one: Class) -> str:
    known = [DIFFERENCES.get(test, Difference()) for test in names_of_tests(one)]
    texts = dict.fromkeys(f"Tidemark: {one.tidemark}" for one in known if one.tidemark)
    texts |= dict.fromkeys(f"stock: {one.stock}" for one in known if one.stock)
    return "; ".join(texts)


def _left_out(name: str) -> str:
    count = sum(one == name or one.startswith(f"{name}.") for one in classes_of_package())
    return f"`{name}`" + (f" ({count} classes)" if count > 1 else "")


def _file(adapter: str) -> Path:
    return FOLDER / "results" / f"{adapter}.json"


def _run(adapter: str) -> int:
    _file(adapter).unlink(missing_ok=True)
    settings = {"TIDEMARK_NIGHTLY": "1", "TIDEMARK_ADAPTER": adapter, FILE: str(_file(adapter))}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(FOLDER)]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **settings}, check=False).returncode


if __name__ == "__main__":
    exit_codes = [] if "--page" in sys.argv else [_run(adapter) for adapter in ADAPTERS]
    PAGE.write_text(page(), encoding="utf-8")
    sys.exit(max(exit_codes, default=0))
