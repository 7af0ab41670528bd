"""`tidemark add`: declare a feed and print what was assumed, the files, and the next commands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tidemark.base.errors import TidemarkError
from tidemark.base.output import output
from tidemark.engine.project.session import warm_session
from tidemark.project_with_feeds import ProjectWithFeeds
from tidemark.scaffold.conversation import column_line, notes_of
from tidemark.scaffold.reading.choices import Choices
from tidemark.scaffold.sampling import sample_of
from tidemark.scaffold.typed_sample import Dates
from tidemark.scaffold.writing import add


def add_feed(  # noqa: PLR0913
    path: Path,
    name: str | None,
    project: ProjectWithFeeds,
    key: Sequence[str] = (),
    *,
    choices: Choices | None = None,
    dates: Dates | None = None,
) -> None:
    """Declare a feed from sample files, and print what was assumed, which files were written and what to do.

    Args:
        path: a file of the feed, or the folder of its files.
        name: the feed's name; None proposes one from the file names.
        project: the project.
        key: the columns that identify a record; if empty, they are found in the files.
        choices: what the user says about the files.
        dates: what the user says about dates.

    Raises:
        TidemarkError: when the files do not show how to read them, the name or the key, or the feed already
            exists.
    """
    read = partial(sample_of, lambda: warm_session(project.root), choices=choices)
    feed, gold, files = add(path, name, key, project, read, dates=dates)
    for column in feed.columns:
        message = column_line(column)
        output.text(f"  {column.name:<28} {message}", "column", name=column.name, type=column.type)
    for event, message in notes_of(feed, gold):
        output.note(event, message)
    for file in files:
        output.text(f"  wrote {file}", "wrote", file=file)
    output.text(
        f"Check the types and the rules in macros/staging/staged_{feed.name}.sql.\n"
        f"Describe the columns in the .yml files, then run:\n  tidemark land {feed.name}\n"
        f"  dbt build --select source:bronze.{feed.name}+"
    )


def dates_of(formats: Sequence[str], day_first: bool | None) -> Dates:
    """Return what the options of the command say about dates.

    Args:
        formats: words such as `ordered=d/M/yyyy`.
        day_first: True for `--day-first`, False for `--month-first`.

    Raises:
        TidemarkError: when a word has no `=`.
    """
    for word in formats:
        if not all(word.partition("=")):
            raise TidemarkError(
                f"`--date-format {word}` does not name a column.",
                "Write the column and its format: `--date-format ordered=d/M/yyyy`.",
            )
    named = (word.partition("=") for word in formats)
    by_column = {column.strip(): text.strip() for column, _, text in named}
    return Dates(by_column, None if day_first is None else "day" if day_first else "month")
