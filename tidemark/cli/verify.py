"""`tidemark verify`: compare tables with their rebuild, with one line of output for each table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark.base.clock import utc_now
from tidemark.base.errors import TidemarkError
from tidemark.base.output import output
from tidemark.cli.opening import opened_with
from tidemark.cli.options import Models, Select, Variables, selectors
from tidemark.cli.repair import repaired
from tidemark.cli.verdicts import check, show_each, shown
from tidemark.engine.dbt_core.texts import variables_in
from tidemark.engine.project import Project
from tidemark.engine.project.session import warm_session
from tidemark.engine.verify.proofs import Proofs, share_proved
from tidemark.engine.verify.recorded import verify_all, verify_changed
from tidemark.engine.verify.sampling import verify_share, verify_within
from tidemark.engine.verify.slices import SLICES, ruled_out, seconds_of, share_of
from tidemark.engine.verify.verdict import Verdict
from tidemark.engine.verify.verify import models_with_tables
from tidemark.engine.verify.verify import verify as verify_models

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def verify(  # noqa: PLR0913, PLR0917
    models: Models = None,
    select: Select = None,
    variables: Variables = "{}",
    changed: Annotated[
        bool, typer.Option("--changed", help="Prove the keys that changes touched since the last such proof.")
    ] = False,
    sample: Annotated[str, typer.Option(help="Prove this share of each table, such as 5%.")] = "",
    budget: Annotated[
        str, typer.Option(help="Prove as much as this time allows, such as 60s or 10m; oldest proof first.")
    ] = "",
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Write the rows that differ, run what reads them, and prove again."),
    ] = False,
) -> None:
    """Prove tables: compare each, row by row, with a rebuild from the source versions that it has read."""
    if sum(map(bool, (changed, sample, budget))) > 1:
        raise TidemarkError(
            "--changed, --sample and --budget each say how much to prove.", "Give one of them."
        )
    share, seconds = share_of(sample) if sample else 0, seconds_of(budget) if budget else 0
    selection = selectors(models, select)
    given = variables_in(variables)
    project = opened_with(given, locked=repair)
    spark = warm_session(project.root, may_be_remote=not repair)
    if not (changed or share or seconds or repair):
        show_each(spark, verify_models(spark, selection, given), project)
        return
    chosen, ops = models_with_tables(spark, selection, given), project.ops_schema
    if changed:
        verdicts = verify_changed(spark, ops, chosen)
    elif share:
        verdicts = verify_share(spark, ops, chosen, share)
    else:
        verdicts = verify_within(spark, ops, chosen, seconds) if seconds else verify_all(spark, ops, chosen)
    found = [*shown(verdicts)]
    if repair:
        found = repaired(spark, project, found, given)
    check(spark, found, project)
    if share or seconds:
        show_share(spark, project, found)


def show_share(spark: SparkSession, project: Project, verdicts: Sequence[Verdict]) -> None:
    """Print what a sample without a difference rules out, and how much of each table was proved of late."""
    tables = sorted({one.table for one in verdicts})
    share = share_proved(tables, Proofs(spark, project.ops_schema).newest(), utc_now())
    rows = sum(verdict.rows for verdict in verdicts)
    if found := ruled_out(rows):
        output.text(f"{found[0].upper()}{found[1:]}.", "ruled out", rows=rows)
    for table, number in share.slices.items():
        output.text(f"  {table}: {number} of {SLICES} slices proved within 7 days", "proved", table=table)
