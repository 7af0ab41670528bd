"""dbt's own adapter tests, at night: what any dbt project expects of an adapter.

The classes come from the package `dbt-tests-adapter`, which is not a dependency: its tests are skipped
without it. docs/conformance.md says which classes are left out, and why.
"""

from __future__ import annotations

import pytest

from tests.conftest import nightly

pytestmark = [pytest.mark.R1, nightly]
REASON = "needs `pip install dbt-tests-adapter==1.20.0`"
pytest.importorskip("dbt.tests.adapter", reason=REASON)

from dbt.tests.adapter.basic.test_ephemeral import BaseEphemeral  # noqa: E402
from dbt.tests.adapter.basic.test_incremental import (  # noqa: E402
    BaseIncremental,
    BaseIncrementalNotSchemaChange,
)
from dbt.tests.adapter.basic.test_singular_tests import BaseSingularTests  # noqa: E402
from dbt.tests.adapter.incremental.test_incremental_merge_exclude_columns import (  # noqa: E402
    BaseMergeExcludeColumns,
)


class TestEphemeral(BaseEphemeral):
    """Ephemeral models below tables and views."""


class TestIncremental(BaseIncremental):
    """Models that call `is_incremental()`, without a unique_key."""


class TestIncrementalNotSchemaChange(BaseIncrementalNotSchemaChange):
    """Columns that stay the same, with `on_schema_change: sync_all_columns`."""


class TestSingularTests(BaseSingularTests):
    """Data tests in SQL."""


class TestMergeExcludeColumns(BaseMergeExcludeColumns):
    """`merge_exclude_columns` keeps columns of present rows."""

    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, object]:
        return {"models": {"+incremental_strategy": "merge"}}
