"""The static checks, as the run does them."""

from typing import Any

from dbt_bouncer.check_framework.decorator import check, fail

from tidemark.engine.sqlcheck.models import findings_of


@check
def check_model_sql_can_equal_a_rebuild(model: Any, ctx: Any) -> None:
    """Nothing in the model's SQL keeps its table from being what a rebuild gives: docs/static_checks.md."""
    found = findings_of(ctx.manifest_obj.manifest, model.unique_id)
    if found:
        fail(f"`{model.original_file_path}`: {'; '.join(map(str, found))}")
