"""What the locks name: the Python packages of requirements.lock and the jars of jars.lock."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tidemark.base.distribution import NAME
from tidemark.spark.jars import LOCK as JARS
from tidemark.spark.jars import Jar, read_lock

ROOT = Path(__file__).parents[1]
PACKAGES = ROOT / "requirements.lock"
OURS = f"{NAME} (pyproject.toml)"
TOOLS = frozenset({"bench", "dev", "docs"})  # extras for those who work on this repository
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True)
class Package:
    """One entry of requirements.lock.

    Attributes:
        name, version: as pip knows them.
        marker: the environments for which it is, such as `python_full_version < '3.11'`; mostly empty.
        hashes: the SHA-256 of each of its files.
        needed_by: the names of the packages that need it; of ours if pyproject.toml names it.
    """

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]
    needed_by: frozenset[str]


def locked_packages() -> list[Package]:
    """Read requirements.lock, in its order."""
    entries = re.split(r"\n(?=[^\s#])", PACKAGES.read_text(encoding="utf-8"))
    return [_package(entry) for entry in entries if not entry.startswith("#")]


def locked_jars() -> list[Jar]:
    """Read the lock of the jars that Tidemark fetches."""
    return read_lock(JARS)


def direct_names(extras: Iterable[str]) -> Iterator[str]:
    """Yield the names of the packages that pyproject.toml names.

    Args:
        extras: the extras to look at; `""` stands for what Tidemark always needs.
    """
    chosen = list(extras)
    for one in map(Requirement, metadata.requires(NAME) or []):
        name = canonicalize_name(one.name)
        if name != NAME and (one.marker is None or any(one.marker.evaluate({"extra": e}) for e in chosen)):
            yield name


def extras_of_users() -> list[str]:
    """Return the extras that people install to use Tidemark."""
    return sorted(set(metadata.metadata(NAME).get_all("Provides-Extra") or []) - TOOLS)


def below(names: Iterable[str], packages: Iterable[Package]) -> set[str]:
    """Return packages with all that they need, over any number of steps."""
    needs: dict[str, set[str]] = {}
    for package in packages:
        for parent in package.needed_by:
            needs.setdefault(parent, set()).add(package.name)
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += needs.get(name, ())
    return found


def _package(entry: str) -> Package:
    first, _, rest = entry.partition("\n")
    one = Requirement(first.removesuffix("\\").strip())
    (version,) = (part.version for part in one.specifier)
    # an entry ends with `# via NAME`, or with `# via` and a name a line; an option of uv is no package
    parents = set(re.findall(r"^ +# +(?:via )?(\S.*)$", rest, re.MULTILINE)) - {"via"}
    return Package(
        canonicalize_name(one.name),
        version,
        str(one.marker or ""),
        tuple(HASH.findall(rest)),
        frozenset(
            NAME if parent == OURS else canonicalize_name(parent) for parent in parents if parent[0] != "-"
        ),
    )
