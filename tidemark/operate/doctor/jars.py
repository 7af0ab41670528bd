"""Are Spark's jars there, and are they those of jars.lock?"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tidemark.base.output import first_of
from tidemark.operate.doctor.finding import Checked, Finding, error, note, skipped, warning
from tidemark.operate.doctor.java import properties
from tidemark.operate.doctor.subject import Subject
from tidemark.spark.jars import (
    ARCHIVE,
    CLASS_PATH,
    FOLDER,
    LOCK,
    Jar,
    has_plain_path,
    is_sound,
    java,
    read_lock,
)

HEADER = 4096  # bytes at the beginning of an archive, with the name of its Java
FETCH = "Run `python -m tidemark.spark.jars` in the project's folder, which fetches what differs."
MAKE_ARCHIVE = (
    "The next `tidemark run` makes it in the background, unless an attempt of the last day failed "
    f"({FOLDER}/classes.log). `python -m tidemark.cli.class_archive` makes it now."
)


def check_jars(subject: Subject) -> Checked:
    """Check that all jars of jars.lock are there, readable, and with `--deep` unchanged."""
    if subject.root is None:
        return skipped("not looked at, outside of a project")
    if not subject.has_own_spark or subject.settings.get(CLASS_PATH, f"{FOLDER}/*") != f"{FOLDER}/*":
        return skipped(f"the target does not use {FOLDER}/")
    folder = subject.root / FOLDER
    if not folder.is_dir():
        return Checked("missing", (_no_folder(folder),))
    locked = read_lock(LOCK)
    findings = [*_jars(folder, locked, subject.is_deep), *_unlisted_jars(folder, locked), *_archive(folder)]
    size = sum(path.stat().st_size for path in folder.glob("*.jar")) / 1e6
    how = "hashes compared" if subject.is_deep else "hashes not compared (`--deep` does)"
    return Checked(f"{len(locked)} jars in {FOLDER}/, {size:,.0f} MB, {how}", tuple(findings))


def _no_folder(folder: Path) -> Finding:
    what = f"links to {folder.readlink()}, which does not exist" if folder.is_symlink() else "does not exist"
    fix = "Run `tidemark init`, which fetches the jars once (`make setup` in Tidemark's own repository)."
    return error(f"Spark's jars are missing: {folder} {what}.", fix)


def _jars(folder: Path, locked: list[Jar], is_deep: bool) -> Iterator[Finding]:
    missing = [jar.file_name for jar in locked if not (folder / jar.file_name).exists()]
    there = [jar for jar in locked if jar.file_name not in missing]
    # a zip archive that was cut off has no end
    broken = [jar.file_name for jar in there if not zipfile.is_zipfile(folder / jar.file_name)]
    if missing:
        yield error(f"Missing in {folder}: {first_of(missing)}.", FETCH)
    if broken:
        yield error(f"Not a readable jar in {folder}: {first_of(broken)}.", FETCH)
    readable = [jar for jar in there if jar.file_name not in broken]
    changed = [jar.file_name for jar in readable if is_deep and not is_sound(folder / jar.file_name, jar)]
    if changed:
        yield error(f"Another hash than in jars.lock, in {folder}: {first_of(changed)}.", FETCH)


def _unlisted_jars(folder: Path, locked: list[Jar]) -> Iterator[Finding]:
    known = {jar.file_name for jar in locked}
    unlisted = sorted(path.name for path in folder.glob("*.jar") if path.name not in known)
    if unlisted:
        message = (
            f"Jars in {folder} that are not in jars.lock, but on Spark's class path: {first_of(unlisted)}."
        )
        fix = "Name jars of your own in `spark.jars` of the target; `python -m tidemark.spark.jars` "
        yield warning(message, fix + "deletes those in the folder.")


def _archive(folder: Path) -> Iterator[Finding]:
    archive = folder / ARCHIVE
    if not archive.is_file():
        yield note(f"{FOLDER}/{ARCHIVE} is missing: Spark takes a third longer to start.", MAKE_ARCHIVE)
        return
    command = shutil.which(java())
    version = properties(command).get("java.vm.version", "") if command else ""
    with archive.open("rb") as file:
        is_of_this_java = version.encode() in file.read(HEADER)
    newer = [path.name for path in folder.glob("*.jar") if path.stat().st_mtime > archive.stat().st_mtime]
    if not is_of_this_java:
        yield note(f"{FOLDER}/{ARCHIVE} is of another Java than {version}, which ignores it.", MAKE_ARCHIVE)
    elif version.startswith("17.") and not has_plain_path(folder):
        message = (
            f"Java 17 ignores {FOLDER}/{ARCHIVE} in {folder.absolute()}, whose name it writes otherwise."
        )
        yield note(
            message,
            "Move the project to a folder of plain letters, without a space: commands then start sooner.",
        )
    elif newer:
        message = f"{FOLDER}/{ARCHIVE} is older than {first_of(sorted(newer))}, so Java ignores it."
        yield note(message, MAKE_ARCHIVE)
