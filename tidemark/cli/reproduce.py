"""`tidemark reproduce`: build a run's tables once more and compare them, with one line for each table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemark.base.errors import UnprovenError, VerificationError
from tidemark.base.output import count_of, output
from tidemark.cli.opening import opened_to_read
from tidemark.cli.options import Run
from tidemark.cli.verdicts import show_difference
from tidemark.engine.dbt_core.texts import variables_in
from tidemark.engine.project import Project
from tidemark.engine.project.session import warm_session
from tidemark.engine.runs.reproduce import Reproduction

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def reproduce(
    run: Run,
    allow_dirty: Annotated[
        bool,
        typer.Option("--allow-dirty", help="Build with the commit's files if the run's files differed."),
    ] = False,
    variables: Annotated[
        str, typer.Option("--vars", help="Secret variables as {name: value}; runs do not record them.")
    ] = "{}",
) -> None:
    """Build a run's tables as queries, from its commit and the versions that it read; compare row by row."""
    given = variables_in(variables)
    lakehouse = opened_to_read()
    spark = warm_session(lakehouse.root, may_be_remote=True)
    reproduce_run(spark, lakehouse, run, allow_dirty=allow_dirty, variables=given)


def reproduce_run(
    spark: SparkSession,
    project: Project,
    name: str,
    *,
    allow_dirty: bool = False,
    variables: Mapping[str, Any] | None = None,
) -> None:
    """Compare the tables that a run wrote with what its code gives on the versions that it read.

    Args:
        spark: the session.
        project: the project.
        name: the beginning of a run's invocation_id, or `last`.
        allow_dirty: whether the run's files may have differed from its commit.
        variables: values of `--vars` that the run did not record.

    Raises:
        VerificationError: when a table differs.
        UnprovenError: when no table differs, but a model cannot be compared.
        TidemarkError: if the run cannot be built.
    """
    reproduction = Reproduction(spark, project, name, variables)
    reproduction.check(allow_dirty=allow_dirty)
    run, commit = reproduction.run, reproduction.commit
    output.note("reproducing", f"{run.label} from commit {commit[:12]}", run=run.id, commit=commit)
    if changed := reproduction.changed:
        output.note("changed since then", ", ".join(changed), changed=changed)
    differing, unproven = [], []
    for found in reproduction.tables():
        verdict = found.verdict
        message = verdict.message
        if verdict.unproven:
            message = f"not reproduced: {verdict.unproven}"
            unproven += [verdict.table] if found.is_model else []
        output.row("reproduced", verdict.table, message, verdict.seconds, **verdict.facts)
        for difference in verdict.shown:
            show_difference(difference)
        differing += [verdict.table] if verdict.differing else []
    if differing:
        raise VerificationError(
            f"{count_of(len(differing), 'table')} of the run {run.label} not reproduced: "
            f"{', '.join(differing)}.",
            "Something else wrote to it before the run, its SQL has a value that changes by itself, or an "
            "environment variable had another value. `tidemark verify` tells whether it is right now.",
        )
    if unproven:
        raise UnprovenError(
            f"No row differs, but {count_of(len(unproven), 'table')} of the run cannot be compared: "
            f"{', '.join(unproven)}.",
            "See the lines above for the reason. `tidemark maintain` decides how long versions are kept.",
        )
