"""All checks, in the order of the output; one that fails itself does not hide the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from tidemark.base.errors import TidemarkError, did_you_mean
from tidemark.operate.doctor.catalog import check_catalog, check_catalog_server
from tidemark.operate.doctor.connections import check_connections, check_server
from tidemark.operate.doctor.file_system import check_file_system
from tidemark.operate.doctor.finding import Checked, error
from tidemark.operate.doctor.jars import check_jars
from tidemark.operate.doctor.java import check_java
from tidemark.operate.doctor.limits import check_limits
from tidemark.operate.doctor.object_store import check_object_store
from tidemark.operate.doctor.packages import check_packages
from tidemark.operate.doctor.place import check_lake
from tidemark.operate.doctor.project import check_project
from tidemark.operate.doctor.secrets import redacted
from tidemark.operate.doctor.subject import Subject
from tidemark.operate.doctor.support import check_support

Check = Callable[[Subject], Checked]
PROJECT = "project"
CHECKS: Mapping[str, Check] = {
    "java": check_java,
    "packages": check_packages,
    "support": check_support,
    "jars": check_jars,
    PROJECT: check_project,
    "lake": check_lake,
    "catalog": check_catalog,
    "file-system": check_file_system,
    "limits": check_limits,
    "object-store": check_object_store,
    "catalog-server": check_catalog_server,
    "connections": check_connections,
    "spark-server": check_server,
}


def run_checks(subject: Subject, without: Collection[str] = ()) -> Iterator[tuple[str, Checked]]:
    """Run the checks and yield their names and results.

    Args:
        subject: what is checked.
        without: names of checks to leave out.
    """
    for name, check in CHECKS.items():
        if name in without:
            continue
        try:
            yield name, check(subject)
        except Exception as failure:
            message = redacted(f"This check failed itself: {type(failure).__name__}: {failure}")
            fix = f"Leave it out with `--skip {name}`, and report it as a defect."
            yield name, Checked("not known", (error(message, fix),))


def check_names(names: Collection[str]) -> None:
    """Stop if a name is not that of a check.

    Raises:
        TidemarkError: in this case.
    """
    for name in names:
        if name not in CHECKS:
            fix = f"{did_you_mean(name, CHECKS)}Choose from: {', '.join(CHECKS)}."
            raise TidemarkError(f"There is no check '{name}'.", fix)
