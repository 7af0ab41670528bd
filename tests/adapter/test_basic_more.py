"""dbt's basic tests, at night: the catalog, schema changes and strategies."""

from __future__ import annotations

import getpass
from typing import Any

import pytest
from dbt.tests.adapter.basic.expected_catalog import (
    base_expected_catalog,
    expected_references_catalog,
    no_stats,
)
from dbt.tests.adapter.basic.test_docs_generate import BaseDocsGenerate, BaseDocsGenReferences
from dbt.tests.adapter.basic.test_incremental import (
    BaseIncrementalBadStrategy,
    BaseIncrementalNotSchemaChange,
)
from dbt.tests.adapter.catalog import files
from dbt.tests.adapter.catalog.relation_types import CatalogRelationTypes
from dbt.tests.adapter.column_types import fixtures
from dbt.tests.adapter.column_types.test_column_types import BasePostgresColumnTypes
from dbt.tests.adapter.utils.test_source_freshness_custom_info import BaseCalculateFreshnessMethod
from dbt.tests.adapter.utils.test_timestamps import BaseCurrentTimestamps
from dbt.tests.adapter.utils.test_validate_sql import BaseValidateSqlMethod

from tests.night import nightly

pytestmark = [pytest.mark.R1, nightly("adapter")]

CATALOG = {
    "role": getpass.getuser(),
    "id_type": "bigint",
    "text_type": "string",
    "time_type": "timestamp",
    "view_type": "view",
    "table_type": "table",
    "model_stats": no_stats(),
}
COLUMNS = """
select cast(1 as smallint) as smallint_col, cast(2 as int) as int_col, cast(3 as bigint) as bigint_col,
    cast(4 as float) as real_col, cast(5 as double) as double_col, cast(6 as decimal(10, 2)) as numeric_col,
    '7' as text_col, cast('8' as varchar(20)) as varchar_col
"""


class TestIncrementalNotSchemaChange(BaseIncrementalNotSchemaChange):
    """Columns that stay the same, with `on_schema_change: sync_all_columns`."""


class TestIncrementalBadStrategy(BaseIncrementalBadStrategy):
    """An unknown strategy is an error."""


class TestDocsGenerate(BaseDocsGenerate):
    """The artifacts of `dbt docs generate`."""

    @pytest.fixture(scope="class")
    def expected_catalog(self, project: Any) -> Any:
        return base_expected_catalog(project, **CATALOG)


class TestDocsGenReferences(BaseDocsGenReferences):
    """The same, of a project with doc blocks and sources."""

    @pytest.fixture(scope="class")
    def expected_catalog(self, project: Any) -> Any:
        catalog = expected_references_catalog(project, **CATALOG, bigint_type="bigint")
        nodes = (*catalog["nodes"].values(), *catalog["sources"].values())
        shared = {id(column): column for node in nodes for column in node["columns"].values()}
        for column in shared.values():
            column["index"] -= 1  # dbt-spark counts from 0
        return catalog


class TestCatalogRelationTypes(CatalogRelationTypes):
    """The types of relations in the catalog."""

    @pytest.fixture(scope="class", autouse=True)
    def models(self) -> Any:
        return {"my_table.sql": files.MY_TABLE, "my_view.sql": files.MY_VIEW}

    @pytest.mark.parametrize(
        ("node_name", "relation_type"),
        [
            ("seed.test.my_seed", "table"),
            ("model.test.my_table", "table"),
            ("model.test.my_view", "view"),
        ],
    )
    def test_relation_types_populate_correctly(self, docs: Any, node_name: str, relation_type: str) -> None:
        super().test_relation_types_populate_correctly(docs, node_name, relation_type)


class TestColumnTypes(BasePostgresColumnTypes):
    """The types of columns that the adapter tells apart."""

    @pytest.fixture(scope="class")
    def models(self) -> Any:
        return {
            "model.sql": COLUMNS,
            "schema.yml": fixtures.schema_yml,
        }


class TestValidateSqlMethod(BaseValidateSqlMethod):
    """`adapter.validate_sql()`."""


class TestCalculateFreshnessMethod(BaseCalculateFreshnessMethod):
    """The freshness of a source by a query."""


class TestCurrentTimestamps(BaseCurrentTimestamps):
    """The type of `current_timestamp()`."""

    @pytest.fixture(scope="class")
    def models(self) -> Any:
        return {"get_current_timestamp.sql": "select {{ current_timestamp() }} as current_timestamp"}

    @pytest.fixture(scope="class")
    def expected_schema(self) -> Any:
        return {"current_timestamp": "timestamp"}

    @pytest.fixture(scope="class")
    def expected_sql(self) -> Any:
        return "select current_timestamp() as current_timestamp"
