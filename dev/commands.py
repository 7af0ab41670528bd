"""The commands that only a clone of the repository has: `tidemark demo`, `tour` and `simulate`."""

from __future__ import annotations

from typing import Annotated

import typer

from dev.demo.demo import play as play_demo
from dev.demo.tour import play as play_tour
from dev.simulators.commands import simulate
from tidemark.engine.project import enter_root


def demo(
    all_feeds: Annotated[
        bool, typer.Option("--all-feeds", help="Land three simulated feeds, too, and build all models.")
    ] = False,
) -> None:
    """Load a real purchase log month by month, build its models and prove them."""
    play_demo(enter_root(), all_feeds=all_feeds)


def tour() -> None:
    """Show the requirements R1 to R5 on small examples; R3 needs a database."""
    play_tour(enter_root())


COMMANDS = (demo, tour, simulate)
