"""The settings of an embedded Spark: `spark.yml`, filled in."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from dbt.clients.yaml_helper import load_yaml_text
from dbt_common.exceptions import DbtConfigError
from jinja2 import Environment, StrictUndefined

from python_ingest.lake.lock import lake_folder

FOLDER = Path(__file__).parent


def embedded_settings(table_format: str) -> dict[str, str]:
    """Return the settings of Spark for a lake of a format, by name.

    Args:
        table_format: `delta` or `iceberg`.

    Raises:
        DbtConfigError: for another format.
    """
    if table_format not in _templates():
        raise DbtConfigError(
            f"profiles.yml: table_format is '{table_format}'. Use one of: {', '.join(_templates())}."
        )
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701  # no HTML
    known = {
        "env_var": os.environ.get,
        "lake": str(lake_folder()),
        "log4j2": (FOLDER / "log4j2.properties").as_uri(),  # a path may have spaces, an option of Java not
    }
    settings = _templates()[table_format]
    return {name: environment.from_string(text).render(known).strip() for name, text in settings.items()}


@lru_cache(maxsize=1)
def _templates() -> dict[str, Any]:
    return load_yaml_text((FOLDER / "spark.yml").read_text(encoding="utf-8")) or {}
