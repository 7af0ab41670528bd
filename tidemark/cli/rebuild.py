"""`tidemark rebuild`: compute dates or columns of tables again from the versions that models have read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Optional

import typer

from tidemark.base.errors import TidemarkError
from tidemark.cli.build import DATA_ONLY, build_models
from tidemark.cli.opening import opened
from tidemark.cli.options import Variables
from tidemark.engine.dbt_core.texts import variables_in
from tidemark.engine.project.build import Built
from tidemark.engine.project.session import warm_session


def rebuild(  # noqa: PLR0913, PLR0917
    models: Annotated[list[str], typer.Argument(help="dbt selectors, such as device_events+.")],
    first: Annotated[
        Optional[datetime], typer.Option("--from", formats=["%Y-%m-%d"], help="First date of a range.")
    ] = None,
    last: Annotated[
        Optional[datetime], typer.Option("--to", formats=["%Y-%m-%d"], help="Last date (inclusive).")
    ] = None,
    columns: Annotated[
        str,
        typer.Option(
            help="Columns to recompute for the existing rows, separated by commas. Excludes --from and --to."
        ),
    ] = "",
    where: Annotated[
        Optional[str], typer.Option(help="With --columns: a condition; only rows of it are looked at.")
    ] = None,
    only_plan: Annotated[
        bool, typer.Option("--plan", help="With --columns: show how many rows would change; write nothing.")
    ] = False,
    variables: Variables = "{}",
) -> None:
    """Rebuild a range of dates of tables, or some columns, from their sources."""
    names = [name.strip() for name in columns.split(",") if name.strip()]
    if (first is None) != (last is None) or (first is None) == (not names):
        raise TidemarkError(
            "It is not clear what to rebuild.",
            "Give either --from and --to, or --columns. For a whole table: "
            "`dbt run --full-refresh --select MODEL`.",
        )
    if (where or only_plan) and not names:
        raise TidemarkError("--where and --plan need --columns.", "Give --columns, or leave them out.")
    if first and last and first > last:
        raise TidemarkError(
            f"--from {first:%Y-%m-%d} is later than --to {last:%Y-%m-%d}.", "Swap the two dates."
        )
    given = variables_in(variables)
    lakehouse = opened()
    warm_session(lakehouse.root)
    if first and last:
        rebuild_range(models, f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}", given)
    else:
        rebuild_columns(models, names, where, only_plan=only_plan, given=given)


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
