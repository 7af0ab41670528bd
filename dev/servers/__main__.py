"""PostgreSQL and Kafka on fixed loopback ports for `make services`, or only PostgreSQL for `make tour`."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from dev.servers.kafka import Kafka
from dev.servers.postgresql import VERSIONS, Postgres, create_cluster, postgres

FOLDER = Path(tempfile.gettempdir()) / f"tidemark-services-{os.getuid()}"
POSTGRES_PORT, KAFKA_PORT, CONTROLLER_PORT = 55432, 19092, 19093
PASSWORD = "tidemark"  # noqa: S105  # for a scratch server on the loopback interface


def start() -> None:
    """Start both servers without data, and print the connection settings for feeds."""
    if FOLDER.exists():
        stop()
    if not VERSIONS.exists():
        sys.exit("PostgreSQL is not installed: `apt install postgresql`, then `make services` again.")
    for name in ("postgresql", "kafka"):
        (FOLDER / name).mkdir(parents=True)
    server = create_cluster(FOLDER / "postgresql", POSTGRES_PORT, PASSWORD)
    server.start()
    server.create_database("shop")
    broker = Kafka(FOLDER / "kafka", KAFKA_PORT, CONTROLLER_PORT)
    broker.start()
    assert broker.process  # noqa: S101  # it was started
    (FOLDER / "kafka" / "pid").write_text(str(broker.process.pid), encoding="utf-8")
    print(f"export TIDEMARK_CONNECTION_SHOP={server.url('shop')}")
    print(f"export TIDEMARK_CONNECTION_STREAM={broker.url}")


def stop() -> None:
    """Stop both servers and delete their data."""
    if (FOLDER / "postgresql" / "data" / "postmaster.pid").exists():
        Postgres(FOLDER / "postgresql", POSTGRES_PORT, PASSWORD).stop()
    pid = FOLDER / "kafka" / "pid"
    if pid.exists():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid.read_text()), signal.SIGKILL)
    shutil.rmtree(FOLDER, ignore_errors=True)


def run_with_servers(*command: str) -> None:
    """Run a command, with its own empty PostgreSQL server if PostgreSQL is installed."""
    if not VERSIONS.exists():
        sys.exit(subprocess.run(command, check=False).returncode)
    with postgres() as server:
        os.environ["TIDEMARK_CONNECTION_SHOP"] = server.create_database("shop")
        sys.exit(subprocess.run(command, check=False).returncode)


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run_with_servers(*sys.argv[2:])
    else:
        {"start": start, "stop": stop}[sys.argv[1]]()
