"""Strategies and settings of incremental models."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.adapter.incremental.test_incremental_merge_exclude_columns import BaseMergeExcludeColumns
from dbt.tests.adapter.incremental.test_incremental_microbatch import BaseMicrobatch
from dbt.tests.adapter.incremental.test_incremental_on_schema_change import BaseIncrementalOnSchemaChange
from dbt.tests.adapter.incremental.test_incremental_predicates import BaseIncrementalPredicates
from dbt.tests.adapter.incremental.test_incremental_unique_id import BaseIncrementalUniqueKey
from dbt.tests.util import run_dbt

from tests.night import nightly

pytestmark = [pytest.mark.R1, nightly("adapter")]

NOT_2 = "dbt_internal_dest.id != 2"
MICROBATCH = """
{{ config(
    materialized='incremental', incremental_strategy='microbatch', event_time='event_time', batch_size='day',
    begin=modules.datetime.datetime(2020, 1, 1), partition_by=['event_date']
) }}
select *, cast(event_time as date) as event_date from {{ ref('input_model') }}
"""


class TestIncrementalUniqueKey(BaseIncrementalUniqueKey):
    """unique_key: one column, several, none, wrong ones."""

    @pytest.fixture(scope="class")
    def project_config_update(self) -> Any:
        return {"models": {"+incremental_strategy": "merge"}}


class TestIncrementalOnSchemaChange(BaseIncrementalOnSchemaChange):
    """on_schema_change, with new columns and columns that are gone."""

    @pytest.fixture(scope="class")
    def project_config_update(self) -> Any:
        return {"models": {"+incremental_strategy": "merge", "+unique_key": "id"}}

    def run_incremental_append_new_columns_remove_one(self, project: Any) -> None:
        self.stops_at_a_column_that_is_gone("incremental_append_new_columns_remove_one")

    def run_incremental_sync_all_columns(self, project: Any) -> None:
        self.stops_at_a_column_that_is_gone("incremental_sync_all_columns")

    def run_incremental_sync_remove_only(self, project: Any) -> None:
        self.stops_at_a_column_that_is_gone("incremental_sync_remove_only")

    def stops_at_a_column_that_is_gone(self, model: str) -> None:
        """Delta drops no column, so the second run is an error, as in dbt-spark's own tests."""
        run_dbt(["run", "--select", f"model_a {model}", "--full-refresh"])
        results = run_dbt(["run", "--select", f"model_a {model}"], expect_pass=False)
        assert "Error" in results[1].message


class TestIncrementalPredicates(BaseIncrementalPredicates):
    """`incremental_predicates`."""

    @pytest.fixture(scope="class")
    def project_config_update(self) -> Any:
        return {
            "models": {
                "+incremental_strategy": "merge",
                "+incremental_predicates": ["dbt_internal_dest.id != 2"],
            }
        }


class TestPredicates(BaseIncrementalPredicates):
    """The same setting under its other name, `predicates`."""

    @pytest.fixture(scope="class")
    def project_config_update(self) -> Any:
        return {"models": {"+incremental_strategy": "merge", "+predicates": [NOT_2]}}


class TestMergeExcludeColumns(BaseMergeExcludeColumns):
    """`merge_exclude_columns` keeps columns of present rows."""

    @pytest.fixture(scope="class")
    def project_config_update(self) -> Any:
        return {"models": {"+incremental_strategy": "merge"}}


class TestMicrobatch(BaseMicrobatch):
    """The strategy `microbatch`."""

    @pytest.fixture(scope="class")
    def microbatch_model_sql(self) -> str:
        return MICROBATCH
