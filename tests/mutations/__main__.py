"""Break the code once for each promise (docs/promises.md); a test must fail: `make mutations [ONLY=word]`.

Each fault is made in a copy of the project, which two processes share out between them; the project itself
stays as it is. A fault that no test notices survives, and the command fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

from tests.mutations.faults import FAULTS, Fault

ROOT = Path(__file__).resolve().parents[2]
LINKED = (".venv", ".jars", ".servers")
AT_ONCE = 2
PASSED, FAILED = 0, 1  # of pytest; anything else is no verdict
LINT = "make lint"
MAX_LINES_SHOWN = 15


def main(only: str) -> None:
    """Try the faults whose promise or file has the word `only` in it; exit with 1 where one survives."""
    faults = [fault for fault in FAULTS if only in fault.promise or only in fault.file]
    with tempfile.TemporaryDirectory(prefix="tidemark mutations ") as scratch:
        copies: Queue[Path] = Queue()
        for number in range(AT_ONCE):
            copies.put(_copy(Path(scratch) / str(number)))
        with ThreadPoolExecutor(AT_ONCE) as threads:
            noticed = list(threads.map(lambda fault: _try(fault, copies), faults))
    print(f"{noticed.count(True)} of {len(faults)} faults noticed, {noticed.count(False)} survive")
    sys.exit(0 if all(noticed) else 1)


def _copy(folder: Path) -> Path:
    listed = subprocess.run(
        ["/usr/bin/env", "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    for name in listed.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    return folder


def _try(fault: Fault, copies: Queue[Path]) -> bool:
    copy = copies.get()
    file, started = copy / fault.file, time.monotonic()
    sound = file.read_text(encoding="utf-8")
    try:
        if fault.old not in sound:
            print(f"{fault.promise}: {fault.file} has no {fault.old!r}; write the fault anew", flush=True)
            return False
        file.write_text(sound.replace(fault.old, fault.new, 1), encoding="utf-8")
        done = _run(fault.test, copy, at_night=fault.at_night)
    finally:
        file.write_text(sound, encoding="utf-8")
        copies.put(copy)
    noticed = done.returncode == FAILED or (fault.test == LINT and done.returncode != PASSED)
    message = "noticed" if noticed else "SURVIVES" if done.returncode == PASSED else "no verdict"
    print(f"{message:<10} {time.monotonic() - started:5.0f} s  {fault.promise}: {fault.test}", flush=True)
    if not noticed:
        print("\n".join(done.stdout.splitlines()[-MAX_LINES_SHOWN:]), flush=True)
    return noticed


def _run(test: str, copy: Path, *, at_night: bool) -> subprocess.CompletedProcess[str]:
    python = copy / ".venv/bin/python"
    command = [str(python), "-m", "pytest", "--exitfirst", "--no-header", test]
    if test == LINT:
        command = ["sh", "scripts/check_conventions.sh"]
    variables = os.environ | {"PYTHONPATH": str(copy)} | ({"TIDEMARK_NIGHTLY": "1"} if at_night else {})
    return subprocess.run(
        command,
        cwd=copy,
        env=variables,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
