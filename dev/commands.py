"""The commands that only a clone of the repository has: `tidemark demo`, `tour` and `simulate`."""

from __future__ import annotations

from dev.demo.demo import play as play_demo
from dev.demo.tour import play as play_tour
from dev.simulators.commands import simulate
from tidemark.engine.project import enter_root


def demo() -> None:
    """Load a real purchase log into a separate lake, month by month."""
    play_demo(enter_root())


def tour() -> None:
    """Show the requirements R1 to R5 on small examples; R3 needs a database."""
    play_tour(enter_root())


COMMANDS = (demo, tour, simulate)
