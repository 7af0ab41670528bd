"""The settings of an embedded Spark: the rendered `spark.yml`."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from dbt.clients.yaml_helper import load_yaml_text
from jinja2 import Environment, StrictUndefined

from python_ingest.lake.lock import lake_folder

FOLDER = Path(__file__).parent
FORMATS = ("delta", "iceberg")


def embedded_settings(table_format: str) -> dict[str, str]:
    """Return Spark's settings for a table format, by name.

    Args:
        table_format: one of FORMATS.
    """
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701  # no HTML
    known = {
        "env_var": os.environ.get,
        "lake": str(lake_folder()),
        "log4j2": (FOLDER / "log4j2.properties").as_uri(),  # a path may contain spaces, a Java option may not
    }
    settings = _templates()[table_format]
    return {name: environment.from_string(text).render(known).strip() for name, text in settings.items()}


@lru_cache(maxsize=1)
def _templates() -> dict[str, Any]:
    return load_yaml_text((FOLDER / "spark.yml").read_text(encoding="utf-8")) or {}
