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


DOTS = "Spark takes the dots in the name of a table for those between schemas"
DATABASE_ERROR = "dbt-spark raises a runtime error where the test expects a database error"
NO_MATERIALIZED_VIEWS = "Spark has no materialized views"
NOT_NULL = Difference(stock="dbt-spark runs `set not null`, which Delta outside of Databricks refuses")
HEADER = Difference(stock="dbt-spark sends the header and the query as one statement")
NO_SUCH_STRATEGY = Difference(stock="an error, as the test wants, but in another sentence")
LONG = Difference(stock="the catalog says `long` for a column of a view, `bigint` for one of a table")
KINDS = Difference(stock="`is_string()`, `is_integer()` and `is_numeric()` do not know Spark's types")
CLONE = Difference(stock="Delta does not clone into a table that has rows")
SAME_TABLE = Difference(stock="it clones the table onto itself")
EMPTY = Difference(stock="with `--empty`, it describes and alters a subquery instead of the table")
NONE = "NULL in a seed becomes the text `None`"
SEED = Difference(stock=NONE)
COMMENTS = Difference(stock="the catalog of `dbt docs` has no comments")
REPEATED = Difference(
    "refused: two rows with one `unique_key` have no right order; stock writes both in the first run", NONE
)
UNREADABLE = "the error is a stack trace of Spark that does not name the column"
NO_COLUMN = Difference(
    "refused by the first run; the test expects that only the second run fails", UNREADABLE
)
NEW_RECORD = Difference(stock="the record of a deletion is NULL in all columns")

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
    "TestTableConstraintsColumnsEqual::test__constraints_wrong_column_order": NOT_NULL,
    "TestIncrementalConstraintsColumnsEqual::test__constraints_wrong_column_order": NOT_NULL,
    "TestTableConstraintsDdl::test__constraints_ddl": NOT_NULL,
    "TestIncrementalConstraintsDdl::test__constraints_ddl": NOT_NULL,
    "TestModelConstraintsDdl::test__model_constraints_ddl": NOT_NULL,
    "TestConstraintQuotedColumn::test__constraints_ddl": NOT_NULL,
    "TestTableConstraintsRollback::test__constraints_enforcement_rollback": NOT_NULL,
    "TestIncrementalConstraintsRollback::test__constraints_enforcement_rollback": NOT_NULL,
    "TestIncrementalForeignKeyConstraint::test_incremental_foreign_key_constraint": NOT_NULL,
    "TestTableContractSqlHeader::test__contract_sql_header": HEADER,
    "TestIncrementalContractSqlHeader::test__contract_sql_header": HEADER,
    "TestIncrementalBadStrategy::test_incremental_invalid_strategy": NO_SUCH_STRATEGY,
    "TestDocsGenerate::test_run_and_generate_no_compile": LONG,
    "TestDocsGenerate::test_run_and_generate": LONG,
    "TestDocsGenReferences::test_references": LONG,
    "TestColumnTypes::test_run_and_test": KINDS,
    "TestClonePossible::test_can_clone_true": CLONE,
    "TestCloneSameSourceAndTarget::test_clone_same_source_and_target": SAME_TABLE,
    "TestCloneSameTargetAndState::test_clone_same_target_and_state": Difference(
        tidemark="dbt warns that the state is its target folder, and each table is left as it is; the test "
        "expects an error, which on stock comes from a view that would select from itself"
    ),
    "TestMetadataWithEmptyFlag::test_run": EMPTY,
    "TestBasicSeedTests::test_simple_seed": SEED,
    "TestBasicSeedTests::test_simple_seed_full_refresh_flag": SEED,
    "TestSeedConfigFullRefreshOn::test_simple_seed_full_refresh_config": SEED,
    "TestSeedConfigFullRefreshOff::test_simple_seed_full_refresh_config": SEED,
    "TestSeedCustomSchema::test_simple_seed_with_schema": SEED,
    "TestSeedCustomSchema::test_simple_seed_with_drop_and_schema": SEED,
    "TestSeedWithUniqueDelimiter::test_seed_with_unique_delimiter": SEED,
    "TestSimpleSeedWithBOM::test_simple_seed": SEED,
    "TestIncrementalUniqueKey::test__trinary_unique_key_list": SEED,
    "TestPersistDocs::test_has_comments_pglike": COMMENTS,
    "TestPersistDocsColumnMissing::test_missing_column": COMMENTS,
    "TestPersistDocsCommentOnQuotedColumn::test_quoted_column_comments": COMMENTS,
    "TestStoreTestFailuresAsGeneric::test_tests_run_successfully_and_are_stored_as_expected": SEED,
    "TestSnapshotInvalidColumnNames::test_snapshot_invalid_column_names": Difference(
        stock="a snapshot without `file_format`, which the test removes, is refused"
    ),
    "TestSnapshotMultiUniqueKey::test_multi_column_unique_key": Difference(
        stock="it adds the columns by which dbt compares a key of several columns to the table twice"
    ),
    "TestSnapshotNewRecordTimestampMode::test_snapshot_new_record_mode": NEW_RECORD,
    "TestSnapshotNewRecordCheckMode::test_snapshot_new_record_mode": NEW_RECORD,
    "TestSnapshotNewRecordDbtValidToCurrent::test_snapshot_new_record_mode": NEW_RECORD,
    "TestReplace::test_build_assert_equal": SEED,
    "TestRight::test_build_assert_equal": SEED,
    "TestSplitPart::test_build_assert_equal": SEED,
}
