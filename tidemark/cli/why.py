"""`tidemark why`: the rows that a row of a table was made from, down to files, tables and topics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from tidemark.base.errors import TidemarkError
from tidemark.base.output import NARROW, count_of, output
from tidemark.cli.opening import opened_to_read
from tidemark.cli.options import RUN
from tidemark.engine.checkpoints.state import State
from tidemark.engine.project import Project
from tidemark.engine.project.nodes import stored_node, table_of
from tidemark.engine.project.session import warm_session
from tidemark.engine.why.asked import Asked
from tidemark.engine.why.levels import Level
from tidemark.engine.why.levels import why as levels_of
from tidemark.engine.why.moments import Moment, moments
from tidemark.engine.why.places import RECORD

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OFFSET = "_message_offset"
SHOWN = 5  # rows of each table


def why(  # noqa: PLR0913, PLR0917  # the options of the command
    table: Annotated[str, typer.Argument(help="A model, seed or snapshot.", metavar="TABLE")],
    key: Annotated[
        list[str],
        typer.Argument(help="Values of columns that choose its rows: COLUMN=VALUE.", metavar="KEY=VALUE…"),
    ],
    column: Annotated[
        Optional[str], typer.Option(help="A column that the rows below are to add up to, if they do.")
    ] = None,
    rows: Annotated[int, typer.Option(help="How many rows of each table are shown.", min=1)] = SHOWN,
    as_of: Annotated[Optional[str], typer.Option(help=f"{RUN} Tables are read as it left them.")] = None,
    runs: Annotated[bool, typer.Option("--runs", help="Show which runs changed the row instead.")] = False,
) -> None:
    """Show the rows that a row was made from, in each layer, down to the file and the record."""
    lakehouse = opened_to_read()
    if runs and as_of:
        raise TidemarkError("--runs shows all runs.", "Leave out --as-of.")
    asked = Asked(table, conditions_of(key), column or "", rows, as_of or "")
    show = show_runs if runs else show_why
    show(warm_session(lakehouse.root, may_be_remote=True), lakehouse, asked)


def show_why(spark: SparkSession, project: Project, asked: Asked) -> None:
    """Print the rows of a table that meet conditions, and those that they were made from.

    Args:
        spark: the session.
        project: the project.
        asked: the table, as `name` or `schema.name`, and the values that choose its rows.

    Raises:
        TidemarkError: if there is no such table, column or row.
    """
    table = table_of(stored_node(project.manifest, asked.table))
    for level in levels_of(spark, project.manifest, replace(asked, table=table)):
        _print(level)


def show_runs(spark: SparkSession, project: Project, asked: Asked) -> None:
    """Print the runs that changed the rows of a table that meet conditions, and how.

    Args:
        spark: the session.
        project: the project.
        asked: the table, as `name` or `schema.name`, and the values that choose its rows.

    Raises:
        TidemarkError: if there is no such table or column, or no run is recorded.
    """
    table = table_of(stored_node(project.manifest, asked.table))
    found = list(moments(spark, State(spark, project.ops_schema), replace(asked, table=table)))
    number = count_of(len(found), "run") if found else "no run"
    output.text(f"  {table}  {number} changed it", "runs", table=table, runs=len(found))
    for one in found:
        before, after = (rows and [_stored(row) for row in rows] for rows in (one.before, one.after))
        facts = {"run": one.run, "state": one.state, "before": before, "after": after}
        output.text(f"    {one.run}: {one.state}", "run", **facts)
        for line in _changes(one):
            output.text(_shortened(f"      {line}"), "change", run=one.run)


def _changes(one: Moment) -> list[str]:
    """Return what a run changed: `column old → new` for one row, or the rows that came and went."""
    if one.before is None or one.after is None:
        return [f"the table's version {'after' if one.after is None else 'before'} it is no longer there"]
    if len(one.before) == len(one.after) == 1:
        (old,), (new,) = one.before, one.after
        return [f"{name} {old.get(name)} → {value}" for name, value in new.items() if old.get(name) != value]
    return [
        *(f"- {_values(row, ())}" for row in one.before if row not in one.after),
        *(f"+ {_values(row, ())}" for row in one.after if row not in one.before),
    ]


def conditions_of(words: list[str]) -> dict[str, str]:
    """Return the values by column that words such as `day=2025-03-01` give.

    Raises:
        TidemarkError: if a word is none of these.
    """
    found = dict(word.split("=", 1) for word in words if "=" in word)
    wrong = [word for word in words if "=" not in word or word.startswith("=")]
    if wrong:
        raise TidemarkError(f"{wrong[0]} is not COLUMN=VALUE.", "Write the column, `=` and its value.")
    return found


def _print(level: Level) -> None:
    indent = "  " * (level.depth + 1)
    facts: dict[str, Any] = {"depth": level.depth, "table": level.table, "rows": level.number}
    number = f"{count_of(level.number, 'row')}{f', {level.adds_up}' if level.adds_up else ''}"
    facts |= {"key": level.key, "notes": level.notes, "adds_up": level.adds_up}
    output.text(f"{indent}{level.table}  {number}", "level", **facts)
    for note in level.notes:
        output.text(f"{indent}  ({note})", "note", table=level.table)
    for row in level.shown:
        line = f"{indent}  {_place(row) if level.is_landed else _values(row, level.key)}"
        output.text(_shortened(line), "row", table=level.table, depth=level.depth, row=_stored(row))
    if level.number > len(level.shown):
        output.text(f"{indent}  … and {level.number - len(level.shown):,} more", "more", table=level.table)


def _stored(row: dict[str, Any]) -> dict[str, Any]:
    return {"_record" if name == RECORD else name: _with_text_keys(value) for name, value in row.items()}


def _with_text_keys(value: Any) -> Any:
    """Return a value of which the keys of maps are text, as in JSON."""
    if isinstance(value, dict):
        return {str(key): _with_text_keys(one) for key, one in value.items()}
    return [_with_text_keys(one) for one in value] if isinstance(value, list) else value


def _place(row: dict[str, Any]) -> str:
    """Return where a landed row came from, and its values."""
    values = {name: value for name, value in row.items() if not name.startswith("_")}
    if OFFSET in row:
        place = f"{row['_source_file']} offset {row[OFFSET]}"
    else:
        place = f"{row['_source_file']} record {row[RECORD]}" if row[RECORD] else f"{row['_source_file']}"
    return f"{place}: {_values(values, ())}"


def _values(row: dict[str, Any], key: tuple[str, ...]) -> str:
    """Return the values of a row, those of its key first."""
    names = [*key, *(name for name in row if name not in key and not name.startswith("_"))]
    return ", ".join(f"{name}={row[name]}" for name in names)


def _shortened(line: str) -> str:
    line = line if line.isprintable() else "".join(one if one.isprintable() else " " for one in line)
    return line if len(line) <= NARROW else f"{line[: NARROW - 1]}…"
