"""The arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Optional

import typer

from tidemark.base.errors import TidemarkError

RUN = "A run: the beginning of its invocation_id in ops.runs, or `last`."

Feeds = Annotated[Optional[list[str]], typer.Argument(help="Names of feeds (default: all).")]
Models = Annotated[Optional[list[str]], typer.Argument(help="dbt selectors (default: all models).")]
Select = Annotated[
    Optional[list[str]],
    typer.Option("--select", "-s", help="The same selectors, written as in dbt's commands."),
]
Run = Annotated[str, typer.Argument(help=RUN, metavar="RUN")]
OnlyPlan = Annotated[bool, typer.Option("--plan", help="Show what the command would do, and change nothing.")]
Variables = Annotated[
    str,
    typer.Option("--vars", help="Values of variables, as for dbt: {name: value}."),
]


def selectors(models: Sequence[str] | None, select: Sequence[str] | None) -> list[str]:
    """Return dbt's selectors; `--select one two` gives the first to the option, the others as arguments.

    Args:
        models: those given as words.
        select: those given by the option; each may be several in quotes.

    Raises:
        TidemarkError: if they are given, but empty: all models may not be what is meant.
    """
    given = [*(select or []), *(models or [])]
    found = [word for text in given for word in text.split()]
    if given and not found:
        raise TidemarkError("The selector is empty.", "Name a model, or leave it out for all.")
    return found
