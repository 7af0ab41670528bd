"""Numbers and foreign names, as a reader sees them."""

from __future__ import annotations

LONGEST = 300  # characters of a name or a reason
SPANS = (("day", 86_400), ("hour", 3600), ("minute", 60))


def plain(text: object) -> str:
    """Return a text as one line, without characters that cannot be seen or that reverse others."""
    line = " ".join(str(text).split())
    shown = "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line
    )
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"


def span(seconds: float) -> str:
    """Return a time in its largest unit with one digit, such as `3 days`, `1.5 hours`, `12 seconds`."""
    for unit, size in SPANS:
        if seconds >= size:
            return _with_unit(seconds / size, unit)
    return _with_unit(seconds, "second")


def _with_unit(number: float, unit: str) -> str:
    shown = f"{number:.1f}".removesuffix(".0") if abs(number) < 10 else f"{number:,.0f}"
    return f"{shown} {unit}{'' if shown == '1' else 's'}"
