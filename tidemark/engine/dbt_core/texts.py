"""Texts that dbt reads and Tidemark too: YAML files, the values of `--vars`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tidemark.base.errors import TidemarkError
from tidemark.base.messages import plain_message


def yaml_in(text: str) -> Any:
    """Return what a text in YAML says, as dbt reads it; templates stay as they are.

    Raises:
        ValueError: if it is not YAML.
    """
    from dbt.clients.yaml_helper import load_yaml_text
    from dbt_common.exceptions import DbtValidationError

    try:
        return load_yaml_text(text)
    except DbtValidationError as error:
        raise ValueError(plain_message(str(error))) from None


def output_folders(root: Path) -> tuple[Path, Path]:
    """Return the folders of dbt's artifacts and of its logs, as dbt finds them.

    Args:
        root: the project's folder.
    """
    settings = yaml_mapping(root / "dbt_project.yml")
    target = os.environ.get("DBT_TARGET_PATH") or settings.get("target-path") or "target"
    logs = os.environ.get("DBT_LOG_PATH") or settings.get("log-path") or "logs"
    return root / str(target), root / str(logs)


def yaml_mapping(path: Path) -> dict[str, Any]:
    """Return the mapping of a YAML file; an empty file has none.

    Raises:
        TidemarkError: if the file does not exist, cannot be read, or is not a mapping.
    """
    try:
        found = yaml_in(path.read_text(encoding="utf-8")) or {}
    except FileNotFoundError:
        raise TidemarkError(f"{path} does not exist.", "Write it with `tidemark init`.") from None
    except (ValueError, OSError) as error:
        raise TidemarkError(f"{path} is not YAML:\n{plain_message(str(error))}", "Correct it.") from None
    if not isinstance(found, dict):
        raise TidemarkError(f"{path} is not a mapping of names to values.", "Correct it.")
    return found


def variables_in(text: str) -> dict[str, Any]:
    """Return the values of `--vars`.

    Raises:
        TidemarkError: if they are not what dbt takes.
    """
    from dbt.config.utils import parse_cli_vars
    from dbt_common.exceptions import DbtBaseException

    try:
        return dict(parse_cli_vars(text))
    except DbtBaseException:
        raise TidemarkError(
            "--vars are not names with values.", "Write them as for dbt: --vars '{name: value}'."
        ) from None
