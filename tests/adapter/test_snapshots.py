"""Snapshots."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.basic.test_snapshot_check_cols import BaseSnapshotCheckCols
from dbt.tests.adapter.simple_snapshot.new_record_check_mode import BaseSnapshotNewRecordCheckMode
from dbt.tests.adapter.simple_snapshot.new_record_dbt_valid_to_current import (
    BaseSnapshotNewRecordDbtValidToCurrent,
)
from dbt.tests.adapter.simple_snapshot.new_record_timestamp_mode import BaseSnapshotNewRecordTimestampMode
from dbt.tests.adapter.simple_snapshot.test_ephemeral_snapshot_hard_deletes import (
    BaseSnapshotEphemeralHardDeletes,
    BaseSnapshotNewColumnSpecificCheckCols,
    BaseSnapshotNewColumnTimestampStrategy,
    BaseSnapshotNewColumnWithDeletes,
)
from dbt.tests.adapter.simple_snapshot.test_snapshot import BaseSimpleSnapshot, BaseSnapshotCheck
from dbt.tests.adapter.simple_snapshot.test_various_configs import (
    BaseSnapshotColumnNames,
    BaseSnapshotColumnNamesFromDbtProject,
    BaseSnapshotDbtValidToCurrent,
    BaseSnapshotInvalidColumnNames,
    BaseSnapshotMultiUniqueKey,
)

from tests.night import nightly

pytestmark = [pytest.mark.R1, nightly("adapter")]


class TestSnapshotCheckCols(BaseSnapshotCheckCols):
    """The strategy `check` with one column and with all."""


class TestSimpleSnapshot(BaseSimpleSnapshot):
    """The strategy `timestamp`: changes, new rows, deleted rows, a new column."""


class TestSnapshotCheck(BaseSnapshotCheck):
    """The strategy `check`."""


class TestSnapshotColumnNames(BaseSnapshotColumnNames):
    """Other names for dbt's columns."""


class TestSnapshotColumnNamesFromDbtProject(BaseSnapshotColumnNamesFromDbtProject):
    """The same, set in dbt_project.yml."""


class TestSnapshotInvalidColumnNames(BaseSnapshotInvalidColumnNames):
    """Names that change are an error."""


class TestSnapshotDbtValidToCurrent(BaseSnapshotDbtValidToCurrent):
    """`dbt_valid_to_current`."""


class TestSnapshotMultiUniqueKey(BaseSnapshotMultiUniqueKey):
    """A key of several columns."""


class TestSnapshotNewRecordTimestampMode(BaseSnapshotNewRecordTimestampMode):
    """`hard_deletes: new_record` with the strategy `timestamp`."""


class TestSnapshotNewRecordCheckMode(BaseSnapshotNewRecordCheckMode):
    """`hard_deletes: new_record` with the strategy `check`."""


class TestSnapshotNewRecordDbtValidToCurrent(BaseSnapshotNewRecordDbtValidToCurrent):
    """`hard_deletes: new_record` with `dbt_valid_to_current`."""


class TestSnapshotEphemeralHardDeletes(BaseSnapshotEphemeralHardDeletes):
    """A new column of an ephemeral model, `check`."""


class TestSnapshotNewColumnTimestampStrategy(BaseSnapshotNewColumnTimestampStrategy):
    """A new column of an ephemeral model, `timestamp`."""


class TestSnapshotNewColumnSpecificCheckCols(BaseSnapshotNewColumnSpecificCheckCols):
    """A new column that is not in check_cols."""


class TestSnapshotNewColumnWithDeletes(BaseSnapshotNewColumnWithDeletes):
    """A new column and a deleted row."""
