"""Commands of dbt, run in this process with the Spark session that is already running."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tidemark.base.errors import DbtError
from tidemark.base.messages import plain_message

PARSE = (
    "--no-write-json",
    "parse",
)  # manifest.json takes as long; what dbt runs writes it
SILENT = ("--log-level", "none")


def invoke_dbt(arguments: Sequence[str]) -> Any:
    """Run a dbt command in this process, with the Spark session that is already running.

    Args:
        arguments: the words after `dbt` on a command line.

    Returns:
        dbt's result: the manifest for `parse`, the node results for `build`, `run` and `test`.

    Raises:
        DbtError: if the command fails; dbt has then already printed the reasons.
    """
    outcome = outcome_of(arguments)
    if not outcome.success:
        command = next((word for word in arguments if not word.startswith("-")), "dbt")
        message = plain_message(str(outcome.exception)) if outcome.exception else ""
        fix = "Read dbt's messages above; logs/dbt.log has all of them."
        if "Required var" in message:
            fix = "Give the variable with --vars."
        raise DbtError(f"dbt {command} failed{f': {message}' if message else '.'}", fix)
    return outcome.result


def outcome_of(
    arguments: Sequence[str], manifest: Any = None, on_event: Callable[[Any], None] | None = None
) -> Any:
    """Run a dbt command and return its outcome: `result`, `success`, `exception`.

    Args:
        arguments: the words after `dbt` on a command line.
        manifest: dbt's manifest, if this process has already parsed the project; None to parse now.
        on_event: called with each of dbt's events.
    """
    from dbt.cli.main import dbtRunner  # slow to import

    return dbtRunner(manifest, callbacks=[on_event] if on_event else []).invoke(list(arguments))
