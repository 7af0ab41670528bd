"""What a run reads besides the files of feeds, as digests: project, settings, tables, catalogs."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from stat import S_ISDIR

from tidemark.engine.dbt_core.texts import yaml_mapping
from tidemark.lake.lock import LOCK
from tidemark.operate.unchanged.files import digest_of, entries, times, times_of_folders, tree
from tidemark.spark.jars import FOLDER as JARS

VARIABLE = re.compile(r"\benv_var\s*\(\s*(?:(['\"])(?P<name>\w+)\1)?")
CLOCK_IN_YAML = re.compile(r"\{[{%][^{}]*\b(modules|run_started_at|invocation_id)\b")
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
YAML = (".yml", ".yaml")
PROSE = ".md"  # may speak of `env_var()`; of dbt, it has descriptions alone
DATA = (".csv", ".parquet", ".png")  # they name no variables
SETTINGS = (
    "DBT_",
    "TIDEMARK_",
    "SPARK_",
    "PYSPARK_",
    "HADOOP_",
    "JAVA_",
    "JDK_",
    "TZ",
    "AWS_",
    "LC_",
    "LANG",
)
FOLDERS_OF_SETTINGS = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR")
PACKAGES = ("dbt-core", "dbt-spark", "dbt-tidemark", "pyspark", "delta-spark")
OWN = Path(__file__).parents[2]
METASTORE = "metastore"
RECORD = ".last_run"  # how the names of this package's own files in the lake begin


@dataclass(frozen=True)
class Code:
    """The files of a project.

    Attributes:
        digest: of their names and contents.
        names: the environment variables that they name.
        is_known: whether all folders and variables can be told, and no setting reads the clock.
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
    beside = (path for path in root.iterdir() if path.suffix in (*YAML, ".toml") and path.is_file())
    paths = {*beside, profiles / "profiles.yml"}
    below = [entry for folder in folders for entry in entries(root / folder)]
    paths |= {Path(path) for path, facts in below if facts is None or not S_ISDIR(facts.st_mode)}
    parts, names = list[str](), set[str]()
    is_known = not any("{{" in folder for folder in folders)
    for path in sorted(paths):
        try:
            content = path.read_bytes()
        except OSError:  # it is missing, or dbt cannot read it either
            content = b""
        text = content.decode("utf-8", "surrogateescape")
        parts += [str(path), os.path.realpath(path), text]
        if path.suffix not in DATA:
            found = {call["name"] or "" for call in VARIABLE.finditer(text)}
            names |= found - {""} if path.suffix == PROSE else found
        if path.suffix in YAML and CLOCK_IN_YAML.search(text):
            is_known = False
    return Code(digest_of(parts), frozenset(names), is_known and "" not in names)


def _listed(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


def settings(
    root: Path, request: Mapping[str, object], names: Iterable[str], environment: Mapping[str, str]
) -> str:
    """Return a digest of how the run was asked for: options, variables, and what is installed.

    Args:
        root: the project's folder.
        request: the options of the command.
        names: environment variables that the project names.
        environment: the variables of the process.
    """
    named = {*names, *(name for name in environment if name.startswith(SETTINGS))}
    parts = [sorted(request.items()), sorted((name, environment.get(name)) for name in named)]
    installed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    folders = [environment[name] for name in FOLDERS_OF_SETTINGS if environment.get(name)]
    # the code itself, too: it may be installed from a folder
    folders += [str(OWN), str(OWN.parent / "python_ingest"), str(OWN.parent / "dbt"), str(root / JARS)]
    return digest_of(
        [
            sys.version,
            str(root),
            *map(repr, parts),
            *map(_version, PACKAGES),
            times(sorted(installed)),
            *(tree(Path(folder)).digest for folder in folders),
        ]
    )


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} is missing"


def tables(lake: Path) -> str:
    """Return a digest of the lake's tables: each commit and each data file changes the time of a folder.

    Args:
        lake: the lake's folder.
    """
    inside = sorted(one.name for one in os.scandir(lake) if one.is_dir() and one.name != METASTORE)
    return digest_of(times_of_folders(lake / name) for name in inside)


def catalog(lake: Path) -> str:
    """Return a digest of the catalogs that are files of the lake, and of who held the lake last.

    Every process that opens the catalog changes it, so it is compared only once that of a run has ended.

    Args:
        lake: the lake's folder.
    """
    lock = lake / LOCK
    beside = [one for one in os.scandir(lake) if one.is_file() and not one.name.startswith(RECORD)]
    facts = [(one.name, one.stat().st_ino, one.stat().st_size, one.stat().st_mtime_ns) for one in beside]
    held = lock.read_text("utf-8") if lock.exists() else ""
    return digest_of([held, repr(sorted(facts)), tree(lake / METASTORE).digest])
