"""dbt's basic tests, by day: what any project does. Snapshots by `check_cols` are in test_snapshots.py."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.basic.test_adapter_methods import BaseAdapterMethod
from dbt.tests.adapter.basic.test_base import BaseSimpleMaterializations
from dbt.tests.adapter.basic.test_empty import BaseEmpty
from dbt.tests.adapter.basic.test_ephemeral import BaseEphemeral
from dbt.tests.adapter.basic.test_generic_tests import BaseGenericTests
from dbt.tests.adapter.basic.test_incremental import BaseIncremental
from dbt.tests.adapter.basic.test_singular_tests import BaseSingularTests
from dbt.tests.adapter.basic.test_singular_tests_ephemeral import BaseSingularTestsEphemeral
from dbt.tests.adapter.basic.test_snapshot_timestamp import BaseSnapshotTimestamp
from dbt.tests.adapter.basic.test_table_materialization import BaseTableMaterialization
from dbt.tests.adapter.basic.test_validate_connection import BaseValidateConnection

pytestmark = [pytest.mark.R1]


class TestSimpleMaterializations(BaseSimpleMaterializations):
    """A seed, a view, a table and an incremental model; documentation."""


class TestSingularTests(BaseSingularTests):
    """Data tests in SQL."""


class TestSingularTestsEphemeral(BaseSingularTestsEphemeral):
    """Data tests of ephemeral models."""


class TestEmptyProject(BaseEmpty):
    """An empty project."""


class TestEphemeral(BaseEphemeral):
    """Ephemeral models below tables and views."""


class TestIncremental(BaseIncremental):
    """A model that calls `is_incremental()`, without a unique_key."""


class TestGenericTests(BaseGenericTests):
    """Data tests in YAML."""


class TestSnapshotTimestamp(BaseSnapshotTimestamp):
    """Snapshots with the strategy `timestamp`."""


class TestAdapterMethod(BaseAdapterMethod):
    """Functions of the adapter: relations, columns, schemas."""


class TestTableMaterialization(BaseTableMaterialization):
    """A table with its sort settings."""


class TestValidateConnection(BaseValidateConnection):
    """The check of the connection."""
