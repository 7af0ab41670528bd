"""Do the servers answer that connections and the target name? Passwords are neither sent nor shown."""

from __future__ import annotations

import os
from collections.abc import Iterator
from urllib.parse import urlsplit

from tidemark.base.connections import EXAMPLES, SCHEMES, Connection, connection_in, variable
from tidemark.base.errors import TidemarkError
from tidemark.operate.doctor.finding import Checked, Finding, error, skipped, warning
from tidemark.operate.doctor.network import refusal
from tidemark.operate.doctor.subject import Subject

PORTS = {"postgresql": 5432, "kafka": 9092}


def check_connections(subject: Subject) -> Checked:
    """Check that each connection is a URL whose server answers."""
    set_here = (name for name, value in os.environ.items() if value.strip())
    names = sorted(name for name in set_here if name.startswith(variable("")))
    if not names:
        return skipped(f"no {variable('<NAME>')} is set")
    findings: list[Finding] = []
    places = []
    for name in names:
        kind = SCHEMES.get(os.environ[name].strip().partition("://")[0], "")
        try:
            if not kind:
                raise TidemarkError(f"{name} is not the URL of a connection.", _examples())
            found = connection_in(name, name.removeprefix(variable("")).lower(), kind)
        except TidemarkError as wrong:
            findings.append(error(wrong.what, wrong.fix))
            continue
        places.append(f"{found.name} at {found.hosts}")
        findings += _unanswered(name, found, kind)
    return Checked(", ".join(places) or "no URL", tuple(findings))


def check_server(subject: Subject) -> Checked:
    """Check that the server answers on which the target's Spark runs."""
    if not subject.server:
        return skipped("Spark is in the process" if subject.target else "not known")
    refused = refusal(subject.server, 0)
    if not refused:
        return Checked(f"answers at {subject.server}")
    names = {"connect": "TIDEMARK_CONNECT", "thrift": "TIDEMARK_THRIFT_HOST and TIDEMARK_THRIFT_PORT"}
    fix = f"Start it (`tidemark serve` is one for Spark Connect), or correct {names[subject.extras[0]]}."
    message = f"No Spark answers at {subject.server}, which the target {subject.target} names: {refused}."
    return Checked("does not answer", (error(message, fix),))


def _unanswered(name: str, to: Connection, kind: str) -> Iterator[Finding]:
    hosts = to.hosts.split(",")
    refused = {host: why for host in hosts if (why := refusal(host, PORTS[kind]))}
    for host, why in refused.items():
        address = host if urlsplit(f"//{host}").netloc.rpartition(":")[0] else f"{host}:{PORTS[kind]}"
        level = error if len(refused) == len(hosts) else warning
        fix = f"Start the server, or correct {name}; check the network, and the name of the host."
        yield level(f"{name}: nothing answers at {address}: {why}.", fix)


def _examples() -> str:
    return f"Write it like {' or '.join(EXAMPLES.values())}."
