"""Names of tables, the cache, threads, ephemeral models, and projects that are run twice."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.adapter.aliases.test_aliases import BaseAliasErrors, BaseAliases, BaseSameAliasDifferentSchemas
from dbt.tests.adapter.caching.test_caching import (
    BaseCachingLowercaseModel,
    BaseCachingSelectedSchemaOnly,
    BaseCachingUppercaseModel,
    BaseNoPopulateCache,
)
from dbt.tests.adapter.concurrency.test_concurrency import BaseConcurrency
from dbt.tests.adapter.ephemeral.test_ephemeral import (
    BaseEphemeralErrorHandling,
    BaseEphemeralMulti,
    BaseEphemeralNested,
)
from dbt.tests.adapter.relations.test_changing_relation_type import BaseChangeRelationTypeValidator
from dbt.tests.adapter.relations.test_dropping_schema_named import BaseDropSchemaNamed
from dbt.tests.adapter.simple_copy.test_copy_uppercase import BaseSimpleCopyUppercase
from dbt.tests.adapter.simple_copy.test_simple_copy import EmptyModelsArentRunBase, SimpleCopyBase
from dbt.tests.util import check_relations_equal, run_dbt
from pyspark.sql import SparkSession

from tests.adapter.suite import profile_target
from tests.night import nightly

pytestmark = [pytest.mark.R1, nightly("adapter")]


def created_view(model: str) -> str:
    """The statement that created a view, without white space and digits."""
    statement = Path("target", "run", "test", "models", f"{model}.sql").read_text(encoding="utf-8")
    return "".join(re.sub(r"\d+", "", statement).split())


class TestAliases(BaseAliases):
    """Aliases of models."""


class TestAliasErrors(BaseAliasErrors):
    """Two models with one alias are an error."""


class TestSameAliasDifferentSchemas(BaseSameAliasDifferentSchemas):
    """One alias in two schemas."""


class WithoutDatabase:
    """dbt-spark has no database, whose name dbt's test of the cache compares."""

    def run_and_inspect_cache(self, project: Any, run_args: list[str]) -> None:
        found = []
        for _ in range(2):
            run_dbt(run_args)
            (relation,) = project.adapter.cache.relations
            found.append((relation.schema, relation.identifier.lower()))
        assert found[0] == found[1]
        assert found[0][0] == project.test_schema


class TestCachingLowercaseModel(WithoutDatabase, BaseCachingLowercaseModel):
    """The cache of relations."""


class TestCachingUppercaseModel(WithoutDatabase, BaseCachingUppercaseModel):
    """The cache, for a model whose name is in upper case."""


class TestCachingSelectedSchemaOnly(WithoutDatabase, BaseCachingSelectedSchemaOnly):
    """`--cache-selected-only`."""


class TestNoPopulateCache(WithoutDatabase, BaseNoPopulateCache):
    """`--no-populate-cache`."""


class TestConcurrency(BaseConcurrency):
    """Models in several threads, one of which fails."""

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, spark: SparkSession) -> Any:
        return {**profile_target(), "threads": 4}


class TestEphemeralMulti(BaseEphemeralMulti):
    """Several ephemeral models in one query."""

    def test_ephemeral_multi(self, project: Any) -> None:
        """dbt's test expects the statement of PostgreSQL."""
        run_dbt(["seed"])
        assert len(run_dbt(["run"])) == 3
        for model in ("dependent", "double_dependent", "super_dependent"):
            check_relations_equal(project.adapter, ["seed", model])
        schema = re.sub(r"\d+", "", project.test_schema)
        statement = created_view("double_dependent")
        assert statement.startswith(f"createorreplaceview{schema}.double_dependentas")
        assert f"__dbt__cte__baseas(select*from{schema}.seed),__dbt__cte__base_copyas(" in statement
        assert statement.endswith("unionallselect*from__dbt__cte__base_copywheregender='Female'")


class TestEphemeralNested(BaseEphemeralNested):
    """Ephemeral models of ephemeral models."""

    def test_ephemeral_nested(self, project: Any) -> None:
        """dbt's test expects the statement of PostgreSQL."""
        assert len(run_dbt(["run"])) == 2
        schema = re.sub(r"\d+", "", project.test_schema)
        assert created_view("root_view") == (
            f"createorreplaceview{schema}.root_viewas"
            f"with__dbt__cte__ephemeral_level_twoas(select*from{schema}.source_table),"
            "__dbt__cte__ephemeralas(select*from__dbt__cte__ephemeral_level_two)select*from__dbt__cte__ephemeral"
        )


class TestEphemeralErrorHandling(BaseEphemeralErrorHandling):
    """An error in an ephemeral model."""


class TestChangeRelationTypeValidator(BaseChangeRelationTypeValidator):
    """A view becomes a table, an incremental model, and a view again."""


class TestDropSchemaNamed(BaseDropSchemaNamed):
    """The macro that drops a schema."""


class TestSimpleCopy(SimpleCopyBase):
    """Views, tables and incremental models of a seed that changes."""


class TestEmptyModelsArentRun(EmptyModelsArentRunBase):
    """Empty and disabled models are not run."""

    @pytest.fixture(scope="class")
    def project(self, project: Any) -> Any:
        def names() -> dict[str, str]:
            rows = project.run_sql(f"show tables in {project.test_schema}", fetch="all")
            return {row[1]: row[0] for row in rows}

        project.get_tables_in_schema = names
        return project


class TestSimpleCopyUppercase(BaseSimpleCopyUppercase):
    """The same project with names in upper case."""

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, spark: SparkSession) -> Any:
        return profile_target()
