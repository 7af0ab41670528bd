"""When a query is computed in full, because that has been measured to be faster."""

from __future__ import annotations

import pytest

from tests.tidemark.engine.decision.lake import commit, delta, facts, read, source
from tidemark.engine.decision.commits import Commit, iceberg_commits
from tidemark.engine.decision.costs import (
    MEASURED_BYTES,
    Measured,
    are_few,
    choices,
    few_changes,
    is_measured,
    may_remove,
    usual,
)

pytestmark = pytest.mark.R2


def merged(version: int, rows: int) -> Commit:
    """Return a MERGE that updated rows."""
    return commit(version, "MERGE", metrics={"numTargetRowsInserted": 0, "numTargetRowsUpdated": rows})


def runs(*newest_first: tuple[str, float]) -> list[Measured]:
    return [Measured(state, seconds) for state, seconds in newest_first]


THREE = (("incremental", 5.1), ("incremental", 8.0), ("incremental", 5.0))
TOOK = "its last 3 increments took 5.1 s, a full computation"


@pytest.mark.parametrize(
    ("measured", "reason"),
    [
        ((), ""),
        ((("incremental", 9.0), ("incremental", 9.0), ("first run", 3.0)), ""),  # too few
        ((*THREE, ("first run", 3.4)), f"{TOOK} 3.4 s"),
        ((*THREE, ("first run", 4.3)), ""),  # 1.19 times
        ((("incremental", 1.0), ("incremental", 1.0), *THREE, ("first run", 3.4)), ""),
        (
            (("full", 3.0), *THREE, ("first run", 9.9)),
            f"{TOOK} 3.0 s",
        ),
        ((("full", 4.4), *THREE, ("first run", 3.4)), ""),  # it has become slower: increments are tried again
        ((("incremental", 9.0), ("code changed", 3.0), *THREE, ("first run", 3.4)), ""),  # of other code
        ((*THREE, ("full refresh", 3.4)), f"{TOOK} 3.4 s"),
    ],
)
def test_the_way_follows_what_was_measured(measured: tuple[tuple[str, float], ...], reason: str) -> None:
    """R2.3: the median of three increments, and the newest full computation."""
    assert usual(runs(*measured)).why_full == reason


@pytest.mark.parametrize(
    ("measured", "number", "right"),
    [
        ((), 0, 0),
        ((("incremental", 9.0),), 0, 0),  # what a full computation takes is not known
        ((("incremental", 4.0), ("incremental", 5.3), ("first run", 4.4)), 2, 2),
        ((("incremental", 9.0), ("incremental", 5.0), ("first run", 4.4)), 2, 1),
        ((("incremental", 2.9), ("first run", 1.0)), 1, 1),  # within two seconds
        ((("full", 6.0), *THREE, ("first run", 2.0)), 4, 1),  # 5.1 s of increments to 6.0 s; these to 2.0 s
        ((("full", 9.0), *THREE, ("first run", 9.9)), 4, 3),
        ((("nothing new", 9.0), ("first run", 1.0)), 0, 0),
    ],
)
def test_runs_that_took_the_cheaper_way_are_counted(
    measured: tuple[tuple[str, float], ...], number: int, right: int
) -> None:
    """R2.3: a run is compared with what the other way took before it."""
    found = choices({"gold.days": runs(*measured)})
    assert (found.runs, found.right) == (number, right)
    assert found.dearer == ({"gold.days": number - right} if right < number else {})


@pytest.mark.parametrize(
    ("maintain", "size", "expected"),
    [
        ("auto", MEASURED_BYTES, True),
        ("auto", MEASURED_BYTES - 1, False),
        ("always", MEASURED_BYTES, False),
        ("never", MEASURED_BYTES, False),
    ],
)
def test_small_sources_are_not_measured(maintain: str, size: int, expected: bool) -> None:
    """R2.3: nor are models that say how they are maintained."""
    assert is_measured(maintain, {"bronze.raw": size}) is expected


@pytest.mark.parametrize(
    ("commits", "few"),
    [
        ((), True),
        ((commit(8, metrics={"numOutputRows": 100_000}), merged(7, 50_000)), True),
        ((commit(8, metrics={"numOutputRows": 100_000}), merged(7, 50_001)), False),
        ((commit(8, "OPTIMIZE", metrics={"numOutputRows": 9_000_000}),), True),  # a compaction
        ((commit(8, "DELETE", metrics={"numDeletedRows": 300_000}),), True),
        ((commit(8, "DELETE"),), False),  # of whole files, which do not say how many rows they had
        ((commit(8, metrics={"numOutputRows": 1}, parameters={"mode": "Overwrite"}),), False),
    ],
)
def test_few_changed_rows_are_sent_to_all_tasks(commits: tuple[Commit, ...], few: bool) -> None:
    """R2.3: an updated row is read as it was and as it is; a number that is not known is not small."""
    assert are_few(commits) is few


def test_the_tables_with_few_changes_are_found() -> None:
    """R2.3: of a source that was never read, nothing is known."""
    small, large = delta(8, merged(8, 5)), delta(8, merged(8, 200_000))
    known = [source(small, read(7, source="shop.A")), source(large, read(7, source="shop.b"))]
    assert few_changes(facts(*known, source(small, None))) == ["shop.a"]


@pytest.mark.parametrize(
    ("changed", "removes"),
    [
        (commit(8, metrics={"numOutputRows": 5}), False),
        (commit(8, "MERGE", metrics={"numTargetRowsInserted": 5, "numTargetRowsUpdated": 0}), False),
        (commit(8, "OPTIMIZE", metrics={"numOutputRows": 9}), False),
        (merged(8, 1), True),
        (commit(8, "MERGE", metrics={"numTargetRowsInserted": 0, "numTargetRowsDeleted": 1}), True),
        (commit(8, "DELETE"), True),
        (commit(8, "UPDATE", metrics={"numUpdatedRows": 1}), True),
        (commit(8, metrics={"numOutputRows": 1}, parameters={"mode": "Overwrite"}), True),
    ],
)
def test_changes_that_may_remove_rows(changed: Commit, removes: bool) -> None:
    """R2.3: an updated row is removed and added."""
    known = facts(source(delta(8, changed), read(7, source="shop.A")))
    assert may_remove(known) is removes
    assert not may_remove(facts(source(delta(8, changed), None)))


@pytest.mark.parametrize(
    ("operation", "removes"), [("append", False), ("replace", False), ("overwrite", True)]
)
def test_changes_of_iceberg_that_may_remove_rows(operation: str, removes: bool) -> None:
    """R2.3: by the operation of the snapshot."""
    row = {
        "snapshot_id": 8,
        "parent_id": 7,
        "committed_at": None,
        "operation": operation,
        "summary": {},
        "present_id": 8,
    }
    assert [one.removes for one in iceberg_commits([row], are_signed=True)] == [removes]
