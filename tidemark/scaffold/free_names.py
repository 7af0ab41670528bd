"""Check that the names of a proposed feed are free in the whole project."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from tidemark.base.errors import TidemarkError

REFERENCED = ("model", "seed", "snapshot")  # they share their names in `ref()`


def check_names(manifest: Any, name: str, gold: str | None) -> None:
    """Stop if a name of the feed's models or its test is taken, in any letter case.

    Args:
        manifest: dbt's parsed manifest.
        name: the feed's name.
        gold: the name of its gold model; None if it has none.

    Raises:
        TidemarkError: when one is taken, also by something that is disabled.
    """
    models = {name, f"stg_{name}", f"rejected_{name}", *([gold] if gold else [])}
    tests = {f"{name}_row_balance"}
    for node in _nodes(manifest):
        wanted = models if node.resource_type in REFERENCED else tests if node.resource_type == "test" else ()
        if node.name.lower() in wanted:
            _stop(f"{node.resource_type} '{node.name}'", node.original_file_path)
    for source in manifest.sources.values():
        if source.source_name == "bronze" and source.name.lower() == name:
            _stop(f"source 'bronze.{source.name}'", source.original_file_path)


def _nodes(manifest: Any) -> Iterator[Any]:
    disabled = chain.from_iterable(getattr(manifest, "disabled", {}).values())
    return chain(manifest.nodes.values(), disabled)


def _stop(what: str, file: str) -> None:
    raise TidemarkError(f"The project already has a {what}: {file}.", "Choose another `--name` for the feed.")
