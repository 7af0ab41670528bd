"""`tidemark land`: land new data of feeds."""

from __future__ import annotations

from typing import Annotated

import typer

from python_ingest.feeds.declarations import choose
from python_ingest.land import follow
from python_ingest.land_one import LandingOptions
from tidemark.base.errors import TidemarkError
from tidemark.cli import landing
from tidemark.cli.opening import opened
from tidemark.cli.options import Feeds
from tidemark.engine.project.session import warm_session


def land(
    feeds: Feeds = None,
    everything: Annotated[bool, typer.Option("--all", help="All feeds (the default).")] = False,
    compare_all: Annotated[
        bool,
        typer.Option(
            "--compare-all",
            help="Compare all rows of database tables, not only those after the last position.",
        ),
    ] = False,
    accept_loss: Annotated[
        bool,
        typer.Option("--accept-loss", help="Continue if a topic lost messages before they were landed."),
    ] = False,
    follows: Annotated[
        bool, typer.Option("--follow", help="Land messages of topics as they arrive, until Ctrl-C.")
    ] = False,
) -> None:
    """Land new data in bronze, each row exactly once."""
    if feeds and everything:
        raise TidemarkError("Names of feeds and --all exclude each other.", "Give either names or --all.")
    lakehouse = opened()
    chosen = choose(lakehouse.feeds, feeds or [], lakehouse.invalid)
    spark = warm_session(lakehouse.root)
    options = LandingOptions(compares_all=compare_all, accepts_loss=accept_loss)
    if follows:
        follow(spark, lakehouse.ops_schema, chosen, options)
    else:
        invalid = lakehouse.invalid_among(feeds or [])
        landing.land(spark, lakehouse, [*chosen, *invalid], options=options)
