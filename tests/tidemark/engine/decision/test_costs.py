"""When a query is computed in full, because that has been measured to be faster."""

from __future__ import annotations

import pytest

from tidemark.engine.decision.costs import MEASURED_BYTES, Measured, is_measured, why_full

pytestmark = pytest.mark.R2


def runs(*newest_first: tuple[str, float]) -> list[Measured]:
    return [Measured(state, seconds) for state, seconds in newest_first]


THREE = (("incremental", 5.1), ("incremental", 8.0), ("incremental", 5.0))
TOOK = "its last increments took 5.1 s, a full computation"


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
    assert why_full(runs(*measured)) == reason


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
