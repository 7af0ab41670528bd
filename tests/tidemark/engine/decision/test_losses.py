"""Why changes since a checkpoint cannot be read, from literal commits of both formats."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tidemark.engine.decision.lake import commit, delta, iceberg, read
from tidemark.engine.decision.commits import Commit
from tidemark.engine.decision.losses import FEED, lost_history
from tidemark.engine.decision.tables import TableState

pytestmark = [pytest.mark.R1, pytest.mark.R2]

WEEK = {"defaultRetentionMillis": str(7 * 24 * 3_600_000)}
MINUTES = {"specifiedRetentionMillis": "60000", **WEEK}
APPEND_ONLY = "is append-only, but had a"


@pytest.mark.parametrize(
    ("now", "is_landed", "why"),
    [
        (delta(7), True, None),
        (delta(8, commit(8)), True, None),
        (delta(7, id="another"), True, "was replaced after version 7 was read"),
        (delta(3), True, "was replaced after version 7 was read"),
        (delta(9, commit(9)), True, "the log of bronze.raw no longer has version 8"),
        (
            delta(8, commit(8), properties={FEED: "false"}),
            True,
            "bronze.raw has no change data feed; `alter table",
        ),
        (
            delta(8, commit(8, "SET TBLPROPERTIES", parameters={"properties": f'{{"{FEED}":"true"}}'})),
            True,
            "the change data feed of bronze.raw was enabled at version 8",
        ),
        (delta(8, commit(8, "SET TBLPROPERTIES", parameters={"properties": '{"a":"b"}'})), True, None),
        (delta(9, commit(9, "VACUUM START", parameters=WEEK), commit(8)), True, None),
        (
            delta(9, commit(9, "VACUUM START", parameters=MINUTES), commit(8)),
            True,
            "bronze.raw was vacuumed at version 9 before its changes were read",
        ),
        (delta(9, commit(9, "VACUUM START", parameters=MINUTES), commit(8, "OPTIMIZE")), True, None),
        (
            delta(8, commit(8, "RENAME COLUMN")),
            True,
            "the columns of bronze.raw were changed at version 8 (RENAME",
        ),
        (delta(8, commit(8, "CHANGE COLUMN")), True, None),
        (
            delta(8, commit(8, "CHANGE COLUMN"), properties={"delta.enableTypeWidening": "true"}),
            True,
            "the columns of bronze.raw were changed at version 8 (CHANGE COLUMN)",
        ),
        (delta(8, commit(8, "MERGE")), True, f"{APPEND_ONLY} MERGE after version 7"),
        (delta(8, commit(8, "DELETE")), True, f"{APPEND_ONLY} DELETE after version 7"),
        (delta(8, commit(8, parameters={"mode": "Overwrite"})), True, f"{APPEND_ONLY} WRITE after version 7"),
        (delta(8, commit(8, "MERGE")), False, None),
        (delta(8, commit(8, "DELETE")), False, None),
    ],
)
def test_delta_tells_what_its_change_data_feed_lacks(
    now: TableState, is_landed: bool, why: str | None
) -> None:
    """R1.5: a source that was vacuumed, replaced or changed is read in full, with the reason."""
    found = lost_history("bronze.raw", now, read(7), is_landed)
    assert (found is None) == (why is None)
    assert (why or "") in (found or "")


@pytest.mark.parametrize(
    ("now", "is_landed", "why"),
    [
        (iceberg("append"), True, None),
        (iceberg("append", "append"), True, None),
        (iceberg("append", "replace"), True, None),
        (iceberg("append", "overwrite"), False, None),
        (
            iceberg("append", "overwrite"),
            True,
            f"{APPEND_ONLY} snapshot that is an overwrite after snapshot 10",
        ),
        (iceberg(), True, "was replaced after snapshot 10 was read, or that snapshot was expired"),
    ],
)
def test_iceberg_loses_history_only_with_its_snapshots(
    now: TableState, is_landed: bool, why: str | None
) -> None:
    """R1.5: its changelog holds every change between snapshots."""
    found = lost_history("bronze.raw", now, read(10, source_id="iceberg"), is_landed)
    assert (found is None) == (why is None)
    assert (why or "") in (found or "")


def test_ids_of_snapshots_are_compared_by_age() -> None:
    """R1.5: they have no order (decision 0018)."""
    table = iceberg("append", "append", "append")
    assert [table.age(version) for version in (30, 20, 10, 0, 15)] == [0, 1, 2, 3, None]
    assert [each.version for each in table.between(10, 20)] == [20]
    expired = TableState("iceberg", 30, "iceberg", commits=table.commits[:2])
    assert [expired.age(version) for version in (20, 10, 0)] == [1, None, None]
    assert not expired.goes_back_to_the_start(expired.commits)
    assert table.version_range(10, 30) == "versions after 10 up to 30"


def test_a_commit_of_this_command_is_added_unless_another_writer_came_between() -> None:
    """R1.4: the state of the table is read again then."""
    table = delta(7)
    assert table.add(commit(8))
    assert (table.version, table.age(7), table.version_range(7, 8)) == (8, 1, "versions 8..8")
    assert not table.add(commit(10))
    assert table.version == 8


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            commit(
                8,
                "MERGE",
                metrics={
                    "numTargetRowsInserted": "2",
                    "numTargetRowsUpdated": "1",
                    "numTargetFilesAdded": "4",
                },
            ),
            {"rows": 3, "files": 4, "deletes": False, "is_foreign": False},
        ),
        (
            commit(8, "MERGE", metrics={"numTargetRowsInserted": "0", "numTargetRowsDeleted": "1"}),
            {"rows": 1, "deletes": True},
        ),
        (
            commit(8, "WRITE", metrics={"numOutputRows": "5", "numFiles": "2", "numOutputBytes": "9"}),
            {"rows": 5, "files": 2, "bytes": 9},
        ),
        (
            commit(8, "WRITE", parameters={"mode": "Overwrite"}, metrics={"numDeletedRows": "0"}),
            {"deletes": False},
        ),
        (commit(8, "DELETE"), {"deletes": True, "keeps_rows": False}),
        (commit(8, "OPTIMIZE", signed=None), {"keeps_rows": True, "is_foreign": False}),
        (commit(8, "CREATE TABLE AS SELECT", signed=None), {"is_foreign": True}),
        (commit(8, "WRITE", signed=None, are_signed=False), {"is_foreign": False}),
        (commit(8, "UPDATE", are_signed=False), {"is_foreign": True}),
    ],
)
def test_metrics_of_delta_have_common_names(made: Commit, expected: dict[str, Any]) -> None:
    """R2.4: a merge and a write name them differently."""
    assert {name: getattr(made, name) for name in expected} == expected
