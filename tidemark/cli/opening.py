"""Open the project for a command: its target, its lake, its manifest. Spark starts meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidemark.base.messages import first_sentence
from tidemark.base.output import output
from tidemark.engine.dbt_core.profiles import choose_target
from tidemark.engine.project import Project, enter_root
from tidemark.engine.project.session import start_session
from tidemark.engine.project.to_read import load_to_read
from tidemark.lake.lock import hold
from tidemark.lake.place import lake_folder
from tidemark.project_with_feeds import ProjectWithFeeds


def opened(*, starts_spark: bool = True) -> ProjectWithFeeds:
    """Choose a target with Spark in the process, lock the lake before slow steps, parse the project.

    Args:
        starts_spark: whether the command calls `warm_session` in any case.
    """
    root = enter_root()
    choose_target(root)
    hold(lake_folder())
    if starts_spark:
        start_session(root)
    return ProjectWithFeeds.load()


def opened_to_read() -> ProjectWithFeeds:
    """Choose a target with one session, which may be on a server, and parse the project."""
    root = enter_root()
    choose_target(root, may_be_remote=True)
    start_session(root, may_be_remote=True)
    return ProjectWithFeeds.load()


def opened_with(variables: Mapping[str, Any], *, locked: bool = False) -> Project:
    """Open the project with values of `--vars`; print a note for each broken data test.

    Args:
        variables: the values.
        locked: whether the command may write: with Spark in the process, and the lake locked.
    """
    root = enter_root()
    choose_target(root, may_be_remote=not locked)
    if locked:
        hold(lake_folder())
    start_session(root, may_be_remote=not locked)
    lakehouse, broken = load_to_read(variables)
    for message in broken.tests:
        output.note("broken test", first_sentence(message))
    return lakehouse
