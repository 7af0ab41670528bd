"""`tidemark verify`: compare tables with their rebuild, with one line of output for each table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark.base.clock import utc_now
from tidemark.base.errors import TidemarkError, UnprovenError, VerificationError
from tidemark.base.output import count_of, output
from tidemark.cli.opening import opened_with
from tidemark.cli.options import Models, Variables
from tidemark.engine.dbt_core.texts import variables_in
from tidemark.engine.project import Project
from tidemark.engine.project.changed_code import changed_models
from tidemark.engine.project.session import warm_session
from tidemark.engine.verify.proofs import Proofs, recent
from tidemark.engine.verify.sampling import verify_share, verify_within
from tidemark.engine.verify.slices import SLICES, ruled_out, seconds_of, share_of
from tidemark.engine.verify.verify import Difference, Verdict, models_with_tables
from tidemark.engine.verify.verify import verify as verify_models

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def verify(
    models: Models = None,
    variables: Variables = "{}",
    sample: Annotated[str, typer.Option(help="Prove this share of each table, such as 5%.")] = "",
    budget: Annotated[
        str, typer.Option(help="Prove as much as this time allows, such as 60s or 10m; oldest proof first.")
    ] = "",
) -> None:
    """Prove tables: compare each, row by row, with a rebuild from the source versions that it has read."""
    if sample and budget:
        raise TidemarkError("--sample and --budget both say how much to prove.", "Give one of them.")
    share, seconds = share_of(sample) if sample else 0, seconds_of(budget) if budget else 0
    given = variables_in(variables)
    project = opened_with(given)
    spark, selection = warm_session(project.root, may_be_remote=True), models or []
    if share or seconds:
        chosen = models_with_tables(spark, selection, given)
        verify_part, number = (verify_share, share) if share else (verify_within, seconds)
        verdicts = verify_part(spark, project.ops_schema, chosen, number)
    else:
        verdicts = verify_models(spark, selection, given)
    found = show_each(spark, verdicts, project)
    if share or seconds:
        show_share(spark, project, found)


def show_share(spark: SparkSession, project: Project, verdicts: Sequence[Verdict]) -> None:
    """Print what a sample without a difference rules out, and how much of each table was proved of late."""
    proved, tables = Proofs(spark, project.ops_schema).newest(), {one.table for one in verdicts}
    slices = {table: recent(table, proved, utc_now()) for table in sorted(tables)}
    rows = sum(verdict.rows for verdict in verdicts)
    output.text(ruled_out(rows), "ruled out", rows=rows)
    for table, number in slices.items():
        output.text(f"  {table}: {number} of {SLICES} slices proved within 7 days", "proved", table=table)


def show_verdicts(
    spark: SparkSession, selection: Sequence[str], project: Project | None = None
) -> list[Verdict]:
    """Compare tables as a whole, and print a line for each.

    Args:
        spark: the session.
        selection: dbt selectors; empty for all models.
        project: as in `show_each`, which names the errors, too.
    """
    return show_each(spark, verify_models(spark, selection), project)


def show_each(spark: SparkSession, found: Iterable[Verdict], project: Project | None = None) -> list[Verdict]:
    """Print a line for each comparison of a table with its rebuild.

    Args:
        spark: the session.
        found: the comparisons.
        project: the project, if it is already parsed; with it, differences from changed code are explained.

    Raises:
        VerificationError: when a table differs.
        UnprovenError: when no table differs, but one cannot be compared.
    """
    verdicts = []
    for verdict in found:
        verdicts.append(verdict)
        output.row("verified", verdict.table, verdict.message, verdict.seconds, **verdict.facts)
        for difference in verdict.shown:
            show_difference(difference)
        if verdict.differing and verdict.ordered_by_chance:
            calls = ", ".join(f"{name}()" for name in verdict.ordered_by_chance)
            output.note(
                "order of rows", f"{verdict.table}: it may decide what {calls} gives", table=verdict.table
            )
    differing = [verdict.table for verdict in verdicts if verdict.differing]
    if differing:
        raise VerificationError(*_difference_message(spark, differing, project))
    unproven = [verdict.table for verdict in verdicts if not verdict.holds]
    if unproven:
        raise UnprovenError(
            f"No row differs, but {count_of(len(unproven), 'table')} cannot be compared: "
            f"{', '.join(unproven)}.",
            f"See the lines above for the reason. `dbt run` brings tables up to date. {_of_columns(verdicts)}"
            "What can be proved: docs/plain_models.md.",
        )
    return verdicts


def _of_columns(verdicts: Sequence[Verdict]) -> str:
    """Return what to do about tables that have other columns than their queries."""
    names = [one.table.partition(".")[2] for one in verdicts if one.is_outdated]
    if not names:
        return ""
    return f"To build the present columns: `dbt run --full-refresh --select {' '.join(names)}`. "


def _difference_message(
    spark: SparkSession, differing: Sequence[str], project: Project | None
) -> tuple[str, str]:
    """Return the message and the fix for tables that differ; print a note for each with changed code."""
    changed = changed_models(spark, project, differing) if project else {}
    for table, what in changed.items():
        message = f"{table}: {what} has changed since its last run, which explains rows that differ"
        output.note("code changed", message, table=table)
    fix = (
        "If the last run was interrupted, run again and verify again. If a table still differs, something "
        "else wrote to it, or there is a defect: rebuild it with `dbt run --full-refresh --select MODEL+`. "
        "To keep rows that a hook or another tool wrote: `meta: {accumulates: true}` in the model's config."
    )
    if changed:
        names = " ".join(table.partition(".")[2] for table in changed)
        fix = f"Rebuild the tables with changed code: `dbt run --full-refresh --select {names}`. {fix}"
    return f"{count_of(len(differing), 'table')} not proven: {', '.join(differing)}.", fix


def show_difference(difference: Difference) -> None:
    """Print a row that only one side has."""
    output.text(f"    only in the {difference.side}: {_values(difference)}", "difference")


def _values(difference: Difference) -> str:
    values = ", ".join(f"{name}={value}" for name, value in difference.row.items())
    return values if difference.copies == 1 else f"{values} ({difference.copies} times)"
