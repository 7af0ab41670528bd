"""All checks, in the order of the output; one that fails itself does not hide the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from python_ingest.doctor.catalog import check_catalog, check_catalog_server
from python_ingest.doctor.connections import check_connections, check_server
from python_ingest.doctor.file_system import check_file_system
from python_ingest.doctor.finding import Checked, error
from python_ingest.doctor.jars import check_jars
from python_ingest.doctor.java import check_java
from python_ingest.doctor.limits import check_limits
from python_ingest.doctor.object_store import check_object_store
from python_ingest.doctor.packages import check_packages
from python_ingest.doctor.place import check_lake
from python_ingest.doctor.project import check_project
from python_ingest.doctor.secrets import redacted
from python_ingest.doctor.subject import Subject
from python_ingest.doctor.support import check_support
from python_ingest.errors import TidemarkError, did_you_mean

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
            said = redacted(f"This check failed itself: {type(failure).__name__}: {failure}")
            fix = f"Leave it out with `--skip {name}`, and report it as a defect."
            yield name, Checked("not known", (error(said, fix),))


def check_names(names: Collection[str]) -> None:
    """Stop if a name is not that of a check.

    Raises:
        TidemarkError: in this case.
    """
    for name in names:
        if name not in CHECKS:
            fix = f"{did_you_mean(name, CHECKS)}Choose from: {', '.join(CHECKS)}."
            raise TidemarkError(f"There is no check '{name}'.", fix)
