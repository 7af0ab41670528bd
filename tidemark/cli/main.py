"""The command `tidemark`, for tasks that dbt does not do."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Optional

import typer
from dotenv import find_dotenv, load_dotenv

from python_ingest.feeds.declarations import choose
from python_ingest.land import LandingOptions
from tidemark.base.errors import TidemarkError
from tidemark.base.interrupts import end, on_interrupt
from tidemark.base.messages import plain_message
from tidemark.base.output import output
from tidemark.base.process import keep_only_command
from tidemark.cli.add_feed import add_feed, dates_of
from tidemark.cli.doctor import doctor
from tidemark.cli.erase import erase
from tidemark.cli.explain import show_plans
from tidemark.cli.export_rejected import export_rejected
from tidemark.cli.history import history
from tidemark.cli.init_project import init_project
from tidemark.cli.land import follow as follow_feeds
from tidemark.cli.land import land as land_feeds
from tidemark.cli.opening import opened, opened_to_read, opened_with
from tidemark.cli.options import (
    AcceptLoss,
    AsJson,
    Audit,
    Columns,
    Comment,
    CompareAll,
    CsvFile,
    DateFormats,
    DayFirst,
    Days,
    Debug,
    Delimiter,
    Encoding,
    Feeds,
    Follow,
    Footer,
    Format,
    FullRefresh,
    HasHeader,
    Histories,
    LogFormat,
    MetricsFile,
    Models,
    Page,
    Port,
    Seed,
    Select,
    Sheet,
    SkipLines,
    Variables,
)
from tidemark.cli.prove import prove_models
from tidemark.cli.report import write_report
from tidemark.cli.run import run_all
from tidemark.cli.serve import serve_lake
from tidemark.cli.status import show_status
from tidemark.cli.upkeep import upkeep
from tidemark.cli.verify import show_verdicts
from tidemark.engine import project
from tidemark.engine.dbt_core.texts import variables_in
from tidemark.engine.project.session import warm_session
from tidemark.scaffold.reading.choices import Choices, names_in

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Land files, tables and topics in bronze and run the lakehouse. Plain dbt commands work, too.",
)
app.add_typer(history)
app.add_typer(upkeep)


@app.callback()
def options(context: typer.Context, debug: Debug = False, log_format: LogFormat = Format.TEXT) -> None:
    """Options of all commands; `main` reads --debug itself."""
    load_dotenv(find_dotenv(usecwd=True), override=False)  # as dbt-core 1.12 does, and also on 1.11
    output.as_json = log_format is Format.JSON
    keep_only_command(context.invoked_subcommand or "")


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="The project's folder.")] = Path(),
    name: Annotated[
        Optional[str], typer.Option(help="Name of a new project (default: the folder's).")
    ] = None,
) -> None:
    """Write a new project with a feed to try, or add what an existing dbt project lacks."""
    init_project(folder.resolve(), name)


@app.command()
def land(
    feeds: Feeds = None,
    everything: Annotated[bool, typer.Option("--all", help="All feeds (the default).")] = False,
    compare_all: CompareAll = False,
    accept_loss: AcceptLoss = False,
    follow: Follow = False,
) -> None:
    """Land new data in bronze, each row exactly once."""
    if feeds and everything:
        raise TidemarkError("Names of feeds and --all exclude each other.", "Give either names or --all.")
    lakehouse = opened()
    chosen = choose(lakehouse.feeds, feeds or [], lakehouse.invalid)
    spark = warm_session(lakehouse.root)
    landing_options = LandingOptions(compares_all=compare_all, accepts_loss=accept_loss)
    if follow:
        follow_feeds(spark, lakehouse, chosen, landing_options)
    else:
        land_feeds(
            spark, lakehouse, [*chosen, *lakehouse.invalid_among(feeds or [])], options=landing_options
        )


@app.command()
def status(as_json: AsJson = False, openmetrics: MetricsFile = None) -> None:
    """Show feeds, tables and the last run; exits with 4 for warnings and 5 for errors."""
    lakehouse = opened_to_read()
    spark = warm_session(lakehouse.root, may_be_remote=True)
    raise typer.Exit(show_status(spark, lakehouse, as_json=as_json, metrics=openmetrics))


@app.command()
def add(  # noqa: PLR0913, PLR0917  # the options of the command
    path: Annotated[Path, typer.Argument(help="A file of the feed, or its folder.", resolve_path=True)],
    name: Annotated[Optional[str], typer.Option(help="Name of the feed.")] = None,
    key: Annotated[str, typer.Option(help="Columns that identify a record, separated by commas.")] = "",
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    header: HasHeader = None,
    columns: Columns = "",
    skip_lines: SkipLines = None,
    footer: Footer = None,
    comment: Comment = None,
    sheet: Sheet = None,
    date_format: DateFormats = None,
    day_first: DayFirst = None,
) -> None:
    """Declare a feed from sample files, with a silver model, its rules and tests."""
    choices = Choices(encoding, delimiter, header, names_in(columns), skip_lines, footer, comment, sheet)
    lakehouse = opened()
    add_feed(
        path,
        name,
        lakehouse,
        names_in(key),
        choices=choices.checked(),
        dates=dates_of(date_format or [], day_first),
    )


@app.command("replay-rejected")
def replay_rejected(feeds: Feeds = None) -> None:
    """Land rejected files and records again, after a fix."""
    lakehouse = opened()
    chosen = choose(lakehouse.feeds, feeds or [], lakehouse.invalid)
    spark = warm_session(lakehouse.root)
    invalid = lakehouse.invalid_among(feeds or [])
    land_feeds(spark, lakehouse, [*chosen, *invalid], options=LandingOptions(replays=True))


@app.command("export-rejected")
def export(path: CsvFile, feeds: Feeds = None) -> None:
    """Write rejected records to a CSV file. Values that look like formulas are escaped."""
    lakehouse = opened()
    names = [feed.name for feed in choose(lakehouse.feeds, feeds or [], lakehouse.invalid)]
    number = export_rejected(warm_session(lakehouse.root), lakehouse.ops_schema, names, path)
    output.text(f"{number:,} records in {path}", "exported", records=number, path=path)


@app.command()
def run(select: Select = None, full_refresh: FullRefresh = False, audit: Audit = False) -> None:
    """Land feeds, then run `dbt build` in the same Spark session; --select limits both."""
    run_all(project.enter_root(), select or [], full_refresh=full_refresh, audit=audit)


@app.command()
def verify(models: Models = None, variables: Variables = "{}") -> None:
    """Prove tables: compare each, row by row, with a rebuild from the source versions that it has read."""
    given = variables_in(variables)
    lakehouse = opened_with(given)
    show_verdicts(warm_session(lakehouse.root, may_be_remote=True), models or [], lakehouse, given)


@app.command()
def prove(models: Models = None, histories: Histories = 50, seed: Seed = 1) -> None:
    """Test models on random source histories, without a lake: each table must equal its rebuild."""
    prove_models(project.enter_root(), models or [], histories, seed)


@app.command()
def explain(models: Models = None, variables: Variables = "{}") -> None:
    """Show which versions the next run would read for each model, and why. Runs nothing."""
    given = variables_in(variables)
    show_plans(warm_session(opened_with(given).root, may_be_remote=True), models or [], given)


@app.command()
def report(out: Page = None, days: Days = 30) -> None:
    """Write an HTML report about the lake: runs, rows per layer, freshness, problems."""
    write_report(out, days)


@app.command()
def serve(port: Port = 15002) -> None:
    """Run a Spark Connect server for the lake until Ctrl-C, so that dbt commands need not start Spark."""
    serve_lake(opened().root, port)


app.command()(doctor)
app.command()(erase)


def _add_own_commands() -> None:
    """Add the commands of a clone of the repository: `demo`, `tour`, `simulate`. A wheel has no dev/."""
    if (Path(__file__).parents[2] / "dev" / "commands.py").is_file():
        import_module("dev.commands").register(app)


_add_own_commands()


def main() -> None:
    """Run the command; print an error without a stack trace, unless --debug is given."""
    is_debug = "--debug" in sys.argv
    try:
        with on_interrupt(end):
            app()
    except Exception as error:
        if is_debug:
            raise
        message = str(error) if isinstance(error, TidemarkError) else _unexpected(error)
        if output.as_json:
            output.text(message, "error")
        else:
            typer.secho(f"Error: {message}", fg="red", err=True)
        sys.exit(error.exit_code if isinstance(error, TidemarkError) else 1)


def _unexpected(error: Exception) -> str:
    message = plain_message(str(error)) or type(error).__name__
    return f"{message}\n  → This is an unexpected error. Run `tidemark --debug …` to see the stack trace."


if __name__ == "__main__":
    main()
