"""dbt's macros of data types, and other macros that are called as functions."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.adapter.utils.data_types.test_type_bigint import BaseTypeBigInt
from dbt.tests.adapter.utils.data_types.test_type_boolean import BaseTypeBoolean
from dbt.tests.adapter.utils.data_types.test_type_float import BaseTypeFloat
from dbt.tests.adapter.utils.data_types.test_type_int import BaseTypeInt
from dbt.tests.adapter.utils.data_types.test_type_numeric import BaseTypeNumeric
from dbt.tests.adapter.utils.data_types.test_type_string import BaseTypeString
from dbt.tests.adapter.utils.data_types.test_type_timestamp import BaseTypeTimestamp

from tests.night import nightly

pytestmark = [pytest.mark.R1, nightly("adapter")]


class TestTypeBigInt(BaseTypeBigInt):
    """`type_bigint()`."""


class TestTypeBoolean(BaseTypeBoolean):
    """`type_boolean()`."""


class TestTypeFloat(BaseTypeFloat):
    """`type_float()`."""

    @pytest.fixture(scope="class")
    def project_config_update(self) -> Any:
        """dbt takes the seed's numbers for wider ones."""
        return {"seeds": {"+column_types": {"float_col": "float"}}}


class TestTypeInt(BaseTypeInt):
    """`type_int()`."""

    @pytest.fixture(scope="class")
    def project_config_update(self) -> Any:
        """dbt takes the seed's numbers for wider ones."""
        return {"seeds": {"+column_types": {"int_col": "int"}}}


class TestTypeNumeric(BaseTypeNumeric):
    """`type_numeric()`."""


class TestTypeString(BaseTypeString):
    """`type_string()`."""


class TestTypeTimestamp(BaseTypeTimestamp):
    """`type_timestamp()`."""
