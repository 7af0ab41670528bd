"""Do the limits of this process and machine leave Spark enough files and memory?"""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Iterator
from pathlib import Path

from tidemark.operate.doctor.finding import Checked, Finding, error, warning
from tidemark.operate.doctor.subject import Subject

FILES = 1024
MEMORY, VARIABLE, DEFAULT = "spark.driver.memory", "TIDEMARK_DRIVER_MEMORY", "2g"
SIZE = re.compile(r"(\d+)([kmgt]?)b?")
UNITS = {"k": 2**10, "": 2**20, "m": 2**20, "g": 2**30, "t": 2**40}  # Spark's; without a unit, it is MiB
LEAST = 512 * 2**20  # Spark refuses to start with less than 450 MiB of heap
SHARE = 0.8  # of the machine's memory; Java needs more than the heap, and Python a little
CONTAINERS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def check_limits(subject: Subject) -> Checked:
    """Check the number of open files, and Spark's memory against that of the machine."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = subject.settings.get(MEMORY) or os.environ.get(VARIABLE) or DEFAULT
    there = memory()
    number = "any number of" if files == resource.RLIM_INFINITY else f"{files:,}"
    findings = [*_files(files)]
    if not subject.has_own_spark:
        return Checked(f"{number} open files", tuple(findings))
    findings += _memory(wanted, there)
    message = f"{number} open files; {wanted} for Spark of {_gib(there)} of memory"
    return Checked(message, tuple(findings))


def memory() -> int:
    """Return the memory of this machine, or of its container if that has less, in bytes."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in CONTAINERS:
        text = path.read_text(encoding="utf-8").strip() if path.is_file() else ""
        found += [int(text)] if text.isdigit() else []
    return min(found)


def _files(files: int) -> Iterator[Finding]:
    if files != resource.RLIM_INFINITY and files < FILES:
        fix = "Run `ulimit -n 4096` before (LimitNOFILE of a systemd service, nofile of a container)."
        yield warning(f"The limit is {files} open files; Spark may need more than {FILES}.", fix)


def _memory(wanted: str, there: int) -> Iterator[Finding]:
    size = SIZE.fullmatch(wanted.strip().lower())
    if not size:
        message = f"{VARIABLE} or {MEMORY} is '{wanted}', which is not a valid size."
        yield error(message, "Write it like 2g or 3000m.")
        return
    heap = int(size[1]) * UNITS[size[2]]
    fix = f"Set {VARIABLE} to at most {max(int(SHARE * there / 2**20), 0)}m, or use a larger machine."
    if heap >= there:
        yield error(f"Spark may use {wanted}, but this machine has {_gib(there)} of memory.", fix)
    elif heap > SHARE * there:
        message = f"Spark may use {wanted} of {_gib(there)}; Java needs more than that, and may be killed."
        yield warning(message, fix)
    elif heap < LEAST:
        yield error(f"Spark does not start with {wanted} of memory.", f"Set {VARIABLE} to 2g.")


def _gib(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB"  # as Spark's `g`
