"""The output of commands: lines for people, or one JSON object per line with `--log-format json`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.status import Status

NARROW = 100
Note = tuple[str, str, dict[str, Any]]


class Output:
    """The output of commands.

    Attributes:
        console: the terminal, or a plain stream of lines.
        as_json: whether to print one JSON object per line.
        notes: event, message and facts of each note so far.
    """

    def __init__(self) -> None:
        self.as_json = False
        self.notes: list[Note] = []
        self.console = Console(highlight=False, soft_wrap=True)
        if not self.console.is_terminal:
            self.console = Console(highlight=False, soft_wrap=True, width=NARROW)

    def row(self, event: str, name: str, message: str, seconds: float, **facts: Any) -> None:
        """Print the result of a table or a step, with its seconds; `facts` are for JSON."""
        if self.as_json:
            self._object(event, name=name, message=message, seconds=round(seconds, 3), **facts)
        else:
            self.console.print(f"  {name:<36} {message:<44} {seconds:6.1f} s", markup=False)

    def note(self, event: str, message: str, *, style: str = "yellow", **facts: Any) -> None:
        """Print a note on the previous row."""
        self.notes.append((event, message, facts))
        if self.as_json:
            self._object(event, message=message, **facts)
        else:
            self.console.print(f"  [{style}]{event}[/] {escape(message)}")

    def text(self, message: str, event: str = "text", **facts: Any) -> None:
        """Print a line unchanged."""
        if self.as_json:
            self._object(event, message=message.strip(), **facts)
        else:
            self.console.print(message, markup=False)

    @contextmanager
    def status(self, label: str) -> Iterator[Status | None]:
        """Show the current step on a terminal."""
        if self.as_json or not self.console.is_terminal:
            yield None
        else:
            with self.console.status(label) as shown:
                yield shown

    def _object(self, event: str, **facts: Any) -> None:
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"at": at, "event": event.replace(" ", "_"), **facts}, default=str)
        self.console.file.write(f"{line}\n")
        self.console.file.flush()


output = Output()


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun: `1 file`, `1,200 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def first_of(names: Sequence[str], number: int = 3) -> str:
    """Return the first names and the number of the others: `a, b, c and 2 others`."""
    more = f" and {count_of(len(names) - number, 'other')}" if len(names) > number else ""
    return f"{', '.join(names[:number])}{more}"
