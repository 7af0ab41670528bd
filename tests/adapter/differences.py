"""The tests that fail on purpose or for a known reason, on Tidemark and on stock dbt-spark."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """Why a test fails; an empty text says that it passes.

    Attributes:
        tidemark: why it fails on `type: tidemark`.
        stock: why it fails on dbt-spark.
    """

    tidemark: str = ""
    stock: str = ""


REPEATED = Difference(
    "refused: two rows with one `unique_key` have no right order; stock writes both in the first run"
)
NO_COLUMN = Difference("refused by the first run; the test expects that only the second run fails")
DOTS = "Spark takes the dots in the name of a table for those between schemas"
DATABASE_ERROR = "dbt-spark raises a runtime error where the test expects a database error"
NO_MATERIALIZED_VIEWS = "Spark has no materialized views"

DIFFERENCES: dict[str, Difference] = {
    "TestIncrementalUniqueKey::test__bad_unique_key": NO_COLUMN,
    "TestIncrementalUniqueKey::test__bad_unique_key_list": NO_COLUMN,
    "TestIncrementalUniqueKey::test__one_unique_key": REPEATED,
    "TestIncrementalUniqueKey::test__unary_unique_key_list": REPEATED,
    "TestIncrementalUniqueKey::test__duplicated_unary_unique_key_list": REPEATED,
    "TestAfterRunHooks::test_missing_column_pre_hook": Difference(DATABASE_ERROR, DATABASE_ERROR),
    "TestSeedSpecificFormats::test_simple_seed": Difference(f"refused by name: {DOTS}", DOTS),
    "TestSimpleCopy::test_simple_copy_with_materialized_views": Difference(
        NO_MATERIALIZED_VIEWS, NO_MATERIALIZED_VIEWS
    ),
}
