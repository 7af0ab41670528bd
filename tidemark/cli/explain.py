"""`tidemark explain`: what the next run would do for each model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.filesize import decimal

from tidemark.base.errors import UnprovenError
from tidemark.base.output import count_of, output
from tidemark.cli.opening import opened_with
from tidemark.cli.options import Models, Select, Variables, selectors
from tidemark.engine.dbt_core.texts import variables_in
from tidemark.engine.explain import Cost
from tidemark.engine.explain import explain as plans_of
from tidemark.engine.project.nodes import VIEWS
from tidemark.engine.project.session import warm_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def explain(models: Models = None, select: Select = None, variables: Variables = "{}") -> None:
    """Show which versions the next run would read for each model, and why. Runs nothing."""
    given, selection = variables_in(variables), selectors(models, select)
    show_plans(warm_session(opened_with(given).root, may_be_remote=True), selection, given)


def show_plans(
    spark: SparkSession, selection: Sequence[str], variables: Mapping[str, Any] | None = None
) -> None:
    """Print what the next run would do for each model.

    Args:
        spark: the session.
        selection: dbt selectors; empty for all models.
        variables: values of `--vars`.

    Raises:
        UnprovenError: when a model cannot be planned; the others are printed before.
    """
    plans = plans_of(spark, selection, variables)
    for plan in plans:
        output.text(f"  {plan.table}")
        if plan.failed is not None:
            output.text(f"    not known: {plan.failed}")
        for read in plan.reads:
            size = f": {read.rows:,} rows, {decimal(read.bytes)}" if read.rows else ""
            output.text(f"    reads {read.source} {read.message}{size}")
        for line in _costs(plan.cost):
            output.text(f"    {line}")
        if not plan.reads and plan.failed is None and not plan.unproven:
            output.text(f"    {_without_reads(plan.materialized)}")
        if plan.unproven:
            output.text(f"    not proven: {plan.unproven}")
        if plan.waits_for:
            output.text(f"    after {', '.join(plan.waits_for)}, which the run changes first")
    failed = [plan.table for plan in plans if plan.failed is not None]
    if failed:
        raise UnprovenError(
            f"Cannot plan the next run of {count_of(len(failed), 'table')}: {', '.join(failed)}.",
            "See the lines above for the reason.",
        )


def _costs(cost: Cost | None) -> Iterator[str]:
    """Yield what a plain model's way costs, in words, as far as it is known."""
    if cost is None:
        return
    if cost.joined:
        yield f"joins the changes with {decimal(cost.joined)}; all its sources have {decimal(cost.in_full)}"
    if str(cost.usual):
        yield f"its {cost.usual}" if cost.usual.increments else str(cost.usual)


def _without_reads(materialized: str) -> str:
    """Return what a run does with a model whose sources the engine does not follow."""
    if materialized in VIEWS:
        return f"{materialized}: stores no rows"
    if materialized != "incremental":
        return f"{materialized}: computed as a whole by each run"
    return "reads no table: computed as a whole"
