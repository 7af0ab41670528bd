"""PostgreSQL, as Debian installs it, in its own cluster."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import sql

from dev.servers.programs import MissingServerError, free_port
from tidemark.spark.server.common import scratch_folder

VERSIONS = Path("/usr/lib/postgresql")


@dataclass(frozen=True)
class Postgres:
    """A running server.

    Attributes:
        folder: the folder of the cluster and its log.
        port: the port on 127.0.0.1.
        password: the password of the superuser `owner`.
    """

    folder: Path
    port: int
    password: str

    def url(self, database: str = "postgres", user: str = "owner", password: str | None = None) -> str:
        """Return the URL of a database for a connection."""
        secret = quote(self.password if password is None else password, safe="")
        return f"postgresql://{user}:{secret}@127.0.0.1:{self.port}/{database}"

    def connect(self, database: str = "postgres", **options: Any) -> psycopg.Connection[Any]:
        """Connect; by default each statement is its own transaction."""
        return psycopg.connect(self.url(database), **({"autocommit": True} | options))

    def create_database(self, name: str) -> str:
        """Create an empty database and return its URL."""
        with self.connect() as connection:
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        return self.url(name)

    def stop(self) -> None:
        """Stop immediately, like a crash."""
        self.control("-m", "immediate", "stop")

    def start(self, *settings: str) -> None:
        """Start on the port, with settings of the form `name=value`."""
        options = [
            f"-p {self.port} -h 127.0.0.1 -k {self.folder} -c fsync=off",
            *[f"-c {s}" for s in settings],
        ]
        self.control("-l", str(self.folder / "log"), "-o", " ".join(options), "start")

    def control(self, *arguments: str) -> None:
        """Call `pg_ctl` and wait until it ends."""
        _run(self.folder, "pg_ctl", "-D", str(self.folder / "data"), "-w", *arguments)


def create_cluster(folder: Path, port: int, password: str) -> Postgres:
    """Create a cluster in an empty folder, without starting it."""
    (folder / "password").write_text(password, encoding="utf-8")
    if os.geteuid() == 0:  # the server refuses to run as root
        shutil.chown(folder, "postgres", "postgres")
        shutil.chown(folder / "password", "postgres", "postgres")
    _run(
        folder, "initdb", "-D", str(folder / "data"), "-U", "owner", "-A", "scram-sha-256",
        f"--pwfile={folder / 'password'}", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync",
    )  # fmt: skip
    return Postgres(folder, port, password)


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Start a server, and stop it at the end."""
    with scratch_folder() as folder:
        server = create_cluster(folder, free_port(), secrets.token_urlsafe(12) + "/@:%")
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _run(folder: Path, program: str, *arguments: str) -> None:
    found = sorted(VERSIONS.glob(f"*/bin/{program}"), key=lambda path: int(path.parts[-3]))
    if not found:
        raise MissingServerError("PostgreSQL is not installed: `apt install postgresql`")
    command = [str(found[-1]), *arguments]
    if os.geteuid() == 0:
        as_user = ["--reuid=postgres", "--regid=postgres", "--clear-groups"]
        command = ["setpriv", *as_user, "env", f"HOME={folder}", *command]
    with (folder / "commands.log").open("a") as log:
        done = subprocess.run(command, stdout=log, stderr=log, cwd=folder, check=False)
    if done.returncode:
        raise AssertionError(f"{program} failed: {(folder / 'commands.log').read_text()[-2000:]}")
