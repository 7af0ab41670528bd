"""Render templates into the files of a project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

ENVIRONMENT = Environment(  # its brackets differ from those of dbt
    loader=PackageLoader("tidemark.scaffold"),
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


def rendered(template: str, **values: Any) -> str:
    """Return the text of a template with values."""
    return ENVIRONMENT.get_template(template).render(**values)


def write_templates(targets: Mapping[str, Path], **values: Any) -> list[Path]:
    """Render all templates, then write the files; return their paths.

    Args:
        targets: the file to write for each template.
        values: the values for the templates.
    """
    return write_files({target: rendered(name, **values) for name, target in targets.items()})


def write_files(texts: Mapping[Path, str], check: Callable[[], object] | None = None) -> list[Path]:
    """Write new files, all or none; return their paths.

    Args:
        texts: the text of each file.
        check: called when all files are there; if it fails, they are removed again, with their folders.
    """
    folders = [folder for target in texts for folder in target.parents if not folder.exists()]
    written: list[Path] = []
    try:
        for target, text in texts.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            written.append(target)
            target.write_text(text, encoding="utf-8")
        if check:
            check()
    except BaseException:
        for target in written:
            target.unlink(missing_ok=True)
        for folder in sorted(set(folders), key=lambda folder: len(folder.parts), reverse=True):
            if folder.is_dir():
                folder.rmdir()
        raise
    return written
