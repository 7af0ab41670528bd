"""Unpack `.zip` and `.xz` files, without Spark."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO

from rich.filesize import decimal

from python_ingest.feeds.paths import HIDDEN
from tidemark.base.errors import PackedError

ZIP, XZ = ".zip", ".xz"
NESTED = (".zip", ".xz", ".7z", ".rar", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.zst")
CHUNK = 2**20
DAMAGED = "it is truncated or damaged: write or copy it again"
ENCRYPTED, IN_UTF8 = 0x1, 0x800  # flags of a member
FAULTS = (zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, OSError, RuntimeError, ValueError)


class Budget:
    """How many bytes a file may still unpack to.

    Args:
        size: the limit of the feed, `max_bytes`.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._left = size

    def spend(self, number: int) -> None:
        """Count bytes.

        Raises:
            PackedError: if the file unpacks to more than the limit.
        """
        self._left -= number
        if self._left < 0:
            raise PackedError(f"it unpacks to more than {decimal(self._size)} (`max_bytes`)")


def is_packed(path: str) -> bool:
    """Return whether a file's name says that it must be unpacked before Spark can read it."""
    return path.lower().endswith((ZIP, XZ))


def unpack_xz(source: Path, target: Path, budget: Budget) -> None:
    """Decompress an `.xz` file.

    Args:
        source: the file.
        target: the file to write.
        budget: how many bytes it may unpack to.

    Raises:
        PackedError: why it cannot be read.
    """
    with lzma.open(source) as stream:
        _copy(stream, target, budget, DAMAGED)


def unpack_zip(
    source: Path, folder: Path, leaves_out: Callable[[str], bool], budget: Budget
) -> Iterator[tuple[str, Path]]:
    """Yield the members of a `.zip` file, each unpacked to a file that is there until the next one.

    Folders and hidden members are skipped, as in a location.

    Args:
        source: the archive.
        folder: where to unpack.
        leaves_out: whether to skip a member.
        budget: how many bytes the members may unpack to, together.

    Yields:
        The name of the member, with `/` between folders, and the unpacked file.

    Raises:
        PackedError: why the archive cannot be read; it names the member.
    """
    try:
        archive = zipfile.ZipFile(source)
    except FAULTS as error:
        raise PackedError(f"{DAMAGED} (it is not a complete zip archive)") from error
    with archive:
        names = [(_name(info), info) for info in archive.infolist() if not info.is_dir()]
        members = [(name, info) for name, info in names if not _is_hidden(name) and not leaves_out(name)]
        if not members:
            raise PackedError("it has no member that lands")
        for name, info in members:
            _check(name, info)
        for name, info in members:
            target = folder / "member"
            with _opened(archive, name, info) as stream:
                _copy(stream, target, budget, f"its member {name}: {DAMAGED}")
            yield name, target


def _opened(archive: zipfile.ZipFile, name: str, info: zipfile.ZipInfo) -> IO[bytes]:
    try:
        return archive.open(info)
    except NotImplementedError as error:
        fix = "unpack it, or pack it with `zip`"
        raise PackedError(f"its member {name} is packed by a method that is not supported: {fix}") from error
    except FAULTS as error:
        raise PackedError(f"its member {name}: {DAMAGED}") from error


def _copy(stream: IO[bytes], target: Path, budget: Budget, fault: str) -> None:
    """Write what a stream holds; only an error of the stream is a fault of the file."""
    with target.open("wb") as file:
        while some := _read(stream, fault):
            budget.spend(len(some))
            file.write(some)


def _read(stream: IO[bytes], fault: str) -> bytes:
    try:
        return stream.read(CHUNK)
    except FAULTS as error:
        raise PackedError(fault) from error


def _name(info: zipfile.ZipInfo) -> str:
    name = info.filename
    if not info.flag_bits & IN_UTF8 and not name.isascii():
        with suppress(UnicodeError):
            name = name.encode("cp437").decode()  # `zip` on Linux writes UTF-8 without the flag
    return name.replace("\\", "/")


def _is_hidden(name: str) -> bool:
    return any(part.startswith(HIDDEN) and part != ".." for part in PurePosixPath(name).parts)


def _check(name: str, info: zipfile.ZipInfo) -> None:
    if name.startswith("/") or ".." in PurePosixPath(name).parts:
        raise PackedError(f"its member {name} leads to a place outside the archive: pack it without `..`")
    if info.flag_bits & ENCRYPTED:
        raise PackedError(f"its member {name} is encrypted: pack it without a password")
    if name.lower().endswith(NESTED):
        raise PackedError(f"its member {name} is an archive in an archive: unpack it")
