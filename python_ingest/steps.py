"""The steps of a run, and what they print."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.filesize import decimal

from python_ingest import maintenance
from python_ingest.build import Built
from python_ingest.build import build as dbt_build
from python_ingest.changed_code import changed_models
from python_ingest.errors import DbtError, TidemarkError, UnprovenError, VerificationError
from python_ingest.explain import explain as explain_models
from python_ingest.output import count_of, output
from python_ingest.project import Project
from python_ingest.scaffold.writing import add as add_feed
from python_ingest.session import warm_session
from python_ingest.verify import Difference, Verdict
from python_ingest.verify import verify as verify_models

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DATA_ONLY = ("--exclude-resource-type", "unit_test")  # unit tests look at SQL, not at data


def add(path: Path, name: str | None, project: Project, key: Sequence[str] = ()) -> None:
    """Declare a feed from sample files, and print what was written and what to look at.

    Args:
        path: a file of the feed, or the folder of its files.
        name: the feed's name; proposed from the files' names when it is None.
        project: the project.
        key: the columns that tell records apart; found in the files when there are none.

    Raises:
        TidemarkError: when the files do not tell, or the feed is there already.
    """
    feed, files = add_feed(path, name, key, project.feeds, lambda: warm_session(project.root))
    for file in files:
        output.text(f"  wrote {file}", "wrote", file=file)
    for event, said in feed.notes:
        output.note(event, said)
    newest = f"the newest row (by {feed.newest_by.name})" if feed.newest_by else "the row that landed last"
    output.text(
        f"Keeps {newest} for each {', '.join(feed.key_names)}; `--key` takes other columns.\n"
        f"Check the types and the rules in macros/staging/staged_{feed.name}.sql.\n"
        f"Describe the columns in the .yml files; then:\n  tidemark land {feed.name}\n"
        f"  dbt build --select source:bronze.{feed.name}+"
    )


def compact(spark: SparkSession, project: Project, names: Sequence[str]) -> None:
    """Compact tables and print a line for each.

    Args:
        spark: the session.
        project: the project.
        names: tables, `schema.name`; empty for all.
    """
    for done in maintenance.compact(spark, maintenance.chosen_tables(spark, project.tables, names)):
        rewritten = f"{count_of(done.before, 'file')} into {done.after:,}" if done.before else "no change"
        output.row("compacted", done.table, rewritten, done.seconds, before=done.before, after=done.after)


def expire(spark: SparkSession, project: Project, names: Sequence[str], hours: int) -> None:
    """Expire old versions of tables and print a line for each.

    Args:
        spark: the session.
        project: the project.
        names: tables, `schema.name`; empty for all.
        hours: how far back versions are kept.

    Raises:
        TidemarkError: when a model has yet to read what would go; the other tables are done by then.
    """
    unread = []
    chosen = maintenance.chosen_tables(spark, project.tables, names)
    for done in maintenance.expire(spark, chosen, hours, project.ops_schema):
        said = f"{count_of(done.before, 'file')} deleted" if done.before else "no change"
        output.row("expired", done.table, "kept" if done.unread else said, done.seconds, files=done.before)
        unread += [f"{done.table} by {reader}" for reader in done.unread]
    if unread:
        raise TidemarkError(
            f"Versions older than {hours} hours are not read yet: {'; '.join(unread)}.",
            "Run these models first, or keep more hours: else they would have to be rebuilt.",
        )


def rebuild(models: Sequence[str], first: str, last: str) -> Built:
    """Replay a range of dates from the sources, as of the versions that each model has read.

    Args:
        models: dbt selectors.
        first: the first date, yyyy-mm-dd.
        last: the last date, which is included.

    Raises:
        DbtError: when a model cannot be rebuilt so, or fails.
    """
    bounds = json.dumps({"rebuild_from": first, "rebuild_to": last})
    return build([*DATA_ONLY, "--select", *models, "--vars", bounds])


def build(options: Sequence[str] = (), project: Project | None = None) -> Built:
    """Run `dbt build` and print a line for each table, then the tests.

    Args:
        options: the words after `dbt build`.
        project: the project, if it has been parsed.

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
        output.row("built", table.table, table.said, table.seconds, rows=table.rows)
    for name, message in built.warned:
        output.note("warning", f"{name}: {message}", node=name)
    for name, message in built.failed:
        output.note("failed", name, style="red", node=name)
        output.text(message, "message", node=name)
    output.row("tested", "dbt build", f"{built.passed} tests passed", time.monotonic() - started)
    if built.failed:
        raise DbtError(
            f"{len(built.failed)} of dbt's nodes failed, {built.skipped} were skipped after them.",
            "Mend what is named above and run again: what succeeded is kept, the rest resumes.",
        )
    return built


