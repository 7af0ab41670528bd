"""Find the feeds that dbt selectors match."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from python_ingest.feeds.declarations import Feed
from tidemark.base.errors import DbtError, did_you_mean
from tidemark.engine.project import Project


def selected_feeds(project: Project, selection: Sequence[str]) -> list[Feed]:
    """Return the selected feeds; if there are none, the feeds that the selected models read.

    Args:
        project: the project, parsed.
        selection: dbt selectors, such as `source:bronze.orders+`.

    Raises:
        DbtError: if dbt does not understand the selectors, or they match nothing.
    """
    names = selected_names(project, selection)
    return [project.feeds[name] for name in names if name in project.feeds]


def selected_names(project: Project, selection: Sequence[str]) -> list[str]:
    """Return the names of the selected feeds as `selected_feeds` does, also of invalid declarations."""
    from dbt.cli.main import dbtRunner

    output = ("--output", "json", "--output-keys", "unique_id")
    command = ["--log-level", "none", "list", *output, "--select", *selection]
    outcome = dbtRunner(project.manifest).invoke(command)
    lines = outcome.result if isinstance(outcome.result, list) else []
    chosen = [json.loads(line)["unique_id"] for line in lines]
    if not chosen:
        raise DbtError(
            f"Nothing matches {' '.join(selection)}{f': {outcome.exception}' if outcome.exception else ''}.",
            f"{similar_names(project.manifest, selection)}`dbt ls` lists what can be selected.",
        )
    nodes, declared = project.manifest.nodes, {*project.feeds, *project.invalid}
    read = [below for name in chosen if name in nodes for below in nodes[name].depends_on_nodes]
    for names in (chosen, read):
        sources = [project.manifest.sources[name] for name in names if name in project.manifest.sources]
        if feeds := dict.fromkeys(s.name for s in sources if s.name in declared and s.external):
            return list(feeds)
    return []


def similar_names(manifest: Any, selection: Sequence[str]) -> str:
    """Return a question that names what a selector may have meant; empty if nothing is similar.

    Args:
        manifest: dbt's manifest.
        selection: dbt selectors that match nothing.
    """
    known = {node.name for node in (*manifest.nodes.values(), *manifest.sources.values())}
    words = (selector.strip("+@0123456789").rpartition(".")[2] for selector in selection)
    return next(filter(None, (did_you_mean(word, known) for word in words)), "")
