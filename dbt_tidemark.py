"""A dbt plugin, found by its name: plain dbt commands hold the local lake too, before they start Spark."""

from __future__ import annotations

from typing import Any

from dbt.flags import get_flags
from dbt.plugins.manager import dbtPlugin

from python_ingest.lock import hold, lake_folder

WITHOUT_SPARK = ("parse", "list", "deps", "clean", "debug", "init")
EMBEDDED = (None, "local", "iceberg")


class LakeLock(dbtPlugin):
    """Stops a command at once, in one sentence, while another process holds the lake."""

    def initialize(self) -> None:
        flags: Any = get_flags()  # type: ignore[no-untyped-call]
        if flags.WHICH not in WITHOUT_SPARK and getattr(flags, "TARGET", None) in EMBEDDED:
            hold(lake_folder())


plugins = [LakeLock]
