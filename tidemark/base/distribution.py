"""Tidemark as a package that pip installs: its name, version and address."""

from __future__ import annotations

from importlib import metadata

NAME = "dbt-tidemark"
ADDRESS = "Homepage"  # in [project.urls] of pyproject.toml


def version() -> str:
    """Return the installed version."""
    return metadata.version(NAME)


def address() -> str:
    """Return the project's URL."""
    urls: list[str] = metadata.metadata(NAME).get_all("Project-URL") or []
    return next(url.removeprefix(f"{ADDRESS}, ") for url in urls if url.startswith(f"{ADDRESS}, "))


def pip_install(extra: str) -> str:
    """Return the command that installs an extra.

    >>> pip_install("report")
    "pip install 'dbt-tidemark[report]'"
    """
    return f"pip install '{NAME}[{extra}]'"
