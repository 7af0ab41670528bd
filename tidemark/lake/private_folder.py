"""Where Spark keeps blocks of rows while it runs: a folder that no other user can read."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

NAME = "tidemark-spark-"
MODE = 0o700  # the files in it have Spark's modes, which let all users read


@lru_cache(maxsize=1)
def private_folder() -> Path:
    """Return this user's folder in the temporary one; it is created if it is missing.

    Spark deletes what is in it when a command ends, and `tidemark doctor` names what killed ones have left.
    If another user has taken the name, this process has a folder of its own.
    """
    folder = Path(tempfile.gettempdir()) / f"{NAME}{os.getuid()}"
    with suppress(FileExistsError):
        folder.mkdir(MODE)
    known = folder.lstat()
    if not stat.S_ISDIR(known.st_mode) or known.st_uid != os.getuid():
        return Path(tempfile.mkdtemp(prefix=NAME))
    folder.chmod(MODE)
    return folder
