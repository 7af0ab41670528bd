"""`tidemark diff`: the rows by which a table differs between two runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from tidemark.base.output import NARROW, output
from tidemark.cli.opening import opened_to_read
from tidemark.cli.options import RUN
from tidemark.engine.checkpoints.state import State
from tidemark.engine.project import Project
from tidemark.engine.project.nodes import stored_node, table_of
from tidemark.engine.project.session import warm_session
from tidemark.engine.runs.choosing import choose_run
from tidemark.engine.runs.differences import ADDED, CHANGED, SIGNS, Difference, differences, version_after

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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


def show_differences(
    spark: SparkSession, project: Project, name: str, first: str, last: str | None = None
) -> None:
    """Print how many rows of a table were added, removed and changed between two runs, and the first of them.

    Args:
        spark: the session.
        project: the project.
        name: a model, seed or snapshot, as `name` or `schema.name`.
        first: the run before, as `choose_run` has it.
        last: the run after; None for the present table.

    Raises:
        TidemarkError: if there is no such table or run, or one of the two versions is gone.
    """
    started = time.monotonic()
    node = stored_node(project.manifest, name)
    table = table_of(node)
    runs = State(spark, project.ops_schema).runs()
    before = version_after(runs, choose_run(runs, first), table)
    after = version_after(runs, choose_run(runs, last), table) if last else None
    keys = node.config.get("unique_key") or []
    by = [keys] if isinstance(keys, str) else list(keys)
    found = differences(spark, table, by, before, after)
    message = ", ".join(f"{number:,} {kind}" for kind, number in found.counts.items() if number)
    columns = {"columns_added": found.columns_added, "columns_removed": found.columns_removed}
    facts: dict[str, Any] = {"before": before, "after": after, **found.counts, **columns}
    output.row("compared", table, message or "no row differs", time.monotonic() - started, **facts)
    for word, names in (("new", found.columns_added), ("gone", found.columns_removed)):
        if names:
            output.note("columns", f"{word}, and not compared: {', '.join(names)}")
    for difference in found.shown:
        row = {"kind": difference.kind, "key": difference.key, "values": difference.values}
        output.text(line_of(difference), "difference", **row)
    more = sum(found.counts.values()) - sum(difference.number for difference in found.shown)
    if more > 0:
        output.text(f"    … and {more:,} more", "more", rows=more)


def line_of(difference: Difference) -> str:
    """Return a difference as one line: its sign, its key, and its values or `old → new`."""
    key = ", ".join(f"{name}={value}" for name, value in difference.key.items())
    if difference.kind == CHANGED:
        values = [f"{name} {old} → {new}" for name, (old, new) in difference.values.items()]
    else:
        side = 1 if difference.kind == ADDED else 0
        values = [f"{name}={pair[side]}" for name, pair in difference.values.items()]
    times = f" ({difference.number} times)" if difference.number > 1 else ""
    line = f"    {SIGNS[difference.kind]} {key}{times}{': ' if values else ''}{', '.join(values)}"
    line = " ".join(line.splitlines())
    return line if len(line) <= NARROW else f"{line[: NARROW - 1]}…"
