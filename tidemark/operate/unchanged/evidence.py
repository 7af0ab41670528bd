"""What a run reads, as digests: the project, the settings, the files of feeds, the lake."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tidemark.engine.dbt_core.texts import yaml_mapping
from tidemark.lake.lock import LOCK

ENVIRONMENT = re.compile(r"\benv_var\s*\(\s*(?:(['\"])(?P<name>\w+)\1)?")
PATHS = {  # dbt's settings of folders, and what it takes without them
    "model-paths": ["models"],
    "seed-paths": ["seeds"],
    "test-paths": ["tests"],
    "macro-paths": ["macros"],
    "snapshot-paths": ["snapshots"],
    "analysis-paths": ["analyses"],
    "function-paths": ["functions"],
    "docs-paths": [],
    "asset-paths": [],
    "packages-install-path": "dbt_packages",
}
DATA = (".csv", ".parquet", ".md", ".png")  # they name no variables
SETTINGS = ("DBT_", "TIDEMARK_", "SPARK_", "PYSPARK_", "HADOOP_", "JAVA_", "JDK_", "TZ", "AWS_")
PACKAGES = ("dbt-core", "dbt-spark", "dbt-tidemark", "pyspark", "delta-spark")
OWN = Path(__file__).parents[2]
METASTORE = "metastore"


@dataclass(frozen=True)
class Code:
    """The files of a project.

    Attributes:
        digest: of their names and contents.
        names: the environment variables that they name.
        is_known: whether all folders and variables can be told; some projects compute them.
    """

    digest: str
    names: frozenset[str]
    is_known: bool


def project_code(root: Path, profiles: Path) -> Code:
    """Return what dbt may read of a project: its folders, the files beside dbt_project.yml, the profiles.

    Args:
        root: the project's folder.
        profiles: the folder of profiles.yml.
    """
    settings = yaml_mapping(root / "dbt_project.yml")
    folders = [folder for name, default in PATHS.items() for folder in _listed(settings.get(name, default))]
    beside = (path for path in root.iterdir() if path.suffix in (".yml", ".yaml", ".toml") and path.is_file())
    paths = {*beside, profiles / "profiles.yml"}
    paths |= {Path(path) for folder in folders for path, *_ in _files(root / folder)}
    digest, names = hashlib.sha256(), set()
    for path in sorted(paths):
        try:
            content = path.read_bytes()
        except OSError:  # it is missing, or dbt cannot read it either
            content = b""
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
        if path.suffix not in DATA:
            found = ENVIRONMENT.finditer(content.decode("utf-8", "replace"))
            names |= {call["name"] or "" for call in found}
    is_known = "" not in names and not any("{{" in folder for folder in folders)
    return Code(digest.hexdigest(), frozenset(names), is_known)


def _listed(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


def settings(request: Mapping[str, object], names: Iterable[str], environment: Mapping[str, str]) -> str:
    """Return a digest of how the run was asked for: options, variables, versions.

    Args:
        request: the options of the command.
        names: environment variables that the project names.
        environment: the variables of the process.
    """
    named = {*names, *(name for name in environment if name.startswith(SETTINGS))}
    parts = [sorted(request.items()), sorted((name, environment.get(name)) for name in named)]
    return digest_of([sys.version, os.getcwd(), *map(repr, parts), *map(_version, PACKAGES), _own_code()])


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} is missing"


def _own_code() -> str:
    """Return what changes with the installed code, also where it is installed from a folder."""
    packages = (OWN, OWN.parent / "python_ingest", OWN.parent / "dbt")
    return digest_of(repr(one) for package in packages for one in sorted(_files(package)))


def feed_files(folders: Iterable[Path]) -> str:
    """Return a digest of the names, sizes and times of all files in the feeds' folders."""
    return digest_of(repr(one) for folder in sorted(folders) for one in sorted(_files(folder)))


def _files(folder: Path) -> Iterator[tuple[str, int, int, int, int]]:
    seen: set[str] = set()
    for inside, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(inside)
        folders[:] = [] if real in seen else [name for name in folders if name != "__pycache__"]
        for name in () if real in seen else names:
            path = os.path.join(inside, name)
            try:
                facts = os.stat(path)
            except OSError:  # it is gone, or a link to nothing
                continue
            yield path, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns
        seen.add(real)


def lake_folders(lake: Path) -> str:
    """Return a digest of the lake's tables: each commit and each data file changes the time of a folder.

    Args:
        lake: the lake's folder.
    """
    found = []
    for folder, folders, _ in os.walk(lake):
        if Path(folder) == lake:  # it has the lock and the record of the last run
            folders[:] = [name for name in folders if name != METASTORE]
        else:
            found.append(folder)
    return times(sorted(found))


def catalog(lake: Path) -> str:
    """Return a digest of the embedded catalog, and of who held the lake last.

    Every process that opens the catalog changes it, so it is compared only once that of a run has ended.
    """
    lock = lake / LOCK
    held = (lock.read_text("utf-8"), lock.stat().st_mtime_ns) if lock.exists() else ("", 0)
    return digest_of([repr(held), *map(repr, sorted(_files(lake / METASTORE)))])


def times(paths: Iterable[str]) -> str:
    """Return a digest of the times of single files or folders; a missing one differs from any other."""
    return digest_of(
        f"{path} {os.stat(path).st_mtime_ns if os.path.exists(path) else None}" for path in paths
    )


def digest_of(parts: Iterable[str]) -> str:
    """Return a digest of texts, in their order."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{part}\0".encode())
    return digest.hexdigest()
