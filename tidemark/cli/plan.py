"""`tidemark plan`: what a change of the project would do to the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import typer

from tidemark.base.errors import UnprovenError
from tidemark.base.output import count_of, output
from tidemark.cli.diff import line_of
from tidemark.cli.opening import opened_with
from tidemark.cli.options import Models, Select, Variables, selectors
from tidemark.engine.dbt_core.texts import variables_in
from tidemark.engine.preview import markdown
from tidemark.engine.preview.changed import Changed
from tidemark.engine.preview.plan import planned
from tidemark.engine.project.session import warm_session

DIFFERS = 2  # the exit code with --exit-code, as that of `terraform plan -detailed-exitcode`


def plan(  # noqa: PLR0913, PLR0917  # options of a command
    models: Models = None,
    select: Select = None,
    variables: Variables = "{}",
    rows: Annotated[bool, typer.Option("--rows", help="Compute which rows would differ.")] = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, for a pull request.")
    ] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 2 if a table would change.")
    ] = False,
) -> None:
    """Show which tables a change of the project would change, before a run does. Writes nothing."""
    given, selection = variables_in(variables), selectors(models, select)
    project = opened_with(given)
    spark = warm_session(project.root, may_be_remote=True)
    show = show_markdown if as_markdown else show_plan
    changes = planned(spark, project.manifest, selection, given, with_rows=rows)
    finished(show(changes, with_rows=rows), with_rows=rows, tells=exit_code)


def finished(found: Sequence[Changed], *, with_rows: bool, tells: bool) -> None:
    """End the command.

    Args:
        found: the changed tables.
        with_rows: whether the rows that differ were asked for.
        tells: whether the exit code says that a table would change.

    Raises:
        UnprovenError: if rows were asked for, and those of a table are not known.
        Exit: with DIFFERS, if the exit code tells.
    """
    unknown = [one.table for one in found if one.unknown]
    if unknown and with_rows:
        raise UnprovenError(
            f"The rows of {count_of(len(unknown), 'table')} are not known: {', '.join(unknown)}.",
            "See the lines above for the reason.",
        )
    if tells and not all(one.is_same for one in found):
        raise typer.Exit(DIFFERS)


def show_plan(changes: Iterable[Changed], *, with_rows: bool) -> list[Changed]:
    """Print which tables would change, and how.

    Args:
        changes: the changed tables.
        with_rows: whether they have the rows that differ.
    """
    found = []
    for one in changes:
        found.append(one)
        facts = {"table": one.table, "kind": one.kind, "why": one.why, "unknown": one.unknown}
        output.text(f"  {one.table}: {one.why}", "planned", **facts)
        for line, event, more in _lines(one, with_rows):
            output.text(f"    {line}", event, table=one.table, **more)
    output.text(markdown.summary(found, with_rows=with_rows), "plan", tables=len(found))
    return found


def _lines(one: Changed, with_rows: bool) -> Iterator[tuple[str, str, dict[str, Any]]]:
    if one.stops:
        yield "the run stops here", "stops", {}
    if one.unknown:
        yield f"not known: {one.unknown}", "unknown", {}
    elif with_rows or one.differing is not None:
        yield markdown.rows_of(one), "rows", {"differing": one.differing}
    for difference in one.rows.shown if one.rows else ():
        row = {"kind": difference.kind, "key": difference.key, "values": difference.values}
        yield line_of(difference).strip(), "difference", row


def show_markdown(changes: Iterable[Changed], *, with_rows: bool) -> list[Changed]:
    """Print the same as Markdown; the arguments are those of `show_plan`."""
    found = list(changes)
    output.text(markdown.page(found, with_rows=with_rows), "plan", tables=len(found))
    return found
