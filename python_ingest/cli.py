"""The command `tidemark`: what dbt does not do."""

from __future__ import annotations

import sys
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

from python_ingest import demo as demonstration
from python_ingest import project, steps
from python_ingest import tour as sightseeing
from python_ingest.build import plain_message
from python_ingest.declarations import choose
from python_ingest.errors import TidemarkError
from python_ingest.exporting import export_rejected
from python_ingest.interrupts import end, on_interrupt
from python_ingest.landing_steps import How
from python_ingest.landing_steps import follow as follow_feeds
from python_ingest.landing_steps import land as land_feeds
from python_ingest.listing import show_feeds
from python_ingest.lock import hold, lake_folder
from python_ingest.output import output
from python_ingest.selecting import selected_feeds
from python_ingest.session import warm_session
from python_ingest.simulators.commands import simulate

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Land files, tables and topics in bronze and run the lakehouse; plain dbt works beside it.",
)
app.add_typer(simulate, name="simulate")


class Format(str, Enum):
    """How commands tell what they do."""

    TEXT = "text"
    JSON = "json"


Feeds = Annotated[Optional[list[str]], typer.Argument(help="Names of feeds; all when none is given.")]
Models = Annotated[Optional[list[str]], typer.Argument(help="dbt selectors; all models when none.")]
Tables = Annotated[Optional[list[str]], typer.Argument(help="Tables as schema.name; all when none.")]
Select = Annotated[Optional[list[str]], typer.Option("--select", "-s", help="dbt selector; may be repeated.")]
FullRefresh = Annotated[bool, typer.Option("--full-refresh", help="Rebuild tables from their sources.")]
CompareAll = Annotated[
    bool, typer.Option("--compare-all", help="Look at all rows of tables, not only at those past the mark.")
]
AcceptLoss = Annotated[
    bool, typer.Option("--accept-loss", help="Go on where a topic lost messages that were not landed.")
]
Follow = Annotated[bool, typer.Option("--follow", help="Land topics as messages come, until Ctrl-C.")]
LogFormat = Annotated[Format, typer.Option(help="text for people, json for one object a line.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the stack trace of an error.")]


@app.callback()
def options(debug: Debug = False, log_format: LogFormat = Format.TEXT) -> None:
    """Options of all commands; `main` reads --debug itself."""
    output.as_json = log_format is Format.JSON


@app.command()
def land(
    feeds: Feeds = None,
    everything: Annotated[bool, typer.Option("--all", help="All feeds, as when none is named.")] = False,
    compare_all: CompareAll = False,
    accept_loss: AcceptLoss = False,
    follow: Follow = False,
) -> None:
    """Land what is new in bronze, each row exactly once."""
    if feeds and everything:
        raise TidemarkError("Feeds are named beside --all.", "Give either names or --all.")
    lakehouse = _opened()
    chosen = choose(lakehouse.feeds, feeds or [])
    spark = warm_session(lakehouse.root)
    how = How(compares_all=compare_all, accepts_loss=accept_loss)
    if follow:
        follow_feeds(spark, lakehouse, chosen, how)
    else:
        land_feeds(spark, lakehouse, chosen, how=how)


@app.command("list")
def list_feeds() -> None:
    """List the feeds with their last processed times, rows and lag."""
    lakehouse = _opened()
    show_feeds(warm_session(lakehouse.root), lakehouse)


@app.command()
def add(
    path: Annotated[Path, typer.Argument(help="A file of the feed, or the folder of its files.")],
    name: Annotated[Optional[str], typer.Option(help="Name of the feed.")] = None,
    key: Annotated[str, typer.Option(help="Columns that tell two records apart, with commas between.")] = "",
) -> None:
    """Declare a feed from sample files, with a silver model, its rules and tests."""
    path = path.resolve()
    lakehouse = _opened()
    steps.add(path, name, lakehouse, [word.strip() for word in key.split(",") if word.strip()])


@app.command("replay-rejected")
def replay_rejected(feeds: Feeds = None) -> None:
    """Land again what was rejected: files set aside, and records that can be read after a fix."""
    lakehouse = _opened()
    chosen = choose(lakehouse.feeds, feeds or [])
    spark = warm_session(lakehouse.root)
    land_feeds(spark, lakehouse, chosen, how=How(replays=True))


