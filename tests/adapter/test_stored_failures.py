"""Rows that fail data tests, and where they are stored."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.store_test_failures_tests.basic import (
    StoreTestFailuresAsExceptions,
    StoreTestFailuresAsGeneric,
    StoreTestFailuresAsInteractions,
    StoreTestFailuresAsProjectLevelEphemeral,
    StoreTestFailuresAsProjectLevelOff,
    StoreTestFailuresAsProjectLevelView,
)
from dbt.tests.adapter.store_test_failures_tests.test_store_test_failures import (
    BaseStoreTestFailures,
    BaseStoreTestFailuresLimit,
)

from tests.night import nightly

pytestmark = [pytest.mark.R1, nightly("adapter")]


class TestStoreTestFailuresAsInteractions(StoreTestFailuresAsInteractions):
    """`store_failures` and `store_failures_as` together."""


class TestStoreTestFailuresAsProjectLevelOff(StoreTestFailuresAsProjectLevelOff):
    """`store_failures: false` for a project."""


class TestStoreTestFailuresAsProjectLevelView(StoreTestFailuresAsProjectLevelView):
    """`store_failures_as: view` for a project."""


class TestStoreTestFailuresAsProjectLevelEphemeral(StoreTestFailuresAsProjectLevelEphemeral):
    """`store_failures_as: ephemeral` for a project."""


class TestStoreTestFailuresAsGeneric(StoreTestFailuresAsGeneric):
    """`store_failures_as` of tests in YAML."""


class TestStoreTestFailuresAsExceptions(StoreTestFailuresAsExceptions):
    """A wrong `store_failures_as` is an error."""


class TestStoreTestFailures(BaseStoreTestFailures):
    """`--store-failures`."""


class TestStoreTestFailuresLimit(BaseStoreTestFailuresLimit):
    """`--store-failures` with a limit."""
