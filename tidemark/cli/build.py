"""`dbt build`, with one line of output for each table."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tidemark.base.errors import DbtError
from tidemark.base.output import output
from tidemark.engine.project import Project
from tidemark.engine.project.build import Built
from tidemark.engine.project.build import build as dbt_build

DATA_ONLY = ("--exclude-resource-type", "unit_test")  # unit tests check SQL, not data


def build_models(options: Sequence[str] = (), project: Project | None = None) -> Built:
    """Run `dbt build` and print a line for each table, then the tests.

    Args:
        options: the arguments of `dbt build`.
        project: the project, if it is already parsed.

    Raises:
        DbtError: when a node failed.
    """
    started = time.monotonic()
    manifest = project.manifest if project else None
    with output.status("dbt build") as status:
        built = dbt_build(
            options, lambda name: status.update(f"dbt build: {name}") if status else None, manifest
        )
    for table in built.tables:
        output.row("built", table.table, table.message, table.seconds, rows=table.rows)
    for name, message in built.warned:
        output.note("warning", f"{name}: {message}", node=name)
    for name, message in built.failed:
        output.note("failed", name, style="red", node=name)
        output.text(message, "message", node=name)
    output.row("tested", "dbt build", f"{built.passed} tests passed", time.monotonic() - started)
    if built.failed:
        raise DbtError(
            f"{len(built.failed)} dbt nodes failed, {built.skipped} were skipped.",
            "Fix the errors above and run again. What succeeded is kept; the rest resumes.",
        )
    return built


def rebuild_range(
    models: Sequence[str], first: str, last: str, given: Mapping[str, Any] | None = None
) -> Built:
    """Rebuild a range of dates from the source versions that each model has read.

    Args:
        models: dbt selectors.
        first: the first date, yyyy-mm-dd.
        last: the last date, inclusive.
        given: values of `--vars`.

    Raises:
        DbtError: when a model cannot be rebuilt by date, or fails.
    """
    bounds = json.dumps({**(given or {}), "rebuild_from": first, "rebuild_to": last})
    return build_models([*DATA_ONLY, "--select", *models, "--vars", bounds])


def rebuild_columns(
    models: Sequence[str],
    columns: Sequence[str],
    where: str | None = None,
    *,
    only_plan: bool = False,
    given: Mapping[str, Any] | None = None,
) -> Built:
    """Compute columns of the present rows from the source versions that each model has read.

    Args:
        models: dbt selectors.
        columns: the columns, which the tables may not have yet.
        where: a condition on columns of the tables; None for all rows.
        only_plan: whether nothing is written.
        given: values of `--vars`.

    Raises:
        DbtError: when a model differs in more than these columns, or fails.
    """
    own = {"rebuild_columns": list(columns), "rebuild_where": where, "rebuild_plan": only_plan}
    variables = {**(given or {}), **own}
    kinds = ["--exclude-resource-type", "test"] if only_plan else []
    return build_models([*DATA_ONLY, *kinds, "--select", *models, "--vars", json.dumps(variables)])
