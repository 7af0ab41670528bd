"""What runs at night only, and what covers it by day: the only list. docs/testing.md has it as a table."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

NIGHTLY = bool(os.environ.get("TIDEMARK_NIGHTLY"))
PAGE = Path(__file__).resolve().parent.parent / "docs" / "testing.md"
HEAD = "| nightly case | what covers it in every `make test-all` |\n|---|---|\n"


@dataclass(frozen=True)
class Case:
    """A case that runs at night.

    Attributes:
        what: what runs at night.
        by_day: what covers it by day.
        variable: the variable of `make test-nightly` that sets it, if no test asks `is_night`.
    """

    what: str
    by_day: str
    variable: str = ""


CASES = {
    "kill points": Case(
        "26 of 28 kill points of a run, among them all on Iceberg; 2 of 3 of a landing from PostgreSQL "
        "(`nightly=True` in `tests/kills`)",
        "a kill point of the same stage: write, confirm; for the merge and the checkpoint, the simulated "
        "month; on Iceberg, a run that is cut off after its merge (`test_iceberg.py`); for a first "
        "run, the orchestrator's test, in which the first landing is killed; for a full refresh, the "
        "tests that forget the last checkpoint (`test_recovery.py`); for an object store, landings "
        "from it that are not killed (`test_object_store.py`)",
    ),
    "orchestrator": Case(
        "a killed `dbt build` that the orchestrator tries again (`test_orchestration.py`)",
        "a killed landing after which the next run resumes",
    ),
    "month": Case(
        "28 instead of 7 days of the simulated month (`tests/month`), with other kill points each "
        "week and two models more",
        "each kind of day once",
    ),
    "iceberg": Case(
        "tests whose marker `formats` has Iceberg at night only",
        "the same test on Delta; reading by version and the models of one feed with `verify` on Iceberg",
    ),
    "delta": Case(
        "tests whose marker `formats` has Delta at night only",
        "the same test on Iceberg, where statements on small tables take a half to a quarter of "
        "the time; on Delta: landings that are killed, an audit of partitions, the models of the whole "
        "project, the shop's models from a database, a killed reader of a topic, and the simulated month "
        "with its audit, undo, erasure and maintenance",
    ),
    "replay": Case(
        "1 of 3 moments at which a replay of rejected records is killed, 3 of 4 of one of messages",
        "the others",
    ),
    "query plans": Case(
        "Spark's adaptive query execution and generated code, which are on for users; Java's second compiler",
        "the same queries without them",
    ),
    "histories": Case(
        "2,000 random histories of eight batches, with a new seed each day",
        "250 histories of six batches, with a fixed seed",
        variable="TIDEMARK_HISTORIES",
    ),
    "queries": Case(
        "200 random queries, with a new seed each day (`tests/tidemark/engine/incremental`)",
        "6 random queries with a fixed seed",
        variable="TIDEMARK_QUERIES",
    ),
    "stages": Case(
        "random histories of all queries of `test_stages.py` (`tests/tidemark/engine/incremental`)",
        "those of each second one; without Spark, how each of them is split",
    ),
    "erasure": Case(
        "an erasure killed after each of its steps, and one in a topic",
        "one killed after the rows have left bronze; one in a table",
    ),
    "shop": Case(
        "20 days of a live shop in `tests/lakehouse/test_shop.py`",
        "8 days, with the change of the clocks",
    ),
    "stream": Case(
        "1,000,000 messages in `tests/kills/test_stream.py`, a second killed reader, and a "
        "cluster that reads the last of them",
        "100,000 messages, one killed reader and the broker; the cluster has no test by day",
    ),
    "undo": Case(
        "an undo of tables that were changed by hand, expired or dropped (`test_undo.py`)",
        "later runs that read the tables; an undo that is killed",
    ),
    "lost rows": Case(
        "a killed second landing of lost files, and a `delete` between a write and its "
        "confirmation (`test_lost_rows.py`)",
        "the same without the kill; a `restore` at that moment",
    ),
    "feeds": Case(
        "300 random feeds that are added, landed and built (`tests/fuzz/test_strange_feeds.py`)",
        "1 of them; 600 random sample files that `tidemark add` reads (`test_sample_reading.py`)",
    ),
    "walks": Case(
        "the commands of `docs/walks`: what they print is compared with the page "
        "(`tests/repository/test_walks.py`)",
        "that the commands of all pages can be typed; the same steps in tests of their own",
    ),
    "types": Case(
        "20 random tables with columns of any type and name on each format, others each night "
        "(`tests/fuzz/test_types_and_names.py`), seven models of each",
        "such columns listed by hand, on Delta (`tests/lakehouse/test_names_and_types.py`)",
    ),
    "wide files": Case(
        "files with 20 and 60 rules (`test_scaffold.py`), NUL bytes in two more kinds of CSV "
        "(`test_hostile.py`)",
        "feeds with up to ten rules (`test_what_is_written_lands_builds_and_lints`), two kinds of CSV",
    ),
    "thrift": Case(
        "a Thrift server (`test_servers.py`)",
        "a Connect server, with the same dbt in a process without Spark",
    ),
    "cluster": Case(
        "a cluster with an object store and a shared catalog, a worker of which is killed, `verify` "
        "and an erasure there (`test_cluster.py`)",
        "no cluster; its parts: the object store (`test_object_store.py`), the locks in the database of "
        "the catalog (`test_table_locks.py`); the same erasure in a local folder",
    ),
    "commands": Case(
        "each command as a process of its own (`test_commands.py`); an erasure from the wheel "
        "(`test_wheel.py`); what plain dbt prints of an error (`test_messages.py`)",
        "`init`, `run` and `verify` as processes (`test_wheel.py`), `dbt build` as one (`test_cli.py`); "
        "the message of an error (`test_messages.py`)",
    ),
    "installing": Case(
        "the wheel, installed from a package index with uv into seven clean environments: alone "
        "and with each extra (`test_installing.py`)",
        "`test_wheel.py`: the wheel's files, and the wheel beside the locked packages",
    ),
    "adapter": Case(
        "dbt's adapter tests (`tests/adapter`, [conformance.md](conformance.md)), except their basic part",
        "the basic part (`test_basic.py`) on Delta; `test_model_settings.py` in `tests/lakehouse` "
        "and `tests/tidemark/engine/adapter`; without Spark, that each class of the package is "
        "run or left out with a reason",
    ),
    "features": Case(
        "`test_dbt_features.py` in `tests/lakehouse` on Iceberg; `catalog.json`, `clone`, "
        "`microbatch` retried, and dbt's commands that only read",
        "the same file on Delta; `--defer`, `retry`, freshness, versions",
    ),
    "power": Case(
        "fifteen rules of the engine, broken on purpose, in 40 random queries each (`test_power.py`)",
        "six broken rules, each in one query (`test_random_queries.py`)",
    ),
    "prove": Case(
        "`tidemark prove` on the gold models of this project, and on a project of ties and odd "
        "subqueries (`test_prove.py`)",
        "the same command on another project (`test_wheel.py`), random queries and the constructs "
        "of the documentation (`tests/tidemark/engine/incremental`)",
    ),
    "packages": Case(
        "models and tests written with dbt_utils, dbt_expectations, codegen, audit_helper, "
        "elementary and dbt_project_evaluator (`tests/packages`); `TIDEMARK_PACKAGES` names a "
        "folder with the packages, otherwise `dbt deps` fetches them, and without a network they "
        "are skipped ([packages.md](packages.md))",
        "queries as these packages write them (`test_row_by_row.py`), a package that does not "
        "know Tidemark (`test_ways.py`), a generic test that looks at rows (`test_data_tests.py`)",
    ),
    "full refresh": Case(
        "a full refresh of all models of the project, compared row by row; then `dbt test` by layer, "
        "`dbt source freshness`, `dbt docs generate` (`test_medallion.py`)",
        "`verify` of the same tables and the unit tests; data tests of the tables of one feed on Iceberg "
        "(`test_iceberg.py`); `freshness` (`test_dbt_features.py`) and `docs` (`test_scaffold.py`) in other "
        "projects",
    ),
    "earlier lakes": Case(
        "runs on a lake of the version before, an undo, and a migration that is cut off "
        "(`test_earlier_lakes.py`)",
        "each form of a checkpoint of the version before is read as what it means now (the same file)",
    ),
    "states": Case(
        "a wider type, a change data feed switched off and on, a cleaned log, versions that nothing has "
        "read for weeks (`test_reading.py`); a table that another writer changed, on Delta "
        "(`test_recovery.py`); `on_code_change` (`test_code_changes.py`)",
        "the same states as literal facts (`tests/tidemark/engine/decision`), the facts of a real log "
        "(`test_delta_log.py`); a vacuumed source, changed code; what expires in "
        "`test_maintenance.py`; a table that another writer changed, on Iceberg (`test_iceberg.py`)",
    ),
    "project on Iceberg": Case(
        "all feeds, models and data tests of this project on Iceberg (`test_iceberg.py`)",
        "one feed and its models there; all of them on Delta (`test_medallion.py`)",
    ),
    "class archive": Case(
        "an archive of Spark's classes that is made in the background (`test_archive_once.py`)",
        "when it is made; the archive of `make classes`, which tests use",
    ),
    "functions": Case(
        "the lists of aggregates, compared with those of Spark (`test_rounding.py`)",
        "each aggregate of the lists in one of its three tables",
    ),
}


def is_night(case: str) -> bool:
    """Return whether a case of the list runs now."""
    assert case in CASES, f"{case} is not in tests/night.py"
    return NIGHTLY


def nightly(case: str) -> pytest.MarkDecorator:
    """Run a test at night only.

    Args:
        case: its name in the list.
    """
    return pytest.mark.skipif(not is_night(case), reason=f"at night; by day: {CASES[case].by_day}")


def table() -> str:
    """Return the list as a table in Markdown."""
    return HEAD + "".join(f"| {case.what} | {case.by_day} |\n" for case in CASES.values())


def page() -> str:
    """Return docs/testing.md with the table of the list."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(HEAD)
    lines = rest.splitlines(keepends=True)
    after = next((number for number, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return before + table() + "".join(lines[after:])


if __name__ == "__main__":
    sys.stdout.write(f"writing {PAGE}\n")
    PAGE.write_text(page(), encoding="utf-8")
