"""Render templates into the files of a project."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

ENVIRONMENT = Environment(  # its brackets differ from those of dbt
    loader=PackageLoader("python_ingest.scaffold"),
    block_start_string="<%",
    block_end_string="%>",
    variable_start_string="<<",
    variable_end_string=">>",
    comment_start_string="<#",
    comment_end_string="#>",
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    undefined=StrictUndefined,
    autoescape=False,  # noqa: S701  # SQL and YAML, not HTML
)


def write_templates(targets: Mapping[str, Path], **values: Any) -> list[Path]:
    """Render all templates, then write the files; return their paths.

    Args:
        targets: the file to write for each template.
        values: the values for the templates.
    """
    texts = {target: ENVIRONMENT.get_template(name).render(**values) for name, target in targets.items()}
    for target, text in texts.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return list(texts)
