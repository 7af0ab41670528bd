"""What dbt and Tidemark have written in the project's folder: results, logs, the report's page."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tidemark.base.output import count_of
from tidemark.engine.dbt_core.texts import output_folders
from tidemark.engine.project import Project
from tidemark.operate.erasure.search import Files, files_below, forms_of, search

REPORT = "site"


@dataclass(frozen=True)
class FolderOfProject:
    """A folder of the project that a command writes.

    Attributes:
        name: `target`, `logs` or `site`.
        path: where it is.
        is_log: whether its files are appended to; others are written again when they are missing.
    """

    name: str
    path: Path
    is_log: bool = False

    def files(self) -> Files:
        """Yield its files as `search` takes them."""
        return files_below(self.path)


def folders_of(root: Path) -> list[FolderOfProject]:
    """Return the folders that dbt and Tidemark write, as dbt finds them.

    Args:
        root: the project's folder.
    """
    target, logs = output_folders(root)
    named = [FolderOfProject("target", target), FolderOfProject("logs", logs, is_log=True)]
    if logs != root / "logs":  # the log of Spark is always there
        named.append(FolderOfProject("logs", root / "logs", is_log=True))
    return [folder for folder in (*named, FolderOfProject(REPORT, root / REPORT)) if folder.path.is_dir()]


def own_files(project: Project) -> Files:
    """Yield the files that dbt reads, such as models and unit tests, as `search` takes them."""
    for file in project.manifest.files.values():
        path = project.root / file.path.original_file_path
        if file.project_name == project.manifest.metadata.project_name and path.is_file():
            yield PurePosixPath(file.path.original_file_path), path


def clean(folder: FolderOfProject, texts: Sequence[str], *, is_plan: bool = False) -> str:
    """Take texts out of the files of a folder: logs get `*` in their places, other files are deleted.

    Args:
        folder: the folder.
        texts: the texts.
        is_plan: whether to change nothing.

    Returns:
        What was done, or would be; empty if no file has one of the texts.
    """
    number = 0
    for name, path in list(folder.files()):
        if path is None or not _has_text(folder, name, path, texts):
            continue
        number += 1
        if not is_plan:
            with suppress(PermissionError):  # the proof finds the text
                _mask(path, texts) if folder.is_log else path.unlink()
    what = "values replaced by *" if folder.is_log else "deleted; the next command writes them again"
    return f"{count_of(number, 'file')} with values of the person: {what}" if number else ""


def _has_text(folder: FolderOfProject, name: PurePosixPath, path: Path, texts: Sequence[str]) -> bool:
    return bool(search(str(folder.path), iter([(name, path)]), texts).hits)


def _mask(path: Path, texts: Sequence[str]) -> None:
    """Overwrite texts in their places, so that a process that appends to the file is not disturbed."""
    if not path.stat().st_size:
        return
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_WRITE) as data:
        for form in sorted({form for text in texts for form in forms_of(text)}, key=len, reverse=True):
            place = data.find(form)
            while place >= 0:
                data[place : place + len(form)] = b"*" * len(form)
                place = data.find(form, place + len(form))
