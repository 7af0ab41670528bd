"""The settings of an embedded Spark: the rendered `spark.yml`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, StrictUndefined

from tidemark.base.databases import jdbc
from tidemark.lake.metastore import metastore, rest_catalog
from tidemark.lake.place import lake_folder, lake_location
from tidemark.lake.private_folder import private_folder
from tidemark.spark.jars import FOLDER as JARS

FOLDER = Path(__file__).parent
FORMATS = ("delta", "iceberg")
MASTER = "spark.master"


def embedded_settings(table_format: str, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return Spark's settings for a table format, by name.

    Args:
        table_format: one of FORMATS.
        given: settings of the profile, which override those of spark.yml.
    """
    given = given or {}
    settings = _rendered(table_format)
    if not given.get(MASTER, settings[MASTER]).startswith("local"):
        settings |= _rendered("cluster")
    if metastore():
        settings |= _rendered("shared_catalog")
    if table_format == "iceberg" and rest_catalog():
        settings |= {name: value for name, value in _rendered("rest_catalog").items() if value}
    return {**settings, **given}


def _rendered(part: str) -> dict[str, str]:
    shared = metastore()
    url, driver = jdbc(shared) if shared else ("", {})
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701  # no HTML
    known = {
        "env_var": os.environ.get,
        "lake": lake_location(),
        "private": str(private_folder()),
        "catalog": str(lake_folder()),
        "metastore_url": url,
        "metastore": driver,
        "rest_catalog": rest_catalog(),
        "jars": ",".join(sorted(path.absolute().as_uri() for path in JARS.glob("*.jar"))),
        "log4j2": (FOLDER / "log4j2.properties").as_uri(),  # a path may contain spaces, a Java option may not
    }
    settings = _templates()[part]
    return {name: environment.from_string(text).render(known).strip() for name, text in settings.items()}


@lru_cache(maxsize=1)
def _templates() -> dict[str, Any]:
    templates: dict[str, Any] = yaml.safe_load((FOLDER / "spark.yml").read_text(encoding="utf-8"))
    return templates
