"""`tidemark run`: land feeds, then `dbt build`, in one Spark session if Spark is in the process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from python_ingest.land import raise_failed
from tidemark.base.errors import TidemarkError
from tidemark.base.output import output
from tidemark.cli.build import DATA_ONLY, build_models
from tidemark.cli.land import land_each
from tidemark.engine.dbt_core import profiles
from tidemark.engine.project.session import warm_session
from tidemark.lake.lock import hold
from tidemark.lake.place import lake_folder
from tidemark.project_with_feeds import ProjectWithFeeds


def run_all(root: Path, select: Sequence[str], *, full_refresh: bool, audit: bool = False) -> None:
    """Land the selected feeds and build the selected models, but for models below a feed that failed to land.

    With Spark on a server, a process of its own lands, on the target that `embedded_target` names.

    Args:
        root: the project's folder, which must be the current one.
        select: dbt selectors; none for everything.
        full_refresh: whether to build the tables anew.
        audit: whether to test each batch before it is written.

    Raises:
        TidemarkError: if a feed or a model fails.
    """
    embedded = profiles.embedded_target(root)
    if not embedded:
        hold(lake_folder())
    lakehouse = ProjectWithFeeds.load()
    names = lakehouse.selected_names(select) if select else [*lakehouse.feeds, *lakehouse.invalid]
    failed: Mapping[str, TidemarkError] = {}
    if not embedded:
        feeds = [lakehouse.feeds[name] for name in names if name in lakehouse.feeds]
        invalid = lakehouse.invalid_among(names) if names else []
        _, failed = land_each(warm_session(root), lakehouse, [*feeds, *invalid])
    elif names:
        _land_elsewhere(embedded, names)
    selected = ["--select", *select] if select else []
    options = ["--full-refresh"] * full_refresh + ["--vars", "audit: true"] * audit
    build_models([*DATA_ONLY, *selected, *_without(lakehouse, failed), *options], lakehouse)
    raise_failed(failed, of=len(names))


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
    options = ["--log-format", "json"] if output.as_json else []
    command = [sys.executable, "-m", "tidemark.cli.main", *options, "land", *names]
    done = subprocess.run(command, env={**os.environ, "DBT_TARGET": target}, check=False)
    if done.returncode:
        sys.exit(done.returncode)  # the command has printed its error
