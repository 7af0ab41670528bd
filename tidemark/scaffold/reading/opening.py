"""Open sample files: plain, compressed, or members of a zip file."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from tidemark.base.errors import TidemarkError

ENDINGS = ("", ".gz", ".bz2", ".zst", ".xz", ".zip")  # of files that land; the first one is not compressed
BROKEN = (  # what a damaged file raises
    OSError,
    EOFError,
    RuntimeError,  # an encrypted zip file
    NotImplementedError,
    lzma.LZMAError,
    zipfile.BadZipFile,
    zlib.error,
)
HIDDEN = (".", "_")


def _zst(path: Path, _mode: str) -> Any:
    pyarrow: Any = import_module("pyarrow")
    return pyarrow.input_stream(str(path), compression="zstd")


OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _zst,
}


@dataclass(frozen=True)
class SampleFile:
    """A file, or a member of a zip file.

    Attributes:
        path: the file.
        member: the member's name; None if the file is not a zip file.
    """

    path: Path
    member: str | None = None

    def __str__(self) -> str:
        return f"{self.path.name}/{self.member}" if self.member else self.path.name

    @property
    def suffix(self) -> str:
        """The suffix that shows the format, in lower case and without the dot; empty if there is none."""
        name = Path(self.member).name if self.member else self.path.name
        return Path(without_ending(name)).suffix[1:].lower()

    def open(self) -> IO[bytes]:
        """Open the file's content, without its compression."""
        if self.member is not None:
            return zipfile.ZipFile(self.path).open(self.member)
        opener = OPENERS.get(self.path.suffix.lower(), open)
        opened: IO[bytes] = opener(self.path, "rb")
        return opened

    def head(self, size: int) -> tuple[bytes, bool]:
        """Return the first bytes, up to the end of the second line at least, and whether they are all."""
        with self.open() as stream:
            content = stream.read(size)
            while len(content) == size and len(content.splitlines()) < 3 and size < 2**26:
                content += stream.read(size)
                size *= 2
            return content, not stream.read(1)


def without_ending(name: str) -> str:
    """Return a file's name without the suffix of its compression."""
    ending = Path(name).suffix.lower()
    return name[: -len(ending)] if ending and ending in ENDINGS else name


def sample_files(paths: Sequence[Path], most: int) -> list[SampleFile]:
    """Return the first files, with the members of zip files in place of these.

    Raises:
        TidemarkError: when a zip file cannot be read.
    """
    files: list[SampleFile] = []
    for path in paths:
        if len(files) >= most:
            break
        if path.suffix.lower() != ".zip":
            files.append(SampleFile(path))
            continue
        try:
            with zipfile.ZipFile(path) as packed:
                names = [info.filename for info in packed.infolist() if not info.is_dir()]
        except (zipfile.BadZipFile, OSError) as error:
            raise TidemarkError(f"{path} is not a zip file: {error}.", "Replace or remove it.") from error
        files += [SampleFile(path, name) for name in names if not Path(name).name.startswith(HIDDEN)]
    return files[:most]
