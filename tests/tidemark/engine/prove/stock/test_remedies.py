"""What `tidemark prove --manifest` says to do about a finding."""

from __future__ import annotations

import pytest

from tidemark.engine.prove.stock.remedies import remedy
from tidemark.engine.prove.stock.settings import Settings

pytestmark = pytest.mark.R2
MERGE, APPEND = Settings("merge", ("id",)), Settings("append")
DAYS = Settings("insert_overwrite", partitions=(("day", ""),))


@pytest.mark.parametrize(
    ("settings", "kind", "effect", "words"),
    [
        (MERGE, "tied", "lost", "compare by >= instead of >"),
        (Settings("append", ("id",)), "tied", "lost", "compare by >= instead of >"),
        (Settings("append", ("id",)), "updated", "twice", "append ignores it"),
        (MERGE, "late", "lost", "read by the time at which rows arrived"),
        (MERGE, "late", "fails", "remove repeated rows in the query"),
        (MERGE, "empty", "lost", "expect a table without rows"),
        (MERGE, "edited", "old", "filter by a time that each update sets"),
        (MERGE, "deleted", "kept", "dbt deletes nothing"),
        (DAYS, "deleted", "kept", "replace each group that a row has left"),
        (DAYS, "moved", "kept", "replace also the partition"),
        (APPEND, "repeated", "twice", "give the model a unique_key"),
        (APPEND, "updated", "other", "incremental_strategy='merge'"),
        (MERGE, "new", "lost", "look at NULLs"),
    ],
)
def test_the_advice_fits_the_fault(settings: Settings, kind: str, effect: str, words: str) -> None:
    """R2.5: by the kind of changes, the difference and the strategy."""
    assert words in remedy(settings, kind, effect, is_filtered=True, groups=False)


def test_groups_and_other_tables_come_first() -> None:
    """R2.5: counts of new rows, and a filter that looks elsewhere."""
    assert "each touched group" in remedy(MERGE, "late", "old", is_filtered=True, groups=True)
    assert "looks at another table" in remedy(MERGE, "deleted", "old", is_filtered=False, groups=False)
