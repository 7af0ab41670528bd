"""The commands that only a clone of the repository has: `tidemark demo`, `tour` and `simulate`."""

from __future__ import annotations

import typer

from dev.demo.demo import play as play_demo
from dev.demo.tour import play as play_tour
from dev.simulators.commands import simulate
from tidemark.engine.project import enter_root


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.add_typer(simulate, name="simulate")
    app.command()(demo)
    app.command()(tour)


def demo() -> None:
    """Load a real purchase log into a separate lake, month by month."""
    play_demo(enter_root())


def tour() -> None:
    """Show the requirements R1 to R5 on small examples; R3 needs a database."""
    play_tour(enter_root())
