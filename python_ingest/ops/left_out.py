"""Files below a feed's location that match no pattern: their number, and some of their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.base.output import count_of

NAMES = 8  # at most this number of names, whatever the number of files
MAX_FILES_SHOWN = 3  # of them in a message


@dataclass(frozen=True)
class LeftOut:
    """Files that no feed lands.

    Attributes:
        files: their number.
        paths: some of their paths, sorted; the first and the last path are among them.
    """

    files: int = 0
    paths: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """What is left out, and what to do about it."""
        names, others = (
            ", ".join(self.paths[:MAX_FILES_SHOWN]),
            self.files - min(MAX_FILES_SHOWN, len(self.paths)),
        )
        more = f" and {count_of(others, 'other')}" if others else ""
        match = "matches" if self.files == 1 else "match"
        fix = "set `pattern`, or `exclude` to leave them out on purpose"
        return f"{count_of(self.files, 'file')} {match} no pattern: {names}{more} ({fix})"


def measures(condition: str) -> tuple[str, str]:
    """Return the aggregates, as SQL, that `left_out_of` reads: one pass, and little memory.

    Args:
        condition: SQL that is true for a file that is left out; `path` is its path.
    """
    paths = [f"if(pmod(hash(path), {NAMES}) = {number}, path, null)" for number in range(NAMES)]
    # a Spark observation allows no `filter (where …)`
    some = [f"min(if({condition}, {path}, null))" for path in paths]
    return (
        f"count_if({condition}) as left_out",
        f"concat_ws(char(0), {', '.join(some)}, max(if({condition}, path, null))) as left_out_paths",
    )


def left_out_of(row: Mapping[str, Any]) -> LeftOut:
    """Return what `measures` found."""
    paths = {path for path in row["left_out_paths"].split("\x00") if path}
    return LeftOut(row["left_out"], tuple(sorted(paths)))
