"""The command `tidemark`, for tasks that dbt does not do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from dotenv import find_dotenv, load_dotenv

from tidemark.base.errors import TidemarkError
from tidemark.base.interrupts import end, on_interrupt
from tidemark.base.messages import plain_message
from tidemark.base.output import output
from tidemark.base.process import keep_only_command
from tidemark.cli.add import add
from tidemark.cli.archive_once import archive_once
from tidemark.cli.diff import diff
from tidemark.cli.doctor import doctor
from tidemark.cli.erase import erase
from tidemark.cli.explain import explain
from tidemark.cli.export_rejected import export_rejected
from tidemark.cli.init import init
from tidemark.cli.land import land
from tidemark.cli.maintain import maintain
from tidemark.cli.plan import plan
from tidemark.cli.prove import prove
from tidemark.cli.rebuild import rebuild
from tidemark.cli.replay_rejected import replay_rejected
from tidemark.cli.report import report
from tidemark.cli.reproduce import reproduce
from tidemark.cli.run import run
from tidemark.cli.serve import serve
from tidemark.cli.status import status
from tidemark.cli.undo import undo
from tidemark.cli.verify import verify
from tidemark.cli.why import why
from tidemark.operate.unchanged.last_run import keep


class Format(StrEnum):
    """The format of a command's output."""

    TEXT = "text"
    JSON = "json"


def _own_commands() -> Sequence[Any]:
    """Return the commands of a clone of the repository: `demo`, `tour`, `simulate`. A wheel has no dev/."""
    if (Path(__file__).parents[2] / "dev" / "commands.py").is_file():
        return import_module("dev.commands").COMMANDS  # type: ignore[no-any-return]
    return ()


# in the order of `tidemark --help`; the function's name is the command's
COMMANDS: Sequence[Any] = (
    *(
        init,
        land,
        status,
        add,
        replay_rejected,
        export_rejected,
        run,
        verify,
        prove,
        explain,
        plan,
        why,
        report,
        serve,
    ),
    *(doctor, erase, *_own_commands(), undo, diff, reproduce, rebuild, maintain),
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Land files, tables and topics in bronze and run the lakehouse. Plain dbt commands work, too.",
)
for command in COMMANDS:
    register = app.add_typer if isinstance(command, typer.Typer) else app.command()
    register(command)


@app.callback()
def options(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show the stack trace of an error.")] = False,
    log_format: Annotated[
        Format, typer.Option(help="`text`, or `json` with one object per line.")
    ] = Format.TEXT,
) -> None:
    """Options of all commands; `main` reads --debug itself."""
    load_dotenv(find_dotenv(usecwd=True), override=False)  # as dbt-core 1.12 does, and also on 1.11
    output.as_json = log_format is Format.JSON
    keep_only_command(context.invoked_subcommand or "")


def main() -> None:
    """Run the command; print an error without a stack trace, unless --debug is given."""
    is_debug = "--debug" in sys.argv
    try:
        with on_interrupt(end):
            app()
    except SystemExit as done:
        if not done.code:
            with suppress(Exception), on_interrupt(end):  # a command has succeeded without them
                archive_once()
                keep()
        raise
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
