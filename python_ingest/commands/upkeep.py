"""The commands that rewrite tables without new data: `tidemark maintain` and `tidemark rebuild`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from python_ingest.commands.build import rebuild_range
from python_ingest.commands.maintain import maintain_tables, show_plan
from python_ingest.commands.opening import opened
from python_ingest.commands.options import LogOlderThan, OlderThan, OnlyPlan, Tables
from python_ingest.errors import TidemarkError
from python_ingest.lake.retention import Kept
from python_ingest.project.session import warm_session

upkeep = typer.Typer()


@upkeep.command()
def rebuild(
    models: Annotated[list[str], typer.Argument(help="dbt selectors, such as device_events+.")],
    first: Annotated[datetime, typer.Option("--from", formats=["%Y-%m-%d"], help="First date.")],
    last: Annotated[datetime, typer.Option("--to", formats=["%Y-%m-%d"], help="Last date (inclusive).")],
) -> None:
    """Rebuild a range of dates of tables from their sources."""
    if first > last:
        raise TidemarkError(
            f"--from {first:%Y-%m-%d} is later than --to {last:%Y-%m-%d}.", "Swap the two dates."
        )
    lakehouse = opened()
    warm_session(lakehouse.root)
    rebuild_range(models, f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}")


@upkeep.command()
def maintain(
    tables: Tables = None, hours: OlderThan = 168, log_hours: LogOlderThan = 720, only_plan: OnlyPlan = False
) -> None:
    """Cluster tables, merge small files, delete old versions and logs, but nothing that a model needs."""
    lakehouse = opened()
    act = show_plan if only_plan else maintain_tables
    act(warm_session(lakehouse.root), lakehouse, tables or [], Kept(hours, log_hours))
