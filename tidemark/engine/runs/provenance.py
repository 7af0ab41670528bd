"""What a dbt command ran with: the commit of its code, locks of packages, versions, variables."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tidemark.base.distribution import version
from tidemark.engine.built_with import HIDDEN
from tidemark.spark.jars import LOCK as JARS

SECRET = re.compile("password|secret|token|key|credential", re.IGNORECASE)
SECONDS = 10  # for git


def provenance(root: Path, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of `ops.runs` that say what a command ran with.

    Args:
        root: the project's folder.
        variables: the values of `--vars`.
    """
    commit, is_dirty = git_state(root)
    locks = [file for file in (root / "requirements.lock", JARS) if file.is_file()]
    return {
        "git_commit": commit,
        "git_is_dirty": is_dirty,
        "locks": {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in locks},
        "tidemark_version": version(),
        "vars": json.dumps(without_secrets(variables), sort_keys=True, default=str),
    }


def git_state(folder: Path) -> tuple[str | None, bool | None]:
    """Return the commit of a folder's repository, and whether files of this folder differ from it.

    Returns:
        None for both outside a repository, or if git is not installed; None for the commit before the first.
    """
    command = ["git", "-C", str(folder), "status", "--porcelain=v2", "--branch", "--", "."]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None, None
    if done.returncode:
        return None, None
    lines = done.stdout.splitlines()
    commits = [line.split()[-1] for line in lines if line.startswith("# branch.oid ")]
    commit = commits[0] if commits and commits[0] != "(initial)" else None
    return commit, any(not line.startswith("#") for line in lines)


def without_secrets(value: Any, name: str = "") -> Any:
    """Return a value without the parts whose names look like secrets, in maps within it, too."""
    if SECRET.search(name):
        return HIDDEN
    if isinstance(value, Mapping):
        return {key: without_secrets(each, str(key)) for key, each in value.items()}
    if isinstance(value, list):
        return [without_secrets(each) for each in value]
    return value
