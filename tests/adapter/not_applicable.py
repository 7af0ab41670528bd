"""Classes of dbt-tests-adapter that do not apply to Spark, and why."""

from __future__ import annotations

FUNCTIONS = "dbt-spark has no macros that create functions, and with Delta, Spark creates none in SQL"
GRANTS = (
    "Spark knows no GRANT without an authorizer; Tidemark refuses `grants` with `method: session` by name"
)
MATERIALIZED_VIEWS = "Spark has no materialized views; Tidemark refuses the setting"
PYTHON = "dbt-spark runs Python models on Databricks only; Tidemark refuses them with `method: session`"

# a folder, a module or a class of dbt.tests.adapter
NOT_APPLICABLE = {
    "aliases.test_aliases.BaseSameAliasDifferentDatabases": "dbt-spark has schemas, but no databases",
    "basic.test_get_catalog_for_single_relation": "dbt-spark has no `get_catalog_for_single_relation`",
    "functions": FUNCTIONS,
    "grants": GRANTS,
    "materialized_view": MATERIALIZED_VIEWS,
    "python_model": PYTHON,
    "utils.test_current_timestamp.BaseCurrentTimestampAware": "Spark's timestamps carry no zone",
    "utils.test_escape_single_quotes.BaseEscapeSingleQuotesQuote": "Spark escapes a quote by a backslash",
}


def reason_for(name: str) -> str:
    """Return why a class does not apply, or an empty text for one that does.

    Args:
        name: the class with its module below dbt.tests.adapter.
    """
    parts = name.split(".")
    known = (NOT_APPLICABLE.get(".".join(parts[:length])) for length in range(1, len(parts) + 1))
    return next((reason for reason in known if reason), "")
