"""`tidemark add`: declare a feed and print what was assumed, the files, and the next commands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Optional

import typer

from tidemark.base.errors import TidemarkError
from tidemark.base.output import output
from tidemark.cli.opening import opened
from tidemark.engine.project.session import warm_session
from tidemark.project_with_feeds import ProjectWithFeeds
from tidemark.scaffold.conversation import column_line, notes_of
from tidemark.scaffold.reading.choices import Choices, names_in
from tidemark.scaffold.sampling import sample_of
from tidemark.scaffold.typed_sample import Dates
from tidemark.scaffold.writing import add as write_feed

Encoding = Annotated[
    Optional[str], typer.Option(help="Encoding of text files, such as windows-1251 (default: detected).")
]
Delimiter = Annotated[
    Optional[str], typer.Option(help="Delimiter of CSV fields; also `tab` (default: detected).")
]
HasHeader = Annotated[
    Optional[bool],
    typer.Option(
        "--header/--no-header", help="Whether the first record has the column names (default: detected)."
    ),
]
Columns = Annotated[str, typer.Option(help="Column names of files without a header: a,b,c.")]
SkipLines = Annotated[
    Optional[int], typer.Option(min=0, help="Number of lines before the header (default: detected).")
]
Footer = Annotated[
    Optional[int], typer.Option(min=0, help="Number of lines after the last record (default: detected).")
]
Comment = Annotated[Optional[str], typer.Option(help="Prefix of comment lines (default: detected).")]
Sheet = Annotated[Optional[str], typer.Option(help="Sheet of Excel workbooks (default: the first one).")]
DateFormats = Annotated[
    Optional[list[str]],
    typer.Option("--date-format", help="The format of a column's dates: ordered=d/M/yyyy; can be repeated."),
]
DayFirst = Annotated[
    Optional[bool],
    typer.Option(
        "--day-first/--month-first", help="Order of day and month in dates, if the values are ambiguous."
    ),
]


def add(  # noqa: PLR0913, PLR0917  # the options of the command
    path: Annotated[Path, typer.Argument(help="A file of the feed, or its folder.", resolve_path=True)],
    name: Annotated[Optional[str], typer.Option(help="Name of the feed.")] = None,
    key: Annotated[str, typer.Option(help="Columns that identify a record, separated by commas.")] = "",
    no_key: Annotated[
        bool, typer.Option("--no-key", help="No columns identify a record: silver keeps each as it landed.")
    ] = False,
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
    if key and no_key:
        raise TidemarkError("`--key` and `--no-key` exclude each other.", "Use one of them.")
    lakehouse = opened(starts_spark=False)
    add_feed(
        path,
        name,
        lakehouse,
        None if no_key else names_in(key),
        choices=choices.checked(),
        dates=dates_of(date_format or [], day_first),
    )


def add_feed(  # noqa: PLR0913
    path: Path,
    name: str | None,
    project: ProjectWithFeeds,
    key: Sequence[str] | None = (),
    *,
    choices: Choices | None = None,
    dates: Dates | None = None,
) -> None:
    """Declare a feed from sample files, and print what was assumed, which files were written and what to do.

    Args:
        path: a file of the feed, or the folder of its files.
        name: the feed's name; None proposes one from the file names.
        project: the project.
        key: the columns that identify a record; if empty, they are found in the files; None if none do.
        choices: what the user says about the files.
        dates: what the user says about dates.

    Raises:
        TidemarkError: when the files do not show how to read them, the name or the key, or the feed already
            exists.
    """
    read = partial(sample_of, lambda: warm_session(project.root), choices=choices)
    feed, gold, files = write_feed(path, name, key, project, read, dates=dates)
    for column in feed.columns:
        message = column_line(column)
        output.text(f"  {column.name:<28} {message}", "column", name=column.name, type=column.type)
    for event, message in notes_of(feed, gold):
        output.note(event, message)
    for file in files:
        output.text(f"  wrote {file}", "wrote", file=file)
    output.text(
        f"Check the types and the rules in models/staging/{feed.name}/stg_{feed.name}.sql.\n"
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
