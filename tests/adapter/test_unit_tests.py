"""dbt's unit tests."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.adapter.unit_testing.test_case_insensitivity import BaseUnitTestCaseInsensivity
from dbt.tests.adapter.unit_testing.test_invalid_input import BaseUnitTestInvalidInput
from dbt.tests.adapter.unit_testing.test_quoted_reserved_word_column_names import (
    BaseUnitTestQuotedReservedWordColumnNames,
    my_model_sql,
    test_my_model_csv_fixtures_yml,
)
from dbt.tests.adapter.unit_testing.test_types import (
    BaseUnitTestingTypes,
    BaseUnitTestingVarcharFixtureNoTruncation,
)

from tests.night import nightly

pytestmark = [pytest.mark.R1, nightly("adapter")]

VALUES = [  # in SQL, in YAML
    ["1", "1"],
    ["2.0", "2.0"],
    ["'12345'", "12345"],
    ["'string'", "string"],
    ["true", "true"],
    ["date '2011-11-11'", "2011-11-11"],
    ["timestamp '2013-11-03 00:00:00-0'", "2013-11-03 00:00:00-0"],
    ["array(1, 2, 3)", "'array(1, 2, 3)'"],
    ["map('a', 't', 'b', null)", """'map("a", "t", "b", null)'"""],
    ["named_struct('a', 1, 'b', 2)", """'named_struct("a", 1, "b", 2)'"""],
]


class TestUnitTestCaseInsensivity(BaseUnitTestCaseInsensivity):
    """Names of columns in any letter case."""


class TestUnitTestInvalidInput(BaseUnitTestInvalidInput):
    """Unknown columns are an error."""


class TestUnitTestQuotedReservedWordColumnNames(BaseUnitTestQuotedReservedWordColumnNames):
    """A column named `GROUP`."""

    @pytest.fixture(scope="class")
    def models(self) -> Any:
        return {
            "my_model.sql": my_model_sql,
            "my_upstream_model.sql": "select 1 as `GROUP`",
            "unit_tests.yml": test_my_model_csv_fixtures_yml,
        }


class TestUnitTestingTypes(BaseUnitTestingTypes):
    """Values of each type."""

    @pytest.fixture
    def data_types(self) -> Any:
        return VALUES


class TestUnitTestingVarcharFixtureNoTruncation(BaseUnitTestingVarcharFixtureNoTruncation):
    """Values longer than a varchar."""
