"""Is there a Java on which Spark runs, and does it compute in UTC?"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import lru_cache

from tidemark.operate.doctor.finding import Checked, Finding, error, warning
from tidemark.operate.doctor.subject import Subject
from tidemark.spark.jars import java

VERSIONS = ("17", "21")  # on which Spark 4.1 runs
INSTALL = (
    "Install Java 17 or 21 (Debian: `apt install openjdk-17-jre-headless`), or set JAVA_HOME to its folder."
)
PROPERTY = re.compile(r"^ +([\w.]+) = (.*)$", re.MULTILINE)
ZONE = re.compile(r"-Duser\.timezone=(\S*)")
UTC = ("utc", "etc/utc", "gmt", "etc/gmt", "uct", "z", "zulu")
SAME = {"amd64": "x86_64", "arm64": "aarch64"}  # names of one architecture
DRIVER, SESSION_ZONE = "spark.driver.extraJavaOptions", "spark.sql.session.timeZone"
SECONDS = 60


def check_java(subject: Subject) -> Checked:
    """Check that Java is there, and its version, architecture and time zone."""
    command = shutil.which(java())
    if command is None:
        return Checked("not found", (_missing(),))
    found = properties(command)
    if "java.specification.version" not in found:
        message = f"{command} does not run: {found.get('message') or 'it prints nothing'}"
        return Checked("does not run", (error(message, INSTALL),))
    name = f"Java {found.get('java.version', '')}, {found.get('os.arch', '')}: {command}"
    return Checked(name, (*_version(found), *_architecture(found), *_zone(subject.settings)))


@lru_cache
def properties(command: str) -> dict[str, str]:
    """Return the properties of a Java; if it does not run, only `message`: the first line that it prints."""
    try:
        done = subprocess.run(
            [command, "-XshowSettings:properties", "-version"],
            capture_output=True, check=False, timeout=SECONDS, encoding="utf-8", errors="replace",
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as failure:
        return {"message": str(failure)}
    lines = [line for line in (done.stderr + done.stdout).splitlines() if not line.startswith("Picked up")]
    return dict(PROPERTY.findall(done.stderr)) or {"message": next(iter(lines), "")}


def _missing() -> Finding:
    home = os.environ.get("JAVA_HOME")
    where = f"JAVA_HOME is {home}, but {home}/bin/java is not there" if home else "no `java` is on the PATH"
    return error(f"Java was not found: {where}.", INSTALL)


def _version(found: Mapping[str, str]) -> Iterator[Finding]:
    number = found["java.specification.version"].removeprefix("1.")
    if number not in VERSIONS:
        yield error(f"Java {number} is not supported by Spark 4.1.", INSTALL)


def _architecture(found: Mapping[str, str]) -> Iterator[Finding]:
    here, there = platform.machine().lower(), found.get("os.arch", "").lower()
    if there and SAME.get(there, there) != SAME.get(here, here):
        message = f"Java is built for {there}, and this machine is {here}: it is emulated, and slow."
        yield warning(message, f"Install a Java for {here}.")


def _zone(settings: Mapping[str, str]) -> Iterator[Finding]:
    own = os.environ.get("TIDEMARK_JAVA_OPTIONS", "")
    given = settings.get(DRIVER, own)
    places = [("JAVA_TOOL_OPTIONS", os.environ.get("JAVA_TOOL_OPTIONS", "")), (DRIVER, given)]
    if own and own in given:
        places.append(("TIDEMARK_JAVA_OPTIONS", own))
    places.append(("_JAVA_OPTIONS", os.environ.get("_JAVA_OPTIONS", "")))
    zones = [(name, zone) for name, options in places for zone in ZONE.findall(options)]
    fix = "Remove it: Tidemark sets UTC. In another zone, times of databases and of partitions are wrong."
    if zones and zones[-1][1].lower() not in UTC:
        yield warning(f"{zones[-1][0]} sets the time zone of Java to {zones[-1][1]}, not to UTC.", fix)
    elif settings and not zones:
        message = (
            f"The target replaces {DRIVER}, and the new value does not set the time zone of Java to UTC."
        )
        yield warning(message, "Add -Duser.timezone=UTC to it in profiles.yml.")
    if settings.get(SESSION_ZONE, "UTC").lower() not in UTC:
        yield warning(f"{SESSION_ZONE} is {settings[SESSION_ZONE]}, not UTC.", fix)
