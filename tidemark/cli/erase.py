"""`tidemark erase`: a person's rows leave the lake, with one line for each table, and the proof."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from python_ingest.feeds.declarations import FileFeed, choose
from tidemark.base.errors import TidemarkError
from tidemark.base.output import count_of, first_of, output
from tidemark.cli.opening import opened
from tidemark.cli.options import OnlyPlan
from tidemark.engine.project.session import warm_session
from tidemark.lake.table_locks import locked
from tidemark.operate.erasure.erasure import Erasure, erasure_of
from tidemark.operate.erasure.search import SHORTEST
from tidemark.project_with_feeds import ProjectWithFeeds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAX_HITS_SHOWN = 20  # hits


class FoundError(TidemarkError):
    """The proof found the person."""


def erase(
    feed: Annotated[str, typer.Option("--feed", help="The feed that has the person's rows.")],
    key: Annotated[
        Optional[list[str]],
        typer.Option("--key", help="column=value of the feed; repeat it for a key of several columns."),
    ] = None,
    key_file: Annotated[
        Optional[typer.FileText],
        typer.Option(
            help="A file with one column=value a line, or `-` for the standard input: no list of "
            "processes and no history of a shell has the values."
        ),
    ] = None,
    only_plan: OnlyPlan = False,
) -> None:
    """Erase a person: rows, earlier versions, logs; prove it, and keep the rows from landing again."""
    if bool(key) == bool(key_file):
        raise TidemarkError(
            "The person's key is not given, or given twice.",
            "Give either --key, such as --key customer_id=42, or --key-file.",
        )
    lines = key_file.read().splitlines() if key_file else ()
    given = key or [line for line in lines if line.strip()]
    lakehouse = opened()
    erase_person(warm_session(lakehouse.root), lakehouse, feed, given, only_plan=only_plan)


def erase_person(
    spark: SparkSession, project: ProjectWithFeeds, feed: str, key: Sequence[str], *, only_plan: bool = False
) -> None:
    """Erase a person, or print what would be done.

    Args:
        spark: the session.
        project: the project.
        feed: the name of the feed.
        key: each as `column=value`.
        only_plan: whether to change nothing.

    Raises:
        FoundError: if the proof finds the person after the erasure.
        TidemarkError: if the person cannot be erased.
    """
    if invalid := project.invalid.get(feed):
        raise invalid
    (chosen,) = choose(project.feeds, [feed])
    erasure = erasure_of(spark, project, chosen, key)
    if only_plan:
        for step in erasure.plan():
            output.row(
                "planned", step.table, f"{count_of(step.rows, 'row')}: {step.message}", 0.0, rows=step.rows
            )
        _print_files(erasure)
        return
    with locked(f"{project.ops_schema}.landing", *project.tables):
        _run(erasure)


def _run(erasure: Erasure) -> None:
    started = time.monotonic()
    for step in erasure.run():
        message = f"{count_of(step.rows, 'row')} {step.message}" if step.rows else step.message
        output.row("erased", step.table, message, time.monotonic() - started, rows=step.rows)
        started = time.monotonic()
    _print_files(erasure)
    proof, personal = erasure.proof, erasure.personal
    message = (
        f"{count_of(len(proof.tables), 'table')}, {count_of(proof.files, 'file')}: {len(proof.hits)} hits"
    )
    output.row("proved", "proof", message, time.monotonic() - started, hits=proof.hits, files=proof.files)
    if proof.short:
        message = (
            f"{', '.join(proof.short)} has fewer than {SHORTEST} characters: searched in tables, not in bytes"
        )
        output.note("short", message, columns=proof.short)
        if proof.keyless:
            message = f"{first_of(proof.keyless)}: no model writes them, nor have they the key; look there"
            output.note("not searched", message, tables=proof.keyless)
    if not erasure.person.feed.external.pii:
        output.note(
            "no pii", f"feed '{erasure.person.feed.name}' declares no `pii` columns to search in bytes"
        )
    if not personal.is_whole:
        output.note(
            "incomplete", "the values of `pii` columns are erased already, so their bytes are not searched"
        )
    for column, number in personal.shared.items():
        message = f"{count_of(number, 'value')} of {column} not searched: other persons have the same"
        output.note("shared", message, column=column)
    if proof.hits:
        listed = "".join(f"\n    {hit}" for hit in proof.hits[:MAX_HITS_SHOWN])
        raise FoundError(
            f"The person is still in {count_of(len(proof.hits), 'place')}:{listed}",
            "Delete these by hand, or see docs/erasure.md; then run the same command again.",
        )


def _print_files(erasure: Erasure) -> None:
    feed, files = erasure.person.feed, erasure.landed.files()
    if files and isinstance(feed, FileFeed):
        named = first_of(files, MAX_HITS_SHOWN)
        message = f"{named}: files of the feed, which still have the person; delete them there"
        output.note("raw files", message, paths=files)
    elif files:
        message = f"{feed.external.source} may still have the person; delete them there"
        output.note("source", message, paths=files)
    if examples := erasure.examples():
        named = first_of(examples, MAX_HITS_SHOWN)
        message = f"{named}: files of the project with values of the person; replace them there"
        output.note("examples", message, paths=examples)
