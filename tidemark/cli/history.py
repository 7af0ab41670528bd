"""The commands that look at recorded runs: `tidemark undo`, `diff` and `reproduce`."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from tidemark.cli.diff import show_differences
from tidemark.cli.opening import opened, opened_to_read
from tidemark.cli.reproduce import reproduce_run
from tidemark.cli.undo import undo_run
from tidemark.engine.dbt_core.texts import variables_in
from tidemark.engine.project.session import warm_session

history = typer.Typer()
RUN = "A run: the beginning of its invocation_id in ops.runs, or `last`."


@history.command()
def undo(
    run: Annotated[str, typer.Argument(help=RUN, metavar="RUN")],
    with_later: Annotated[
        bool,
        typer.Option("--with-later", help="Take back later runs that depend on it, too, the newest first."),
    ] = False,
) -> None:
    """Undo a run: restore its tables and checkpoints to their previous versions."""
    lakehouse = opened()
    undo_run(warm_session(lakehouse.root), lakehouse, run, with_later=with_later)


@history.command()
def diff(
    model: Annotated[str, typer.Argument(help="A model, seed or snapshot.", metavar="MODEL")],
    first: Annotated[str, typer.Option("--from", help=RUN)],
    last: Annotated[
        Optional[str], typer.Option("--to", help="Another run (default: the present table).")
    ] = None,
) -> None:
    """Compare a table as two runs left it: rows added, removed and changed, by the model's unique_key."""
    lakehouse = opened_to_read()
    show_differences(warm_session(lakehouse.root, may_be_remote=True), lakehouse, model, first, last)


@history.command()
def reproduce(
    run: Annotated[str, typer.Argument(help=RUN, metavar="RUN")],
    allow_dirty: Annotated[
        bool,
        typer.Option("--allow-dirty", help="Build with the commit's files if the run's files differed."),
    ] = False,
    variables: Annotated[
        str, typer.Option("--vars", help="Values of variables that the run did not record: secrets.")
    ] = "{}",
) -> None:
    """Build a run's tables as queries, from its commit and the versions that it read; compare row by row."""
    given = variables_in(variables)
    lakehouse = opened_to_read()
    spark = warm_session(lakehouse.root, may_be_remote=True)
    reproduce_run(spark, lakehouse, run, allow_dirty=allow_dirty, variables=given)
