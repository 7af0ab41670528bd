"""The arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

RUN = "A run: the beginning of its invocation_id in ops.runs, or `last`."

Feeds = Annotated[Optional[list[str]], typer.Argument(help="Names of feeds (default: all).")]
Models = Annotated[Optional[list[str]], typer.Argument(help="dbt selectors (default: all models).")]
Run = Annotated[str, typer.Argument(help=RUN, metavar="RUN")]
OnlyPlan = Annotated[bool, typer.Option("--plan", help="Show what the command would do, and change nothing.")]
Variables = Annotated[
    str,
    typer.Option("--vars", help="Values of variables, as for dbt: {name: value}."),
]
