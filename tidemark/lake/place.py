"""Where the lake is: its tables, its catalog, and the Spark that uses them, as the environment says."""

from __future__ import annotations

import os
import re
from pathlib import Path

LAKE = "TIDEMARK_LAKE"
DEFAULT_LAKE = "lake"


def lake_location() -> str:
    """Return where the lake's tables are: the folder or the URL that TIDEMARK_LAKE names."""
    return os.environ.get(LAKE, DEFAULT_LAKE).rstrip("/") or "/"


def is_remote() -> bool:
    """Return whether the tables are not in a local folder but in a file system with a URL."""
    return "://" in lake_location()


def lake_folder() -> Path:
    """Return the local folder of the lake's lock and embedded catalog.

    It also has the tables, unless TIDEMARK_LAKE is a URL. Then it is a folder named after the URL, without
    keys that the URL may have.
    """
    location = lake_location()
    if not is_remote():
        return Path(location)
    place = re.sub(r"^[^/@]*:[^/@]*@", "", location.partition("://")[2])
    return Path("-".join([DEFAULT_LAKE, *re.findall(r"[A-Za-z0-9]+", place)]))
