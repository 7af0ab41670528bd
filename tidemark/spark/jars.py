"""Fetch the jars of jars.lock into .jars/ once, with the Ivy that pyspark includes, and check their hashes.

Run it as `python -m tidemark.spark.jars [LOCK FOLDER]` (`make setup` does). A session without
`spark.jars.packages` starts without dependency resolution and needs no network.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from tidemark.base.errors import TidemarkError

LOCK = Path(__file__).parent / "jars.lock"
FOLDER = Path(".jars")
ARCHIVE = "classes.jsa"  # in that folder: the classes that Spark loads
CLASS_PATH = "spark.driver.extraClassPath"
IVY_EXTRA = "http://ant.apache.org/ivy/extra"


@dataclass(frozen=True)
class Jar:
    """One line of jars.lock."""

    sha256: str
    group: str
    artifact: str
    version: str
    classifier: str = ""

    @property
    def file_name(self) -> str:
        return "-".join(filter(None, (self.artifact, self.version, self.classifier))) + ".jar"


def read_lock(lock: Path) -> list[Jar]:
    """Read jars.lock.

    Raises:
        TidemarkError: if a line is not `SHA-256  group:artifact:version[:classifier]`.
    """
    jars = []
    for number, line in enumerate(lock.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split()
        parts = words[-1].split(":")
        if len(words) != 2 or len(parts) not in (3, 4):
            raise TidemarkError(
                f"{lock}, line {number}: {line!r} is not a hash and a coordinate.",
                "Write `SHA-256  group:artifact:version[:classifier]`.",
            )
        jars.append(Jar(words[0], *parts))
    return jars


def check_jars(settings: Mapping[str, str], root: Path) -> None:
    """Stop if Spark would start without the jars that its class path names.

    Args:
        settings: Spark's settings; a class path that is not the adapter's own is not checked.
        root: the project's folder.

    Raises:
        TidemarkError: if the project's folder has no jars.
    """
    folder = root / FOLDER
    if settings.get(CLASS_PATH) == f"{FOLDER}/*" and not any(folder.glob("*.jar")):
        raise TidemarkError(
            f"Spark's jars are missing: {folder}/ is empty or does not exist.",
            "Run `tidemark init`, which fetches them once (`make setup` in Tidemark's own repository).",
        )


def fetch(jars: Sequence[Jar], folder: Path) -> list[Path]:
    """Fetch the missing jars into the folder, and remove jars that are not in the lock file.

    A jar with a wrong hash is not kept.

    Args:
        jars: the jars to fetch.
        folder: where to store them.

    Returns:
        The paths of the jars fetched now.

    Raises:
        TidemarkError: if a jar cannot be fetched, or its hash differs from the lock file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    locked = {jar.file_name for jar in jars}
    for stray in folder.glob("*.jar"):
        if stray.name not in locked:
            stray.unlink()
    wanted = [jar for jar in jars if not is_sound(folder / jar.file_name, jar)]
    if not wanted:
        return []
    with tempfile.TemporaryDirectory() as scratch:
        _ivy(wanted, Path(scratch))
        fetched = []
        for jar in wanted:
            found = Path(scratch) / "jars" / jar.file_name
            if not is_sound(found, jar):
                raise TidemarkError(
                    f"{jar.file_name} has the SHA-256 {_sha256(found)}, which differs from the lock file.",
                    "If you changed the version on purpose, write this hash to the lock file.",
                )
            shutil.move(found, folder / jar.file_name)
            fetched.append(folder / jar.file_name)
    return fetched


def cache_folder() -> Path:
    """Return the folder that caches the locked jars for all projects of a user; each lock has its own."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "tidemark" / f"jars-{_sha256(LOCK)[:12]}"


def is_linked() -> bool:
    """Return whether the project has jars: its own folder, or a link to those of this version's lock."""
    if not FOLDER.is_symlink():
        return FOLDER.is_dir()
    return FOLDER.resolve() == cache_folder().resolve() and FOLDER.is_dir()


def link() -> Path:
    """Fetch the locked jars into the user's cache, link them as `.jars`, and return the cache's folder.

    A link to jars of another version is replaced.

    Raises:
        TidemarkError: when a jar cannot be fetched.
    """
    folder = cache_folder()
    fetch(read_lock(LOCK), folder)
    FOLDER.unlink(missing_ok=True)
    FOLDER.symlink_to(folder, target_is_directory=True)
    return folder


def _ivy(jars: Sequence[Jar], scratch: Path) -> None:
    """Fetch the jars, without their dependencies, into scratch/jars."""
    modules: dict[tuple[str, str, str], list[Jar]] = {}
    for jar in jars:
        modules.setdefault((jar.group, jar.artifact, jar.version), []).append(jar)
    dependencies = "".join(
        f"<dependency org={quoteattr(group)} name={quoteattr(artifact)} "
        f'rev={quoteattr(version)} transitive="false">{_artifacts(of_module)}</dependency>'
        for (group, artifact, version), of_module in modules.items()
    )
    ivy_file = scratch / "ivy.xml"
    ivy_file.write_text(
        f'<ivy-module version="2.0" xmlns:e="{IVY_EXTRA}"><info organisation="tidemark" module="jars"/>'
        f"<dependencies>{dependencies}</dependencies></ivy-module>",
        encoding="utf-8",
    )
    command = [
        java(), "-jar", str(_ivy_jar()), "-error", "-ivy", str(ivy_file),
        "-cache", str(scratch / "cache"), "-types", "jar", "bundle",
        "-retrieve", str(scratch / "jars" / "[artifact]-[revision](-[classifier]).[ext]"),
    ]  # fmt: skip
    if shutil.which(command[0]) is None:
        raise TidemarkError("Java was not found.", "Install Java 17, or set JAVA_HOME to its folder.")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if any(not (scratch / "jars" / jar.file_name).is_file() for jar in jars):
        raise TidemarkError(
            f"These jars cannot be fetched: {(done.stderr or done.stdout).strip()[-600:]}",
            "Check the network (and its proxy, in JAVA_TOOL_OPTIONS) and try again.",
        )


def _artifacts(jars: Sequence[Jar]) -> str:
    """Return the artifacts of a module; none for its jar alone."""
    if not any(jar.classifier for jar in jars):
        return ""
    return "".join(
        f'<artifact name={quoteattr(jar.artifact)} type="jar" ext="jar"'
        f"{f' e:classifier={quoteattr(jar.classifier)}' if jar.classifier else ''}/>"
        for jar in jars
    )


def has_plain_path(folder: Path) -> bool:
    """Return whether Java 17 writes a folder's name as it is; else it ignores a class archive there."""
    path = str(folder.absolute())
    return quote(path) == path


def java() -> str:
    """Return the command of Java: that of JAVA_HOME, or the one on the PATH."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"


def _ivy_jar() -> Path:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise TidemarkError("pyspark is not installed here.", "Install the packages: `pip install pyspark`.")
    return next((Path(spec.origin).parent / "jars").glob("ivy-*.jar"))


def is_sound(path: Path, jar: Jar) -> bool:
    """Return whether a file is there and has the hash of a locked jar."""
    return path.is_file() and _sha256(path) == jar.sha256


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> int:
    """Fetch missing jars and print one line."""
    try:
        lock, folder = map(Path, sys.argv[1:] or (LOCK, FOLDER))
        jars = read_lock(lock)
        fetched = fetch(jars, folder)
    except TidemarkError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    print(f"{len(jars)} jars in {folder}/ ({len(fetched)} fetched now)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
