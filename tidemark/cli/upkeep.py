"""The commands that rewrite tables without new data: `tidemark maintain` and `tidemark rebuild`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Optional

import typer

from tidemark.base.errors import TidemarkError
from tidemark.cli.build import rebuild_columns, rebuild_range
from tidemark.cli.maintain import maintain_tables, show_plan
from tidemark.cli.opening import opened
from tidemark.cli.options import LogOlderThan, OlderThan, OnlyPlan, Tables, Variables
from tidemark.engine.dbt_core.texts import variables_in
from tidemark.engine.project.session import warm_session
from tidemark.lake.retention import Kept

upkeep = typer.Typer()


@upkeep.command()
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


@upkeep.command()
def maintain(
    tables: Tables = None, hours: OlderThan = 168, log_hours: LogOlderThan = 720, only_plan: OnlyPlan = False
) -> None:
    """Cluster tables, merge small files, delete old versions and logs, but nothing that a model needs."""
    lakehouse = opened()
    act = show_plan if only_plan else maintain_tables
    act(warm_session(lakehouse.root), lakehouse, tables or [], Kept(hours, log_hours))
