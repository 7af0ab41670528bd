"""Open the project for a command: its target, its lake, its manifest."""

from __future__ import annotations

from python_ingest.lake.lock import hold
from python_ingest.lake.place import lake_folder
from python_ingest.project import Project, choose_target, enter_root, load


def opened() -> Project:
    """Choose a target with Spark in the process, lock the lake before slow steps, parse the project."""
    choose_target(enter_root())
    hold(lake_folder())
    return load()


def opened_to_read() -> Project:
    """Choose a target with one session, which may be on a server, and parse the project."""
    choose_target(enter_root(), may_be_remote=True)
    return load()
