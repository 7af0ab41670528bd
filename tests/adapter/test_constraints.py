"""Contracts and constraints."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.adapter.constraints import fixtures
from dbt.tests.adapter.constraints.test_constraints import (
    BaseConstraintQuotedColumn,
    BaseConstraintsRollback,
    BaseConstraintsRuntimeDdlEnforcement,
    BaseIncrementalConstraintsColumnsEqual,
    BaseIncrementalConstraintsRollback,
    BaseIncrementalConstraintsRuntimeDdlEnforcement,
    BaseIncrementalContractSqlHeader,
    BaseIncrementalForeignKeyConstraint,
    BaseModelConstraintsRuntimeEnforcement,
    BaseTableConstraintsColumnsEqual,
    BaseTableContractSqlHeader,
    BaseViewConstraintsColumnsEqual,
)

from tests.adapter.suite import is_stock
from tests.night import nightly

pytestmark = [pytest.mark.R1, nightly("adapter")]

QUOTED_YML = fixtures.model_quoted_column_schema_yml.replace('"from"', "`from`")
ROWS = """
select id, color, date_day from (
    -- depends_on: <foreign_key_model_identifier>
    select 'blue' as color, 1 as id, '2019-01-01' as date_day
) as model_subq
"""
QUOTED_ROWS = """
select id, `from`, date_day from (
    select 'blue' as `from`, 1 as id, '2019-01-01' as date_day
) as model_subq
"""
OWN = {
    "enableChangeDataFeed": "true",
    "deletedFileRetentionDuration": "interval 35 days",
    "logRetentionDuration": "interval 90 days",
}
OWN_ROWS = ROWS.replace("id, color, date_day", "`color`, `id`, `date_day`").replace(
    "as model_subq", "as incoming where true"
)
NOT_NULL = {"id_not_null": "id is not null"}
OF_COLUMN = {**NOT_NULL, "id_check": "(id > 0)", "id_check_2": "id >= 1"}
OF_TABLE = {**NOT_NULL, "check": "(id > 0)", "check_2": "id >= 1"}
QUOTED = {**NOT_NULL, "from_not_null": "`from` is not null", "check": r"(`from` = \'blue\')"}


def created(constraints: dict[str, str], rows: str, **others: str) -> str:
    """The statement that creates a table; stock dbt-spark adds the constraints afterwards."""
    properties = {**others, **{f"constraints.{name}": each for name, each in constraints.items()}}
    listed = ", ".join(f"'delta.{name}' = '{each}'" for name, each in properties.items())
    clause = "" if is_stock() else f"tblproperties ({listed})"
    return f"create or replace table <model_identifier> using delta {clause} as {rows}"


def header_models(materialized: str) -> dict[str, str]:
    """A model that reads a view of its sql_header."""
    config = f"materialized='{materialized}', on_schema_change='append_new_columns'"
    header = "create or replace temporary view zones as select 'Asia/Kolkata' as zone;"
    return {
        "my_model_contract_sql_header.sql": f"{{{{ config({config}) }}}}"
        f"{{% call set_sql_header(config) %}}{header}{{% endcall %}} select zone as column_name from zones",
        "constraints_schema.yml": fixtures.model_contract_header_schema_yml,
    }


class TypesOfSpark:
    """Columns of each type of Spark."""

    @pytest.fixture
    def string_type(self) -> str:
        return "string"

    @pytest.fixture
    def int_type(self) -> str:
        return "int"

    @pytest.fixture
    def data_types(self) -> list[list[str]]:
        """The value in SQL, the type in the contract, the type in the message."""
        return [
            ["1", "int", "int"],
            ["'1'", "string", "string"],
            ["true", "boolean", "boolean"],
            ["array('1', '2')", "array<string>", "array"],
            ["array(1, 2)", "array<int>", "array"],
            ["cast('2019-01-01' as date)", "date", "date"],
            ["cast('2019-01-01' as timestamp)", "timestamp", "timestamp"],
            ["cast(1.0 as decimal(4, 2))", "decimal(4, 2)", "decimal"],
        ]


class ErrorsOfSpark:
    """What Delta says of rows that break a constraint."""

    @pytest.fixture(scope="class")
    def expected_error_messages(self) -> tuple[str, ...]:
        return ("NOT NULL constraint", "CHECK constraint", "NOT_NULL_VIOLATION", "VIOLATE_CONSTRAINT")

    def assert_expected_error_messages(
        self, error_message: str, expected_error_messages: tuple[str, ...]
    ) -> None:
        assert any(known in error_message for known in expected_error_messages)


class TestTableConstraintsColumnsEqual(TypesOfSpark, BaseTableConstraintsColumnsEqual):
    """A contract of a table: order, names and types of columns."""


class TestViewConstraintsColumnsEqual(TypesOfSpark, BaseViewConstraintsColumnsEqual):
    """A contract of a view."""


class TestIncrementalConstraintsColumnsEqual(TypesOfSpark, BaseIncrementalConstraintsColumnsEqual):
    """A contract of an incremental model."""


class TestTableConstraintsDdl(BaseConstraintsRuntimeDdlEnforcement):
    """The statement that creates a table with constraints."""

    @pytest.fixture(scope="class")
    def models(self) -> Any:
        return {
            "my_model.sql": fixtures.my_model_wrong_order_depends_on_fk_sql,
            "foreign_key_model.sql": fixtures.foreign_key_model_sql,
            "constraints_schema.yml": fixtures.model_fk_constraint_schema_yml,
        }

    @pytest.fixture(scope="class")
    def expected_sql(self) -> Any:
        return created(OF_COLUMN, ROWS)


class TestIncrementalConstraintsDdl(BaseIncrementalConstraintsRuntimeDdlEnforcement):
    """The statement that creates the table of an incremental model."""

    @pytest.fixture(scope="class")
    def models(self) -> Any:
        return {
            "my_model.sql": fixtures.my_model_incremental_wrong_order_depends_on_fk_sql,
            "foreign_key_model.sql": fixtures.foreign_key_model_sql,
            "constraints_schema.yml": fixtures.model_fk_constraint_schema_yml,
        }

    @pytest.fixture(scope="class")
    def expected_sql(self) -> Any:
        return created(OF_COLUMN, ROWS) if is_stock() else created(OF_COLUMN, OWN_ROWS, **OWN)


class TestModelConstraintsDdl(BaseModelConstraintsRuntimeEnforcement):
    """Constraints of several columns."""

    @pytest.fixture(scope="class")
    def models(self) -> Any:
        return {
            "my_model.sql": fixtures.my_model_wrong_order_depends_on_fk_sql,
            "foreign_key_model.sql": fixtures.foreign_key_model_sql,
            "constraints_schema.yml": fixtures.constrained_model_schema_yml,
        }

    @pytest.fixture(scope="class")
    def expected_sql(self) -> Any:
        return created(OF_TABLE, ROWS)


class TestConstraintQuotedColumn(BaseConstraintQuotedColumn):
    """A constraint of a column whose name is a reserved word."""

    @pytest.fixture(scope="class")
    def models(self) -> Any:
        return {
            "my_model.sql": fixtures.my_model_with_quoted_column_name_sql,
            "constraints_schema.yml": QUOTED_YML,
        }

    @pytest.fixture(scope="class")
    def expected_sql(self) -> Any:
        return created(QUOTED, QUOTED_ROWS)


class TestTableConstraintsRollback(ErrorsOfSpark, BaseConstraintsRollback):
    """A table whose new rows break a constraint."""

    @pytest.fixture(scope="class")
    def models(self) -> Any:
        return {
            "my_model.sql": fixtures.my_model_sql,
            "constraints_schema.yml": fixtures.model_schema_yml,
        }

    @pytest.fixture(scope="class")
    def expected_color(self) -> Any:
        """dbt-spark adds the constraints when the table is already replaced."""
        return "red" if is_stock() else "blue"


class TestIncrementalConstraintsRollback(ErrorsOfSpark, BaseIncrementalConstraintsRollback):
    """An incremental model whose new rows break a constraint."""

    @pytest.fixture(scope="class")
    def models(self) -> Any:
        return {
            "my_model.sql": fixtures.my_incremental_model_sql,
            "constraints_schema.yml": fixtures.model_schema_yml,
        }


class TestTableContractSqlHeader(BaseTableContractSqlHeader):
    """A contract of a table whose query needs a sql_header."""

    @pytest.fixture(scope="class")
    def models(self) -> Any:
        return header_models("table")


class TestIncrementalContractSqlHeader(BaseIncrementalContractSqlHeader):
    """The same, of an incremental model."""

    @pytest.fixture(scope="class")
    def models(self) -> Any:
        return header_models("incremental")


class TestIncrementalForeignKeyConstraint(BaseIncrementalForeignKeyConstraint):
    """A foreign key of an incremental model."""
