"""`tidemark add`: what was written, and what to look at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from python_ingest.console.output import output
from python_ingest.project import Project
from python_ingest.project.session import warm_session
from python_ingest.scaffold.writing import add


def add_feed(path: Path, name: str | None, project: Project, key: Sequence[str] = ()) -> None:
    """Declare a feed from sample files, and print what was written and what to look at.

    Args:
        path: a file of the feed, or the folder of its files.
        name: the feed's name; proposed from the files' names when it is None.
        project: the project.
        key: the columns that tell records apart; found in the files when there are none.

    Raises:
        TidemarkError: when the files do not tell, or the feed is there already.
    """
    feed, files = add(path, name, key, project.feeds, lambda: warm_session(project.root))
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
