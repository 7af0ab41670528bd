"""Find the sources that dbt selectors match."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from tidemark.base.errors import DbtError, did_you_mean
from tidemark.engine.dbt_core.commands import SILENT, outcome_of
from tidemark.engine.project.nodes import sources_below


def selected_sources(manifest: Any, selection: Sequence[str], declared: Collection[str]) -> list[str]:
    """Return the names of the selected sources; if there are none, of those that the selected models read.

    Args:
        manifest: dbt's manifest.
        selection: dbt selectors, such as `source:bronze.orders+`.
        declared: the names of the sources to look for.

    Raises:
        DbtError: if dbt does not understand the selectors, or they match nothing.
    """
    output = ("--output", "json", "--output-keys", "unique_id")
    outcome = outcome_of([*SILENT, "list", *output, "--select", *selection], manifest)
    lines = outcome.result if isinstance(outcome.result, list) else []
    chosen = [json.loads(line)["unique_id"] for line in lines]
    if not chosen:
        raise DbtError(
            f"Nothing matches {' '.join(selection)}{f': {outcome.exception}' if outcome.exception else ''}.",
            f"{similar_names(manifest, selection)}`dbt ls` lists what can be selected.",
        )
    nodes = manifest.nodes
    chosen_nodes = [nodes[name] for name in chosen if name in nodes and nodes[name].depends_on_nodes]
    read = [source for node in chosen_nodes for source in sources_below(manifest, node)]
    for sources in ([manifest.sources[name] for name in chosen if name in manifest.sources], read):
        if found := dict.fromkeys(s.name for s in sources if s.name in declared and s.external):
            return list(found)
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
