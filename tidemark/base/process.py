"""The name of this process for others: its program and command, never the values of its options."""

from __future__ import annotations

import sys
from pathlib import Path

DBT = ("dbt", "cli", "main.py")  # the end of the program's path in `python -m dbt.cli.main`
COMMANDS = (
    "build", "clean", "clone", "compile", "debug", "deps", "docs", "freshness", "init", "list", "ls", "parse",
    "retry", "run", "run-operation", "seed", "show", "snapshot", "source", "test",
)  # of dbt; `keep_only_command` leaves one word of a tidemark command  # fmt: skip


def command_name() -> str:
    """Return the program and its command, such as `dbt build`.

    Options are left out, and so are other words: values such as those of `--vars` and `--key` may be secret
    or personal, and other users can read where this name is kept.
    """
    program = Path(sys.argv[0])
    name = "dbt" if program.parts[-3:] == DBT else program.name
    known = (word for word in sys.argv[1:] if name != "dbt" or word in COMMANDS)
    command = next(known, "") if name in ("dbt", "tidemark") else ""
    return f"{name} {command}".strip()


def keep_only_command(command: str) -> None:
    """Take all words but the command out of `sys.argv`, which dbt writes into its logs and results.

    Args:
        command: such as `erase`.
    """
    sys.argv[1:] = [command]
