"""Open the dbt project as far as that is possible, and report what is in the way."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from python_ingest.feeds.declarations import Feed, FileFeed
from tidemark.base.errors import DbtError, TidemarkError, did_you_mean
from tidemark.engine.dbt_core.profiles import credentials_of, profiles_folder
from tidemark.engine.dbt_core.texts import yaml_mapping
from tidemark.engine.project import find_root
from tidemark.lake.place import lake_folder
from tidemark.operate.doctor.finding import Checked, error
from tidemark.operate.doctor.secrets import redacted
from tidemark.operate.doctor.subject import Subject
from tidemark.project_with_feeds import ProjectWithFeeds
from tidemark.spark.connect import PORT

PROJECT, PROFILES = "dbt_project.yml", "profiles.yml"
ALL_MESSAGES = "`dbt parse` prints all messages."


def open_project(today: date, *, is_deep: bool = False, is_skipped: bool = False) -> Subject:
    """Change to the project's folder, open its profile and parse it; return what the checks look at.

    Args:
        today: the date.
        is_deep: whether to read whole files.
        is_skipped: whether to leave profile and models alone.
    """
    root = find_root()
    subject = Subject(today, is_deep, root)
    if root is not None:
        os.chdir(root)
    if not is_skipped:
        try:
            _open(root, subject)
        except DbtError as problem:
            subject.report(error(redacted(problem.what), f"Correct it. {ALL_MESSAGES}"))
        except TidemarkError as problem:
            subject.report(error(redacted(problem.what), redacted(problem.fix)))
        except Exception as problem:
            message = redacted(f"The project cannot be opened: {type(problem).__name__}: {problem}")
            subject.report(error(message, "Correct what the other checks report first."))
    return subject


def check_project(subject: Subject) -> Checked:
    """Report what `open_project` found."""
    if subject.root is None or not subject.target:
        return Checked(str(subject.root or "none"), subject.findings)
    where = f"Spark at {subject.server}" if subject.server else "Spark in the process"
    feeds = f", {len(subject.tables)} tables" if subject.tables else ""
    return Checked(f"target {subject.target}, {where}{feeds}: {subject.root}", subject.findings)


def _open(root: Path | None, subject: Subject) -> None:
    """Fill in what is known, and stop with an error where the rest depends on what is broken."""
    if root is None:
        raise TidemarkError(
            f"There is no dbt project in {Path.cwd()} or above it.",
            "Run this command in the project's folder, or write a project with `tidemark init`.",
        )
    profile = yaml_mapping(root / PROJECT).get("profile", "")
    profiles = yaml_mapping(profiles_folder(root) / PROFILES)
    credentials, subject.target = credentials_of(root)
    if credentials.type != "tidemark":
        raise TidemarkError(
            f"The target '{subject.target}' does not use the adapter `tidemark` "
            f"(`type: {credentials.type}`).",
            f"Write `type: tidemark` in it, in {profiles_folder(root) / PROFILES}, or choose another target "
            "with DBT_TARGET.",
        )
    _find_spark(root, subject, credentials, profiles.get(profile) or {})
    lakehouse = ProjectWithFeeds.load(silent=True)
    for invalid in lakehouse.invalid.values():
        subject.report(error(redacted(invalid.what), redacted(invalid.fix)))
    external = (feed.external for feed in lakehouse.feeds.values())
    subject.locations = tuple(str(one.location) for one in external if hasattr(one, "location"))
    subject.tables, subject.ops_schema = lakehouse.tables, lakehouse.ops_schema
    _check_secrets(subject, lakehouse.feeds.values())


def _check_secrets(subject: Subject, feeds: Iterable[Feed]) -> None:
    """Report feeds that hash personal values, and a lake with erased persons, without the secret for that."""
    uses = [
        ("TIDEMARK_PII_KEY", f"Feed '{feed.name}' with `hash_pii`")
        for feed in feeds
        if isinstance(feed, FileFeed) and feed.external.hash_pii
    ]
    if any(lake_folder().glob(f"*/{subject.ops_schema}*/erasures")):
        uses.append(("TIDEMARK_ERASURE_KEY", f"{subject.ops_schema}.erasures, which keeps erased rows out,"))
    for variable, use in uses:
        from tidemark.lake.keyed_hash import KeyedHash  # needs PySpark, which this command may lack

        try:
            KeyedHash(variable, use)
        except TidemarkError as missing:
            subject.report(error(missing.what, missing.fix))


def _find_spark(root: Path, subject: Subject, credentials: Any, profile: Mapping[str, Any]) -> None:
    """Fill in where Spark is; report an `embedded_target` that cannot land."""
    if credentials.is_embedded:
        subject.settings = credentials.server_side_parameters
        return
    if credentials.remote:
        place = urlsplit(credentials.remote)
        subject.server, subject.extras = f"{place.hostname}:{place.port or PORT}", ("connect",)
    else:
        subject.server, subject.extras = f"{credentials.host}:{credentials.port}", ("thrift",)
    name, targets = credentials.embedded_target, profile.get("outputs") or {}
    if not name:
        return
    where = f"embedded_target of the target '{subject.target}' in {profiles_folder(root) / PROFILES}"
    if name not in targets:
        fix = f"{did_you_mean(name, targets)}Choose one of: {', '.join(targets)}."
        subject.report(error(f"{where} is '{name}', which is not a target.", fix))
        return
    embedded, _ = credentials_of(root, name)
    if not getattr(embedded, "is_embedded", False):
        fix = "Name a target with `type: tidemark` and `method: session`, and without `spark.remote`."
        subject.report(error(f"{where} is '{name}', whose Spark is not in the process.", fix))
        return
    subject.settings = embedded.server_side_parameters
