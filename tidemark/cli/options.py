"""The arguments and options of the command `tidemark`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Optional

import typer


class Format(StrEnum):
    """The format of a command's output."""

    TEXT = "text"
    JSON = "json"


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
Feeds = Annotated[Optional[list[str]], typer.Argument(help="Names of feeds (default: all).")]
CsvFile = Annotated[Path, typer.Argument(help="The CSV file to write.", resolve_path=True)]
Page = Annotated[
    Optional[Path],
    typer.Option(
        help="The HTML file to write (default: site/report.html in the project).", resolve_path=True
    ),
]
Days = Annotated[int, typer.Option(min=1, max=36_500, help="Number of days to show.")]
Models = Annotated[Optional[list[str]], typer.Argument(help="dbt selectors (default: all models).")]
Tables = Annotated[Optional[list[str]], typer.Argument(help="Tables as schema.name (default: all).")]
Select = Annotated[Optional[list[str]], typer.Option("--select", "-s", help="dbt selector; can be repeated.")]
Audit = Annotated[bool, typer.Option("--audit", help="Test each batch before it is written.")]
FullRefresh = Annotated[bool, typer.Option("--full-refresh", help="Rebuild tables from their sources.")]
CompareAll = Annotated[
    bool,
    typer.Option(
        "--compare-all", help="Compare all rows of database tables, not only those after the last position."
    ),
]
AcceptLoss = Annotated[
    bool, typer.Option("--accept-loss", help="Continue if a topic lost messages before they were landed.")
]
Follow = Annotated[
    bool, typer.Option("--follow", help="Land messages of topics as they arrive, until Ctrl-C.")
]
LogFormat = Annotated[Format, typer.Option(help="`text`, or `json` with one object per line.")]
Deep = Annotated[bool, typer.Option("--deep", help="Also compare the hashes of Spark's jars.")]
Skip = Annotated[
    Optional[list[str]], typer.Option("--skip", help="Skip the check with this name; can be repeated.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the stack trace of an error.")]
Histories = Annotated[
    int, typer.Option(min=1, help="Random histories for each combination of changed sources.")
]
Seed = Annotated[int, typer.Option(help="The seed of the random histories.")]
Port = Annotated[int, typer.Option(min=1, max=65535, help="The server's port on 127.0.0.1.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
MetricsFile = Annotated[
    Optional[Path],
    typer.Option("--openmetrics", help="Also write metrics for Prometheus to this file.", resolve_path=True),
]
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
OlderThan = Annotated[int, typer.Option("--older-than", min=0, help="Keep versions of the last N hours.")]
LogOlderThan = Annotated[
    int,
    typer.Option(
        "--log-older-than", min=0, help="Keep logs of the last N hours (never fewer than versions)."
    ),
]
OnlyPlan = Annotated[bool, typer.Option("--plan", help="Show what the command would do, and change nothing.")]
ErasedFeed = Annotated[str, typer.Option("--feed", help="The feed that has the person's rows.")]
PersonKey = Annotated[
    Optional[list[str]],
    typer.Option("--key", help="column=value of the feed; repeat it for a key of several columns."),
]
KeyFile = Annotated[
    Optional[typer.FileText],
    typer.Option(
        help="A file with one column=value a line, or `-` for the standard input: no list of "
        "processes and no history of a shell has the values."
    ),
]
Variables = Annotated[
    str,
    typer.Option("--vars", help="Values of variables, as for dbt: {name: value}."),
]
