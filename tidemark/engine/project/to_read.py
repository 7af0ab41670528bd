"""Parse a project for commands that run nothing: what is broken does not stop them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tidemark.base.errors import DbtError
from tidemark.engine.dbt_core.broken_nodes import Broken, without_broken_nodes
from tidemark.engine.dbt_core.commands import PARSE, invoke_dbt
from tidemark.engine.project import Project, enter_root


def load_to_read(variables: Mapping[str, Any]) -> tuple[Project, Broken]:
    """Parse the project for a command that runs nothing: a broken model or data test does not stop it.

    Args:
        variables: values of `--vars`.

    Returns:
        The project, and what dbt cannot parse of it.

    Raises:
        DbtError: if dbt cannot parse the project even without them.
    """
    root = enter_root()
    manifest, broken = parsed_to_read(variables)
    return Project.of(root, manifest), broken


def parsed_to_read(variables: Mapping[str, Any]) -> tuple[Any, Broken]:
    """Return dbt's manifest as `load_to_read` does, and what it leaves out."""
    options = [*PARSE, "--vars", json.dumps(dict(variables))] if variables else [*PARSE]
    try:
        return invoke_dbt(["--log-level=none", *options]), Broken()
    except DbtError:
        with without_broken_nodes() as broken:
            return invoke_dbt(["--log-level=none", "--no-partial-parse", *options]), broken
