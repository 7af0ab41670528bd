"""Run the commands of a page and write their output into it, or compare it.

A page has blocks of ```console: a line that begins with `$ ` is a command, `> ` continues it, and the lines
below are what it prints. All blocks of a page are one shell, in a folder that is empty at first. Run as
`python -m scripts.walks PAGE` to write today's output.
"""

from __future__ import annotations

import difflib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"(^```console\n)(.*?)(^```$)", re.MULTILINE | re.DOTALL)
MARK = "\x1e"
PRIVATE = re.compile(r"^(TIDEMARK_|DBT_|PYSPARK_|SPARK_)")  # what a test or a shell of ours has set
NOT_COMPARED = (  # what differs from run to run
    (re.compile(r" *\b\d+\.\d+ s\b"), " N s"),
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?( UTC)?"), "TIME"),
    (re.compile(r"\b[0-9a-f]{7,40}\b"), "ID"),
    (re.compile(r" +"), " "),
)


@dataclass(frozen=True)
class Command:
    """A command of a page.

    Attributes:
        text: as it is typed, with its further lines.
        printed: the lines that the page shows below it.
    """

    text: str
    printed: str


def commands(page: str) -> list[Command]:
    """Return the commands of a page, in their order."""
    return [one for block in BLOCK.finditer(page) for one in _commands(block[2])]


def _commands(block: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        first, *lines = part.splitlines()
        more = [*takewhile(lambda line: line.startswith(">"), lines)]
        text = "\n".join([first, *(line.removeprefix(">").removeprefix(" ") for line in more)])
        yield Command(text, "\n".join(lines[len(more) :]))


def run(found: list[Command], folder: Path) -> list[str]:
    """Run commands in one shell, and return what each printed.

    Args:
        found: the commands.
        folder: the folder in which the shell begins.

    Raises:
        RuntimeError: if a command fails.
    """
    environment = {name: value for name, value in os.environ.items() if not PRIVATE.match(name)}
    environment |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    environment |= {"TERM": "dumb", "COLUMNS": "100", "TZ": "UTC", "GIT_CONFIG_GLOBAL": os.devnull}
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_NAME": "Ann", f"GIT_{role}_EMAIL": "ann@example.org"}
    script = "".join(f"{one.text}\nprintf '\\n{MARK}%d\\n' $?\n" for one in found)
    shell = subprocess.Popen(
        ["/bin/bash", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        return [*_printed(shell, found, folder)]
    finally:
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)  # with what it has left in the background


def _printed(shell: subprocess.Popen[str], found: list[Command], folder: Path) -> Iterator[str]:
    """Yield what each command prints, as it ends."""
    waiting, lines, began = iter(found), list[str](), time.monotonic()
    for line in shell.stdout or ():
        if not line.startswith(MARK):
            lines.append(line.rstrip().replace(str(folder), "…").replace(str(Path.home()), "~"))
            continue
        text, command = "\n".join(lines).strip("\n"), next(waiting).text.splitlines()[0]
        if line != f"{MARK}0\n":
            raise RuntimeError(f"$ {command}\n{text}")
        print(f"{time.monotonic() - began:6.1f} s  {command}", flush=True)
        yield text
        lines, began = [], time.monotonic()


def differences(found: list[Command], printed: list[str]) -> list[str]:
    """Return what the page shows otherwise than the commands print, but for times and ids.

    Tables are built side by side, so lines may come in another order.
    """
    wrong = []
    for command, now in zip(found, printed, strict=True):
        shown, new = (sorted(_comparable(text)) for text in (command.printed, now))
        if shown != new:
            lines = difflib.unified_diff(shown, new, "shown", "printed", lineterm="", n=0)
            wrong += [f"$ {command.text.splitlines()[0]}", *lines]
    return wrong


def _comparable(text: str) -> list[str]:
    for pattern, instead in NOT_COMPARED:
        text = pattern.sub(instead, text)
    return [line.strip() for line in text.splitlines()]


def written(page: str, printed: list[str]) -> str:
    """Return the page with what its commands printed."""
    outputs = iter(printed)

    def block(found: re.Match[str]) -> str:
        parts = list[str]()
        for command in _commands(found[2]):
            first, *more = command.text.splitlines()
            parts += [f"$ {first}", *(f"> {line}".rstrip() for line in more), *next(outputs).splitlines()]
        return "\n".join([found[1].rstrip(), *parts, found[3]])

    return BLOCK.sub(block, page)


def main() -> None:
    """Write today's output into a page."""
    for name in sys.argv[1:]:
        page = Path(name)
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            page.write_text(written(text, run(commands(text), Path(folder).resolve())), encoding="utf-8")


if __name__ == "__main__":
    main()
