"""Does the catalog answer: the files beside the lake, a shared database, a catalog server?"""

from __future__ import annotations

import fcntl
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from tidemark.base.errors import TidemarkError
from tidemark.base.output import first_of
from tidemark.lake.lock import holder
from tidemark.lake.metastore import ICEBERG_REST, METASTORE, connected, metastore, rest_catalog
from tidemark.lake.place import lake_folder
from tidemark.lake.table_locks import held_tables
from tidemark.operate.doctor.finding import Checked, Finding, error, note, skipped, warning
from tidemark.operate.doctor.network import ask
from tidemark.operate.doctor.subject import Subject

DERBY_LOCK = Path("metastore", "dbex.lck")  # which Derby locks while a process has the catalog open
FLOCK = "hhqqi0q"  # the structure of Linux for a lock: type, whence, start, length, process
WAREHOUSE, CREDENTIAL = "TIDEMARK_ICEBERG_WAREHOUSE", "TIDEMARK_ICEBERG_CREDENTIAL"
SECONDS = 3
STATE = ("landing", "runs")  # what processes lock among the state tables
HIVE = "hive's schema"  # locked while Hive's tables are created


def check_catalog(subject: Subject) -> Checked:
    """Check the catalog of tables, and say who has locked tables."""
    if subject.root is None:
        return skipped("not looked at, outside of a project")
    try:
        to = metastore()
        if to is None:
            return Checked(f"in files, in {lake_folder()}", tuple(_other_spark(lake_folder())))
        names = [*subject.tables, *(f"{subject.ops_schema}.{name}" for name in STATE), HIVE]
        with connected(to, connect_timeout=SECONDS) as session:
            held = held_tables(session, names)
    except TidemarkError as failure:
        return Checked("does not answer", (error(failure.what, failure.fix),))
    fix = "Wait until it ends, or end it; TIDEMARK_LOCK_WAIT lets a command wait."
    findings = (note(f"{process} has locked {first_of(tables)}.", fix) for process, tables in held.items())
    return Checked(f"in PostgreSQL, at {to.hosts}/{to.database}", tuple(findings))


def check_catalog_server(subject: Subject) -> Checked:
    """Check that the catalog server of TIDEMARK_ICEBERG_REST answers."""
    try:
        url = rest_catalog()
    except TidemarkError as wrong:
        return Checked("no URL", (error(wrong.what, wrong.fix),))
    if not url:
        return skipped(f"{ICEBERG_REST} is not set")
    warehouse = os.environ.get(WAREHOUSE, "")
    config = f"{url.rstrip('/')}/v1/config"
    answer = ask(f"{config}?warehouse={quote(warehouse)}" if warehouse else config, "GET")
    return Checked(url, tuple(_answered(config, answer.status, answer.message)))


def _answered(url: str, status: int, message: str) -> Iterator[Finding]:
    if status in (401, 403):
        if not os.environ.get(CREDENTIAL):
            yield warning(f"The catalog server requires a credential (HTTP {status}).", f"Set {CREDENTIAL}.")
    elif status != 200:
        why = message or f"HTTP {status}"
        fix = f"Correct {ICEBERG_REST}, which ends before /v1, and {WAREHOUSE}; or start the server."
        yield error(f"The catalog server does not answer at {url}: {why}.", fix)


def _other_spark(lake: Path) -> Iterator[Finding]:
    """Report a Spark that has the catalog open without the lake's lock."""
    process = _locker(lake / DERBY_LOCK)
    if process and not holder(lake):
        message = (
            f"Process {process} has the catalog in {lake} open, and is not a command of Tidemark or dbt."
        )
        yield warning(message, f"End it, or share the catalog with {METASTORE}: its files serve one process.")


def _locker(path: Path) -> int:
    """Return the process that has locked a file, without locking it; 0 if there is none, or none is known."""
    if not path.is_file() or sys.platform != "linux":
        return 0
    with path.open("rb") as file:
        asked = struct.pack(FLOCK, fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
        kind, *_, process = struct.unpack(FLOCK, fcntl.fcntl(file, fcntl.F_GETLK, asked))
    return 0 if kind == fcntl.F_UNLCK else int(process)