@app.command("export-rejected")
def export(path: Annotated[Path, typer.Argument(help="The CSV file to write.")], feeds: Feeds = None) -> None:
    """Write rejected records to a CSV file, for a spreadsheet: none of them is a formula there."""
    path = path.resolve()
    lakehouse = _opened()
    names = [feed.name for feed in choose(lakehouse.feeds, feeds or [])]
    number = export_rejected(warm_session(lakehouse.root), lakehouse.ops_schema, names, path)
    output.text(f"{number:,} records in {path}", "exported", records=number, path=path)


@app.command()
def run(select: Select = None, full_refresh: FullRefresh = False) -> None:
    """Land feeds, then `dbt build`, on one warm Spark session; with --select, of what is selected."""
    lakehouse = _opened()
    feeds = selected_feeds(lakehouse, select) if select else list(lakehouse.feeds.values())
    spark = warm_session(lakehouse.root)
    land_feeds(spark, lakehouse, feeds)
    selected = ["--select", *select] if select else []
    steps.build([*steps.DATA_ONLY, *selected, *["--full-refresh"] * full_refresh], lakehouse)


@app.command()
def rebuild(
    models: Annotated[list[str], typer.Argument(help="dbt selectors, such as device_events+.")],
    first: Annotated[datetime, typer.Option("--from", formats=["%Y-%m-%d"], help="First date.")],
    last: Annotated[datetime, typer.Option("--to", formats=["%Y-%m-%d"], help="Last date, included.")],
) -> None:
    """Replay a range of dates: what tables have of it is replaced by what their sources give."""
    if first > last:
        raise TidemarkError(
            f"There is no day from {first:%Y-%m-%d} to {last:%Y-%m-%d}.", "Give the earlier one first."
        )
    lakehouse = _opened()
    warm_session(lakehouse.root)
    steps.rebuild(models, first.date().isoformat(), last.date().isoformat())


@app.command()
def verify(models: Models = None) -> None:
    """Prove tables: compare each with a rebuild from what it has consumed, row for row."""
    lakehouse = _opened()
    spark = warm_session(lakehouse.root)
    steps.verify(spark, models or [], lakehouse)


@app.command()
def explain(models: Models = None) -> None:
    """Say what the next run would do with each model, from which versions, and why; run nothing."""
    lakehouse = _opened()
    spark = warm_session(lakehouse.root)
    steps.explain(spark, models or [])


@app.command()
def compact(tables: Tables = None) -> None:
    """Rewrite many small files of tables into few; no row changes."""
    lakehouse = _opened()
    steps.compact(warm_session(lakehouse.root), lakehouse, tables or [])


@app.command()
def expire(
    tables: Tables = None,
    hours: Annotated[int, typer.Option("--older-than", min=0, help="Hours that are kept.")] = 168,
) -> None:
    """Delete old versions of tables, but none that a model has yet to read."""
    lakehouse = _opened()
    steps.expire(warm_session(lakehouse.root), lakehouse, tables or [], hours)


@app.command()
def demo() -> None:
    """Play the real purchase log into a lake of its own, month by month."""
    demonstration.play(project.enter_root())


@app.command()
def tour() -> None:
    """Play what the lakehouse must do, R1 to R5, on small examples; R3 where a database is given."""
    sightseeing.play(project.enter_root())


def _opened() -> project.Project:
    """Hold the lake before anything that takes time, then parse the project."""
    project.enter_root()
    hold(lake_folder())
    return project.load()


def main() -> None:
    """Run the command; print an expected error in one place, without a stack trace unless --debug."""
    try:
        with on_interrupt(end):
            app()
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        said = str(error) if isinstance(error, TidemarkError) else _unexpected(error)
        if output.as_json:
            output.text(said, "error")
        else:
            typer.secho(f"Error: {said}", fg="red", err=True)
        sys.exit(error.exit_code if isinstance(error, TidemarkError) else 1)


def _unexpected(error: Exception) -> str:
    message = plain_message(str(error)) or type(error).__name__
    return f"{message}\n  → This was not expected; `tidemark --debug …` shows where it happened."


if __name__ == "__main__":
    main()
