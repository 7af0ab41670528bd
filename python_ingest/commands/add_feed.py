"""`tidemark add`: declare a feed and print the files to check."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from python_ingest.console.output import output
from python_ingest.project import Project
from python_ingest.project.session import warm_session
from python_ingest.scaffold.reading.choices import Choices
from python_ingest.scaffold.sampling import sample_of
from python_ingest.scaffold.writing import add


def add_feed(
    path: Path,
    name: str | None,
    project: Project,
    key: Sequence[str] = (),
    choices: Choices | None = None,
) -> None:
    """Declare a feed from sample files, and print which files were written and what to check.

    Args:
        path: a file of the feed, or the folder of its files.
        name: the feed's name; None proposes one from the file names.
        project: the project.
        key: the columns that identify a record; if empty, they are found in the files.
        choices: what the user says about the files.

    Raises:
        TidemarkError: when the files do not show how to read them, the name or the key, or the feed already
            exists.
    """
    read = partial(sample_of, lambda: warm_session(project.root), choices=choices)
    feed, files = add(path, name, key, project.feeds, read)
    for file in files:
        output.text(f"  wrote {file}", "wrote", file=file)
    for event, said in feed.notes:
        output.note(event, said)
    newest = f"the newest row (by {feed.newest_by.name})" if feed.newest_by else "the last landed row"
    output.text(
        f"Keeps {newest} for each {', '.join(feed.key_names)}; use `--key` for other columns.\n"
        f"Check the types and the rules in macros/staging/staged_{feed.name}.sql.\n"
        f"Describe the columns in the .yml files, then run:\n  tidemark land {feed.name}\n"
        f"  dbt build --select source:bronze.{feed.name}+"
    )