def verify(spark: SparkSession, selection: Sequence[str], project: Project | None = None) -> list[Verdict]:
    """Compare tables with their rebuild and print a line for each.

    Args:
        spark: the session.
        selection: dbt selectors; empty for all models.
        project: the project, if it has been parsed: with it, changed code is told from other differences.

    Raises:
        VerificationError: when a table differs.
        UnprovenError: when none differs, but one cannot be compared.
    """
    verdicts = []
    for verdict in verify_models(spark, selection):
        verdicts.append(verdict)
        said = verdict.unproven or f"{verdict.rows:,} rows, {verdict.differing:,} rows differ"
        output.row("verified", verdict.table, said, verdict.seconds, differing=verdict.differing)
        for difference in verdict.shown:
            output.text(f"    only in the {difference.side}: {_values(difference)}", "difference")
    differing = [verdict.table for verdict in verdicts if verdict.differing]
    if differing:
        raise VerificationError(*_said_of_differing(spark, differing, project))
    unproven = [verdict.table for verdict in verdicts if not verdict.holds]
    if unproven:
        raise UnprovenError(
            f"No row differs, {count_of(len(unproven), 'table')} cannot be compared: {', '.join(unproven)}.",
            "`dbt run` brings a table up to date; a model that asks is_incremental() has to be rewritten: "
            "docs/plain_models.md.",
        )
    return verdicts


def _said_of_differing(
    spark: SparkSession, differing: Sequence[str], project: Project | None
) -> tuple[str, str]:
    """Return what to say of tables that differ, and what to do; tell of those whose code has changed."""
    changed = changed_models(spark, project, differing) if project else {}
    for table, what in changed.items():
        said = f"{table}: {what} has changed since its last run, which explains rows that differ"
        output.note("code changed", said, table=table)
    fix = (
        "If a run was cut off since, run once and verify again. A table that still differs was written "
        "by something else, or is a defect: `dbt run --full-refresh --select MODEL+` rebuilds it."
    )
    if changed:
        names = " ".join(table.partition(".")[2] for table in changed)
        fix = f"`dbt run --full-refresh --select {names}` rebuilds what has other code. {fix}"
    return f"{count_of(len(differing), 'table')} not proven: {', '.join(differing)}.", fix


def explain(spark: SparkSession, selection: Sequence[str]) -> None:
    """Print what the next run would do with each model."""
    for plan in explain_models(spark, selection):
        output.text(f"  {plan.table}")
        for read in plan.reads:
            size = f": {read.rows:,} rows, {decimal(read.bytes)}" if read.rows else ""
            output.text(f"    reads {read.source} {read.said}{size}")
            if read.touches:
                output.text(f"    goes back to {read.source} for {read.touches}")
        if plan.unproven:
            output.text("    not proven: its SQL asks is_incremental(), so nothing says what it reads")
        if plan.waits_for:
            output.text(f"    after {', '.join(plan.waits_for)}, which the run changes first")


def _values(difference: Difference) -> str:
    values = ", ".join(f"{name}={value}" for name, value in difference.row.items())
    return values if difference.copies == 1 else f"{values} ({difference.copies} times)"
