"""Commands and flags: clone, debug, show, --empty, --sample, query comments."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.dbt_clone.test_dbt_clone import (
    BaseCloneNotPossible,
    BaseClonePossible,
    BaseCloneSameSourceAndTarget,
    BaseCloneSameTargetAndState,
)
from dbt.tests.adapter.dbt_debug.test_dbt_debug import BaseDebugInvalidProjectPostgres, BaseDebugPostgres
from dbt.tests.adapter.dbt_show.test_dbt_show import (
    BaseShowDoesNotHandleDoubleLimit,
    BaseShowLimit,
    BaseShowSqlHeader,
)
from dbt.tests.adapter.empty import _models
from dbt.tests.adapter.empty.test_empty import (
    BaseTestEmpty,
    BaseTestEmptyInlineSourceRef,
    BaseTestEmptySeedFlag,
    MetadataWithEmptyFlag,
)
from dbt.tests.adapter.query_comment.test_query_comment import (
    BaseEmptyQueryComments,
    BaseMacroArgsQueryComments,
    BaseMacroInvalidQueryComments,
    BaseMacroQueryComments,
    BaseNullQueryComments,
    BaseQueryComments,
)
from dbt.tests.adapter.sample_mode.test_sample_mode import BaseSampleModeTest

from tests.night import nightly

pytestmark = [pytest.mark.R1, nightly("adapter")]


class TestClonePossible(BaseClonePossible):
    """`dbt clone` of tables and views."""


class TestCloneNotPossible(BaseCloneNotPossible):
    """`dbt clone` where tables cannot be cloned."""


class TestCloneSameSourceAndTarget(BaseCloneSameSourceAndTarget):
    """`dbt clone` of a table to itself."""


class TestCloneSameTargetAndState(BaseCloneSameTargetAndState):
    """`dbt clone` whose state is its target folder."""


class TestDebug(BaseDebugPostgres):
    """`dbt debug`."""


class TestDebugInvalidProject(BaseDebugInvalidProjectPostgres):
    """`dbt debug` of a broken project."""


class TestShowLimit(BaseShowLimit):
    """`dbt show --limit`."""


class TestShowSqlHeader(BaseShowSqlHeader):
    """`dbt show` of a model with a sql_header."""


class TestShowDoesNotHandleDoubleLimit(BaseShowDoesNotHandleDoubleLimit):
    """`dbt show` of a query with a limit."""

    DATABASE_ERROR_MESSAGE = "limit"


class TestEmpty(BaseTestEmpty):
    """`dbt run --empty`."""


class TestEmptyInlineSourceRef(BaseTestEmptyInlineSourceRef):
    """`dbt run --empty` with a source in the query."""


class TestEmptySeedFlag(BaseTestEmptySeedFlag):
    """`dbt seed --empty`."""


class TestMetadataWithEmptyFlag(MetadataWithEmptyFlag):
    """Statements about relations in a run with `--empty`."""

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        """With Spark's types; Spark drops no columns."""
        dropped = "{% do alter_relation_add_remove_columns(my_seed, none, [my_column]) %}\n"
        return {
            "schema.yml": _models.SCHEMA,
            "control.sql": _models.CONTROL,
            "get_columns_in_relation.sql": _models.GET_COLUMNS_IN_RELATION,
            "alter_column_type.sql": _models.ALTER_COLUMN_TYPE.replace("varchar", "string"),
            "alter_relation_comment.sql": _models.ALTER_RELATION_COMMENT,
            "alter_column_comment.sql": _models.ALTER_COLUMN_COMMENT,
            "alter_relation_add_remove_columns.sql": _models.ALTER_RELATION_ADD_REMOVE_COLUMNS.replace(
                dropped, ""
            ).replace("varchar", "string"),
            "truncate_relation.sql": _models.TRUNCATE_RELATION,
        }


class TestSampleModeTest(BaseSampleModeTest):
    """`dbt run --sample`."""


class TestQueryComments(BaseQueryComments):
    """A query comment."""


class TestMacroQueryComments(BaseMacroQueryComments):
    """A query comment from a macro."""


class TestMacroArgsQueryComments(BaseMacroArgsQueryComments):
    """A query comment from a macro with arguments."""


class TestMacroInvalidQueryComments(BaseMacroInvalidQueryComments):
    """A query comment from a macro that fails."""


class TestNullQueryComments(BaseNullQueryComments):
    """No query comment."""


class TestEmptyQueryComments(BaseEmptyQueryComments):
    """An empty query comment."""
