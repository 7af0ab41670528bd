"""The suite is complete, and docs/conformance.md is what the recorded results say. Needs no Spark."""

from __future__ import annotations

from tests.adapter.conformance import ADAPTERS, PAGE, page, results_of
from tests.adapter.differences import DIFFERENCES
from tests.adapter.not_applicable import NOT_APPLICABLE, reason_for
from tests.adapter.recorder import FAILED
from tests.adapter.suite import classes_of_package, classes_of_suite, names_of_tests


def test_each_class_of_dbt_is_run_or_left_out_with_a_reason() -> None:
    """A new release of dbt-tests-adapter with more classes fails here."""
    of_dbt, suite = classes_of_package(), classes_of_suite().values()
    assert len(of_dbt) > 150
    missing = [
        name
        for name, one in of_dbt.items()
        if not reason_for(name) and not any(issubclass(ours, one) for ours in suite)
    ]
    assert missing == []


def test_excluded_tests_exist_and_do_not_run() -> None:
    """A reason that no class needs is deleted."""
    of_dbt, suite = classes_of_package(), classes_of_suite().values()
    for known in NOT_APPLICABLE:
        classes = [one for name, one in of_dbt.items() if f"{name}.".startswith(f"{known}.")]
        assert classes, known
        assert [one for one in classes if any(issubclass(ours, one) for ours in suite)] == []


def test_each_expected_failure_is_one_of_a_test() -> None:
    """The names in differences.py are those of tests, and the last runs failed where it says so."""
    tests = {test for one in classes_of_suite().values() for test in names_of_tests(one)}
    assert set(DIFFERENCES) <= tests
    for adapter, attribute in zip(ADAPTERS, ("tidemark", "stock"), strict=True):
        results = results_of(adapter)
        failed = {test for test, outcome in results.items() if outcome == FAILED}
        expected = {test for test, known in DIFFERENCES.items() if getattr(known, attribute)}
        assert failed == expected & set(results)


def test_the_page_is_written_from_the_results() -> None:
    """`make conformance` writes it; after new reasons, `python -m tests.adapter.conformance --page`."""
    assert PAGE.read_text(encoding="utf-8") == page()
