"""What is checked: the project, as far as it can be opened, and the Spark that it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from tidemark.operate.doctor.finding import Finding


@dataclass
class Subject:
    """What the checks look at; `open_project` fills it in, as far as it gets.

    Attributes:
        today: the date, in UTC.
        is_deep: whether to read whole files.
        root: the project's folder, which is the current one; None outside of a project.
        target: the target's name; empty if the profile cannot be used.
        settings: the settings of the Spark that runs in a process of this project; empty if there is none, or
            if it is not known.
        server: the address of the Spark that the target uses, as `host:port`; empty in the process.
        extras: the extras of Tidemark that the target needs.
        locations: where the files of feeds are.
        tables: the project's tables, `schema.name`.
        ops_schema: the schema of the state tables.
        findings: what is wrong with the project.
    """

    today: date
    is_deep: bool = False
    root: Path | None = None
    target: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    server: str = ""
    extras: tuple[str, ...] = ()
    locations: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    ops_schema: str = ""
    findings: tuple[Finding, ...] = ()

    def report(self, finding: Finding) -> None:
        """Add a finding."""
        self.findings = (*self.findings, finding)

    @property
    def has_own_spark(self) -> bool:
        """Whether Spark may start in a process of this project, as far as that is known."""
        return bool(self.settings) or not self.server
