"""The table of docs/dbt_features.md: what dbt's features and options do here, and the test that shows it."""

from __future__ import annotations

from dataclasses import dataclass

LAKE = "tests/lakehouse/test_dbt_features.py::"
HERE = "tests/tidemark/engine/adapter/test_dbt_features.py::"
SETTINGS = "tests/lakehouse/test_model_settings.py::test_each_setting_is_followed_or_refused_by_name"
WAYS = "tests/lakehouse/test_ways.py::"
DEFER = f"{LAKE}test_deferred_tables_are_read_by_their_changes"
CLONE = f"{LAKE}test_a_clone_is_completed_by_the_next_run"
MANY = f"{LAKE}test_commands_and_options"
BATCH = f"{LAKE}test_one_batch_is_retried"
READS = f"{LAKE}test_commands_that_read"
LISTED = f"{HERE}test_features_that_dbt_parses"
STATE = f"{HERE}test_state_is_compared_as_in_dbt"
STOCK = "works as in stock dbt"


@dataclass(frozen=True)
class Feature:
    """A row of the page.

    Attributes:
        name: the feature in dbt's words.
        effect: what it does here: works, works as in stock, or is refused, with the fix.
        test: the file that shows it, and its function after `::`.
        options: the options of dbt's command line that it covers, with spaces between them.
    """

    name: str
    effect: str
    test: str
    options: str = ""


