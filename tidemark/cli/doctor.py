"""`tidemark doctor`: check the installation and the lake, with a line for each check."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Annotated, Optional

import typer
from rich.text import Text

from tidemark.base.clock import utc_now
from tidemark.base.output import NARROW, count_of, output
from tidemark.operate.doctor.checks import PROJECT, check_names, run_checks
from tidemark.operate.doctor.finding import Checked, Level
from tidemark.operate.doctor.project import open_project

STYLES = {
    Level.SKIPPED: "dim",
    Level.OK: "green",
    Level.NOTE: "cyan",
    Level.WARNING: "yellow",
    Level.ERROR: "red",
}
LEVEL, NAME = 9, 16  # widths of the first two columns
INDENT = " " * (2 + LEVEL)


def doctor(
    deep: Annotated[bool, typer.Option("--deep", help="Also compare the hashes of Spark's jars.")] = False,
    skip: Annotated[
        Optional[list[str]], typer.Option("--skip", help="Skip the check with this name; can be repeated.")
    ] = None,
) -> None:
    """Check the installation, the project and the lake, without Spark; name the fix of each finding."""
    sys.exit(0 if examine(skip or [], is_deep=deep) else 1)


def examine(without: Sequence[str], *, is_deep: bool, today: date | None = None) -> bool:
    """Run all checks and print what they find.

    Args:
        without: names of checks to leave out.
        is_deep: whether to read whole files, such as the jars.
        today: the date; None for the present one.

    Returns:
        Whether there is no error.

    Raises:
        TidemarkError: if there is no check of such a name.
    """
    check_names(without)
    with output.status("opening the project"):
        subject = open_project(today or utc_now().date(), is_deep=is_deep, is_skipped=PROJECT in without)
    found: Counter[Level] = Counter()
    checks = run_checks(subject, without)
    while True:
        with output.status("checking"):
            result = next(checks, None)
        if result is None:
            break
        _print(*result)
        found.update(finding.level for finding in result[1].findings)
    _sum_up(found)
    return not found[Level.ERROR]


def _print(name: str, checked: Checked) -> None:
    if output.as_json:
        findings = [
            {"level": one.level.word, "message": one.message, "fix": one.fix} for one in checked.worst_first
        ]
        level = "skipped" if checked.level is Level.SKIPPED else checked.level.word
        output.text(checked.message, "checked", name=name, level=level, findings=findings)
        return
    style = "dim" if checked.level is Level.SKIPPED else "default"
    line = Text(f"  {checked.level.word:<{LEVEL}}", STYLES[checked.level])
    line.append(f"{name:<{NAME}}", style)
    line.append(_wrapped(checked.message, INDENT + " " * NAME), style)
    output.console.print(line)
    for finding in checked.worst_first:
        # the line of the check has the worst level
        level = "" if finding.level is checked.level else f"{finding.level.word}: "
        output.console.print(Text(f"{INDENT}{_wrapped(level + finding.message, INDENT)}"))
        output.console.print(Text(f"{INDENT}→ {_wrapped(finding.fix, f'{INDENT}  ')}"))


def _wrapped(text: str, indent: str) -> str:
    """Break a text into lines that fit the terminal; those after the first are indented."""
    width = min(output.console.width, NARROW) - len(indent)
    wrapper = textwrap.TextWrapper(max(width, 30), break_long_words=False, break_on_hyphens=False)
    lines = [line for one in text.splitlines() for line in wrapper.wrap(one)]
    return f"\n{indent}".join(lines)


def _sum_up(found: Counter[Level]) -> None:
    counts = {level: found[level] for level in (Level.ERROR, Level.WARNING, Level.NOTE) if found[level]}
    message = ", ".join(count_of(number, level.word) for level, number in counts.items()) or "Nothing found"
    numbers = {f"{level.word}s": found[level] for level in (Level.ERROR, Level.WARNING, Level.NOTE)}
    output.text(f"\n{message}." if not output.as_json else message, "doctor", **numbers)


def main() -> None:
    """Run the checks if `tidemark` cannot start because a package is missing."""
    sys.exit(0 if examine(sys.argv[1:], is_deep=False) else 1)


if __name__ == "__main__":
    main()
