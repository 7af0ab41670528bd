"""`tidemark init`: write a new project, or the missing files of an existing dbt project."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Annotated, Optional

import typer

from tidemark.base.output import output
from tidemark.scaffold.project import PROJECT_FILE, check_name, write_project
from tidemark.spark import jars


def init(
    folder: Annotated[Path, typer.Argument(help="The project's folder.")] = Path(),
    name: Annotated[
        Optional[str], typer.Option(help="Name of a new project (default: the folder's).")
    ] = None,
) -> None:
    """Write a new project with a feed to try, or add what an existing dbt project lacks."""
    folder = folder.resolve()
    name = name or re.sub(r"\W+", "_", folder.name.lower())
    if not (folder / PROJECT_FILE).exists():
        check_name(name)
    folder.mkdir(parents=True, exist_ok=True)
    before = Path.cwd()
    os.chdir(folder)
    scaffold = write_project(name)
    for file in scaffold.written:
        output.text(f"  wrote {file}", "wrote", file=file)
    linked = None
    if not jars.is_linked():
        with output.status("fetching Spark's jars, 300 MB, once for all projects"):
            linked = jars.link()
        output.text(f"  linked {jars.FOLDER} to {linked}", "linked", folder=linked)
    for hint in scaffold.hints:
        output.note("to do", hint)
    go_there = "" if folder == before else f"  cd {shlex.quote(str(folder))}\n"
    if scaffold.is_new:
        output.text(f"Next:\n{go_there}  tidemark run\n  tidemark verify\n  dbt show --select daily_orders")
    elif not scaffold.written and not scaffold.hints and not linked:
        output.text("Nothing is missing.", "complete")
