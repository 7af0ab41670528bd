"""The project's folder as of a commit, for dbt commands of this process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tidemark.base.errors import TidemarkError
from tidemark.engine.dbt_core.commands import invoke_dbt
from tidemark.engine.dbt_core.profiles import profiles_folder
from tidemark.engine.runs.provenance import git_state
from tidemark.lake.place import LAKE, is_remote, lake_folder, lake_location

PACKAGES = ("packages.yml", "dependencies.yml", "package-lock.yml")
INSTALLED = "dbt_packages"


@contextmanager
def code_at(root: Path, commit: str) -> Iterator[None]:
    """Let dbt commands see the project as of a commit, on the lake and the profile of the present one.

    The files are those of the project's folder if they are the commit's, else a temporary copy. Nothing is
    written to the repository, and dbt's own files go to a temporary folder.

    Args:
        root: the project's folder, which is the current one.
        commit: the id of a commit.

    Raises:
        TidemarkError: if the repository does not have the commit, or the commit has no project.
    """
    with TemporaryDirectory(prefix="tidemark-") as folder:
        is_present = git_state(root) == (commit, False)
        place = root if is_present else _files_of(root, commit, Path(folder))
        with _environment(
            {
                LAKE: lake_location() if is_remote() else str(lake_folder().resolve()),
                "DBT_PROFILES_DIR": str(profiles_folder(root).resolve()),
                "DBT_LOG_PATH": str(Path(os.environ.get("DBT_LOG_PATH", "logs")).resolve()),
                "DBT_TARGET_PATH": f"{folder}/target",
            }
        ):
            os.chdir(place)
            try:
                if not is_present:
                    _bring_packages(root, place)
                yield
            finally:
                os.chdir(root)


def _files_of(root: Path, commit: str, folder: Path) -> Path:
    """Write the files of a commit; return the project's folder among them."""
    try:
        _git(root, "cat-file", "-e", f"{commit}^{{commit}}")
    except (OSError, subprocess.CalledProcessError):
        raise TidemarkError(
            f"The repository of {root} does not have the run's commit {commit[:12]}.",
            "Fetch it (`git fetch --unshallow` if the clone is shallow), or run this where the run was.",
        ) from None
    top, prefix = (_git(root, "rev-parse", f"--show-{what}") for what in ("toplevel", "prefix"))
    index = {"GIT_INDEX_FILE": str(folder / "index")}
    _git(Path(top), "read-tree", commit, variables=index)
    _git(Path(top), "checkout-index", "--all", f"--prefix={folder}/files/", variables=index)
    place = folder / "files" / prefix
    if not (place / "dbt_project.yml").is_file():
        raise TidemarkError(
            f"The run's commit {commit[:12]} has no dbt project in {prefix or 'its top folder'}.",
            "Run this in the folder that the project had then.",
        )
    return place


def _bring_packages(root: Path, place: Path) -> None:
    """Give a copy the packages of dbt that it declares."""
    declared = [_bytes(place / name) for name in PACKAGES]
    if not any(declared) or (place / INSTALLED).exists():
        return
    if declared == [_bytes(root / name) for name in PACKAGES] and (root / INSTALLED).is_dir():
        (place / INSTALLED).symlink_to(root / INSTALLED)
    else:
        invoke_dbt(["--log-level=none", "deps"])


def _bytes(file: Path) -> bytes:
    return file.read_bytes() if file.is_file() else b""


def _git(folder: Path, *arguments: str, variables: Mapping[str, str] | None = None) -> str:
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, **(variables or {})}
    )
    return done.stdout.strip()


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
