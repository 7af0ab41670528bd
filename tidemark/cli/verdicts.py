"""The output of comparisons of tables with their rebuilds: a line each, the rows that differ, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tidemark.base.errors import UnprovenError, VerificationError
from tidemark.base.output import count_of, output
from tidemark.engine.project import Project
from tidemark.engine.project.changed_code import changed_models
from tidemark.engine.verify.verdict import Difference, Verdict
from tidemark.engine.verify.verify import verify

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def show_verdicts(
    spark: SparkSession, selection: Sequence[str], project: Project | None = None
) -> list[Verdict]:
    """Compare tables as a whole, and print a line for each.

    Args:
        spark: the session.
        selection: dbt selectors; empty for all models.
        project: as in `show_each`, which names the errors, too.
    """
    return show_each(spark, verify(spark, selection), project)


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
    verdicts = [*shown(found)]
    check(spark, verdicts, project)
    return verdicts


def shown(found: Iterable[Verdict]) -> Iterator[Verdict]:
    """Print a line for each comparison, and the rows that differ."""
    for verdict in found:
        output.row("verified", verdict.table, verdict.message, verdict.seconds, **verdict.facts)
        for difference in verdict.shown:
            show_difference(difference)
        if verdict.differing and verdict.ordered_by_chance:
            calls = ", ".join(f"{name}()" for name in verdict.ordered_by_chance)
            output.note(
                "order of rows", f"{verdict.table}: it may decide what {calls} gives", table=verdict.table
            )
        yield verdict


def check(spark: SparkSession, verdicts: Sequence[Verdict], project: Project | None = None) -> None:
    """Stop if a table differs or cannot be compared; the arguments and errors are those of `show_each`."""
    differing = sorted({verdict.table for verdict in verdicts if verdict.differing})
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
        "else wrote to it, or there is a defect: `tidemark verify MODEL --repair` writes what differs. "
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
