"""`tidemark run`: land feeds, then `dbt build`, in one Spark session if Spark is in the process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Annotated

import typer

from python_ingest.land import raise_failed
from tidemark.base.errors import TidemarkError
from tidemark.base.output import count_of, output
from tidemark.cli.build import DATA_ONLY, build_models
from tidemark.cli.landing import land_each
from tidemark.cli.options import Models, Select, selectors
from tidemark.engine.dbt_core import profiles
from tidemark.engine.project import enter_root
from tidemark.engine.project.session import start_session, warm_session
from tidemark.lake.lock import hold
from tidemark.lake.place import lake_folder
from tidemark.operate.unchanged.last_run import LastRun, Watch
from tidemark.project_with_feeds import ProjectWithFeeds


def run(
    models: Models = None,
    select: Select = None,
    full_refresh: Annotated[
        bool, typer.Option("--full-refresh", help="Rebuild tables from their sources.")
    ] = False,
    audit: Annotated[bool, typer.Option("--audit", help="Test each batch before it is written.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Run even if nothing changed since the last run.")
    ] = False,
) -> None:
    """Land feeds, then run `dbt build` in the same Spark session; selectors limit both.

    If the last run with these options changed nothing, and no file, setting or table has changed since, there
    is nothing to do: it ends without Spark.
    """
    started, root, selected = time.monotonic(), enter_root(), selectors(models, select)
    watch = Watch(root, {"select": selected, "audit": audit})
    if not (full_refresh or force) and (last := watch.repeats()):
        show_unchanged(last, time.monotonic() - started)
        return
    embedded = profiles.embedded_target(root)
    if not embedded:
        hold(lake_folder())
        start_session(root)
    lakehouse = ProjectWithFeeds.load()
    names = lakehouse.selected_names(selected) if selected else [*lakehouse.feeds, *lakehouse.invalid]
    failed: Mapping[str, TidemarkError] = {}
    if not embedded:
        feeds = [lakehouse.feeds[name] for name in names if name in lakehouse.feeds]
        invalid = lakehouse.invalid_among(names) if names else []
        spark = warm_session(root)
        watch.begin(spark, feeds)
        _, failed = land_each(spark, lakehouse, [*feeds, *invalid])
    elif names:
        _land_elsewhere(embedded, names)
    options = ["--select", *selected] if selected else []
    options += ["--full-refresh"] * full_refresh + ["--vars", "audit: true"] * audit
    built = build_models([*DATA_ONLY, *options, *_without(lakehouse, failed)], lakehouse)
    raise_failed(failed, of=len(names))
    if not full_refresh:
        counts = {"feeds": len(names), "tables": len(built.tables), "tests": built.passed}
        watch.end(lakehouse.manifest, built.nodes, selected, counts, output.notes)


def show_unchanged(last: LastRun, seconds: float) -> None:
    """Print that there is nothing to do, and the notes of the last run once more."""
    counts = ", ".join(count_of(number, noun.removesuffix("s")) for noun, number in last.counts.items())
    since = f"{datetime.fromisoformat(last.at):%Y-%m-%d %H:%M:%S} UTC"
    output.row("unchanged", counts, f"unchanged since {since}", seconds, since=last.at, **last.counts)
    for event, message, facts in last.notes:
        output.note(event, message, **facts)


def _without(lakehouse: ProjectWithFeeds, failed: Collection[str]) -> list[str]:
    """Return dbt's options that leave out the models below feeds that failed to land."""
    if not failed:
        return []
    sources = [
        source for source in lakehouse.manifest.sources.values() if source.external and source.name in failed
    ]
    below = [f"source:{source.source_name}.{source.name}+" for source in sources]
    output.note("not built", f"models that read {', '.join(failed)}", feeds=list(failed))
    return ["--exclude", *below]


def _land_elsewhere(target: str, names: Sequence[str]) -> None:
    """Land in a process of its own, on the target that `embedded_target` names, as Spark is on a server."""
    options = ["--log-format", "json"] if output.as_json else []
    command = [sys.executable, "-m", "tidemark.cli.main", *options, "land", *names]
    done = subprocess.run(command, env={**os.environ, "DBT_TARGET": target}, check=False)
    if done.returncode:
        sys.exit(done.returncode)  # the command has printed its error
