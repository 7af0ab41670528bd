"""`dbt build`, with one line of output for each table."""

from __future__ import annotations

import time
from collections.abc import Sequence

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
