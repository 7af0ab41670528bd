"""Write settings as a properties file of Java, which only its owner can read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write_properties(path: Path, settings: Mapping[str, str]) -> None:
    """Write a properties file.

    Args:
        path: the file, which does not exist yet.
        settings: the values by name; names are ASCII without spaces.
    """
    path.touch(mode=0o600, exist_ok=False)
    lines = [f"{name}={_escaped(value)}\n" for name, value in settings.items()]
    path.write_text("".join(lines), encoding="ascii")


def _escaped(value: str) -> str:
    r"""Escape `\`, spaces at the beginning, and what is not printable ASCII, as UTF-16 units."""
    head = len(value) - len(value.lstrip(" "))
    return "".join(
        one if " " <= one <= "~" and one != "\\" and place >= head else _units(one)
        for place, one in enumerate(value)
    )


def _units(one: str) -> str:
    pairs = one.encode("utf-16-be").hex()
    return "".join(f"\\u{pairs[start : start + 4]}" for start in range(0, len(pairs), 4))