FEATURES = (
    Feature(
        "`--empty`",
        "works. A model's new table is empty and leaves no checkpoint; over a table with rows nothing is "
        "written. A seed is emptied, as by dbt 1.12. The next run without it completes both. A snapshot with "
        "`hard_deletes` is refused",
        MANY,
        "--empty",
    ),
    Feature(
        "`--sample`",
        "works in a schema of its own; over a complete table the run stops "
        "([plain_models.md](plain_models.md#samples))",
        f"{WAYS}test_each_model_is_written_in_its_own_way",
        "--sample",
    ),
    Feature(
        "`dbt clone`",
        "works on Delta: a shallow clone. Refused on Iceberg: use `--defer`. [See below](#clones)",
        CLONE,
    ),
    Feature(
        "`--defer`, `--favor-state`",
        "works. Checkpoints name the table that was read, of any schema. [See below](#deferral)",
        DEFER,
        "--defer --defer-state --favor-state --state --deprecated-defer --deprecated-favor-state "
        "--deprecated-state",
    ),
    Feature(
        "`state:modified`, its parts, `state:new`, `state:old`, `state:unmodified`",
        f"{STOCK}. An incremental model needs no `--full-refresh` after a change: the run rebuilds it "
        "([incremental.md](incremental.md#changed-code))",
        STATE,
    ),
    Feature("`result:error+`, `dbt retry`", "works, also for single batches of `microbatch`", MANY),
    Feature(
        "`dbt retry` after a killed command",
        "dbt writes results when a command ends: `Could not find previous run`, or an older command is "
        "repeated. Run the killed command again instead",
        f"{HERE}test_a_retry_needs_results",
    ),
    Feature("`source_status:fresher+`", STOCK, STATE),
    Feature(
        "`dbt source freshness`",
        "works. Without `loaded_at_field` and `loaded_at_query`, the newest commit that may have changed "
        "rows counts; a view is refused",
        MANY,
    ),
    Feature(
        "`--store-failures`",
        "works. Such tests always run their query, also where a proof would answer them",
        f"{WAYS}test_stored_failures_are_those_of_dbt",
        "--store-failures",
    ),
    Feature(
        "`--full-refresh` of one model",
        "works. Its readers compute in full once, and write the difference",
        f"{WAYS}test_rows_of_other_writers_stay",
        "--full-refresh -f",
    ),
    Feature("model versions, `latest_version_pointer`, `defined_in`, `deprecation_date`", "works", MANY),
    Feature("groups, `access`", STOCK, LISTED),
    Feature("exposures", STOCK, READS),
    Feature(
        "semantic models, metrics, saved queries",
        f"{STOCK}: parsed, listed, and named as `NO-OP` by `dbt build`. "
        "Exports are made by dbt's platform only",
        READS,
        "--export-saved-queries --include-saved-query",
    ),
    Feature("unit tests: overrides, fixtures in CSV and SQL, ephemeral inputs", "works", READS),
    Feature("ephemeral models", "works: a run looks through them", MANY),
    Feature(
        "`changes()` of an ephemeral model",
        "works: it reads the changes of the model's table ([staging models](models.md#staging-models))",
        "tests/lakehouse/test_staging_models.py::test_a_staging_model_is_a_relation",
    ),
    Feature("settings of models", "[model_settings.md](model_settings.md)", SETTINGS),
    Feature(
        "Python models", "refused: dbt-spark runs them on Databricks only. Write the model in SQL", SETTINGS
    ),
    Feature(
        "functions (`functions/`)",
        "refused: dbt-spark does not create them. Write the expression in a macro",
        MANY,
    ),
    Feature(
        "`catalogs.yml`, `catalog_name`",
        "refused: all tables are in the catalog of the target, which profiles.yml names",
        f"{HERE}test_catalogs_are_refused",
    ),
    Feature(
        "`microbatch`, `--event-time-start`, `--event-time-end`",
        "works as in stock dbt, not proven. `concurrent_batches`: one after the other, as dbt-spark does "
        "not declare that batches may run at once",
        BATCH,
        "--event-time-start --event-time-end",
    ),
    Feature("snapshots: `check`, `timestamp`, `hard_deletes`", "works", READS),
    Feature(
        "hooks of models, `on-run-start`, `on-run-end`",
        "works. Transactions do not exist: `transaction: false` changes nothing",
        f"{WAYS}test_a_command_has_only_its_own_results",
    ),
    Feature(
        "`dbt show`, `dbt compile`",
        "works",
        READS,
        "--inline --inline-direct --introspect --limit --output --inject-ephemeral-ctes",
    ),
    Feature(
        "`dbt docs generate`",
        "works. On Iceberg the catalog has the tables, and no views",
        READS,
        "--static --empty-catalog --compile",
    ),
    Feature("`dbt run-operation`", "works", READS, "--args --sql"),
    Feature(
        "`dbt seed`",
        "works: a seed is written only if its file has changed",
        MANY,
    ),
    Feature(
        "`dbt seed --show`",
        "works, also in a project with hooks, where stock dbt ends with a stack trace",
        f"{HERE}test_seeds_are_shown_in_a_project_with_hooks",
        "--show",
    ),
    Feature(
        "`grants`",
        "refused with `method: session` in models, seeds and snapshots: that Spark has no GRANT. Delete the "
        "setting, or use a Thrift server with an authorizer",
        MANY,
    ),
    Feature(
        "selection, `selectors.yml`, `dbt ls --output json`",
        STOCK,
        LISTED,
        "--select -s --models --model -m --exclude --selector --indirect-selection --resource-type "
        "--resource-types --exclude-resource-type --exclude-resource-types --cache-selected-only "
        "--populate-cache",
    ),
    Feature("`--vars`", "works: a model whose variable has another value is rebuilt", MANY, "--vars"),
    Feature(
        "`--threads`, `--fail-fast`",
        "works. One table is written by one thread, and all threads share one session of Spark",
        f"{HERE}test_each_option_of_dbt_is_in_the_table",
        "--threads --single-threaded --fail-fast -x",
    ),
    Feature(
        "profiles, targets, folders, parsing",
        STOCK,
        LISTED,
        "--profile --profiles-dir --project-dir --target -t --target-path --partial-parse "
        "--partial-parse-file-diff --partial-parse-file-path --static-parser --sqlparse "
        "--use-experimental-parser --use-fast-test-edges --version-check --write-json",
    ),
    Feature(
        "output, logs, warnings",
        STOCK,
        LISTED,
        "--log-format --log-format-file --log-level --log-level-file --log-path --quiet -q "
        "--log-cache-events --log-file-max-bytes --print --deprecated-print --printer-width --debug -d "
        "--use-colors --use-colors-file --warn-error --warn-error-options --show-all-deprecations "
        "--macro-debugging --record-timing-info -r --hints-enabled --version -V -v "
        "--send-anonymous-usage-stats --upload-to-artifacts-ingest-api",
    ),
    Feature(
        "dbt's v2 parser",
        "refused: it loads no adapters in Python",
        f"{HERE}test_the_v2_parser_is_refused",
        "--use-v2-parser --v2-parser",
    ),
    Feature(
        "options of other warehouses and of single commands",
        STOCK,
        f"{HERE}test_each_option_of_dbt_is_in_the_table",
        "--snowflake-projects-otel --maximum-seed-size-mib -o",
    ),
)
