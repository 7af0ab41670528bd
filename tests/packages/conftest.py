"""Projects that use packages of other projects, which are not in this repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from python_ingest.project.verify import verify
from tests.conftest import ROOT
from tests.lakehouse.conftest import FixtureProject

FOLDER = "TIDEMARK_PACKAGES"  # a folder that holds each package in a folder of its name
HUB = {  # by the package's own name, its name on dbt's hub and the version that was tried: docs/packages.md
    "dbt_utils": ("dbt-labs/dbt_utils", "1.4.1"),
    "dbt_expectations": ("metaplane/dbt_expectations", "0.10.9"),
    "dbt_date": ("godatadriven/dbt_date", "0.21.0"),
    "codegen": ("dbt-labs/codegen", "0.14.1"),
    "audit_helper": ("dbt-labs/audit_helper", "0.12.2"),
    "elementary": ("elementary-data/elementary", "0.25.1"),
    "dbt_project_evaluator": ("dbt-labs/dbt_project_evaluator", "1.3.2"),
}
NEED_THE_GRAPH = ("elementary", "dbt_project_evaluator")


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the packages: the one that the environment names, or what dbt fetches from its hub."""
    if given := os.environ.get(FOLDER):
        missing = [name for name in HUB if not Path(given, name, "dbt_project.yml").exists()]
        assert not missing, f"{FOLDER}={given} lacks {', '.join(missing)}"
        return Path(given)
    folder = tmp_path_factory.mktemp("fetched")
    wanted = [{"package": name, "version": version} for name, version in HUB.values()]
    (folder / "packages.yml").write_text(yaml.safe_dump({"packages": wanted}))
    (folder / "dbt_project.yml").write_text("name: fetched\nprofile: tidemark\n")
    dbt = [sys.executable, "-m", "dbt.cli.main", "deps", "--project-dir", folder, "--profiles-dir", ROOT]
    fetched = subprocess.run(dbt, capture_output=True, text=True, timeout=300, check=False)
    if fetched.returncode:
        reason = (fetched.stdout.strip() or fetched.stderr.strip()).splitlines()[-1]
        pytest.skip(f"{FOLDER} names no folder, and dbt cannot fetch the packages: {reason}")
    return folder / "dbt_packages"


class PackagesProject(FixtureProject):
    """A copy of the project `packages`, with some of the packages installed."""

    def __init__(
        self, spark: SparkSession, prefix: str, folder: Path, packages: Path, names: list[str]
    ) -> None:
        super().__init__(spark, "packages", prefix)
        self.own_copy(folder)
        installed = folder / "installed"
        installed.mkdir()
        for name in names:
            (installed / name).symlink_to(packages / name)
        given = [{"local": str(installed / name)} for name in names]
        (self.folder / "packages.yml").write_text(yaml.safe_dump({"packages": given}))
        (self.folder / "profiles.yml").symlink_to(ROOT / "profiles.yml")
        project = self.folder / "dbt_project.yml"
        settings = yaml.safe_load(project.read_text())
        settings["packages-install-path"] = str(installed)
        for kind in ("models", "seeds"):
            settings[kind] = {
                n: of for n, of in settings[kind].items() if n in (*names, "shop_with_packages")
            }
        project.write_text(yaml.safe_dump(settings))
        if "elementary" not in names:
            shutil.rmtree(self.folder / "models" / "monitored")
            (self.folder / "macros" / "test_with_elementary.sql").unlink()
        columns = (
            "order_id int, customer_id int, status string, amount decimal(10, 2), ordered_on date, sent int"
        )
        self.orders = self.create_source("orders_in", columns)
        self.customers = self.create_source("customers_in", "customer_id int, name string, page string")

    def send_first(self) -> None:
        """Fill the sources."""
        page = "concat('https://shop.example/c/', id, '?of=', id)"
        status = "element_at(array('paid', 'sent', 'returned'), int(1 + id % 3))"
        day = "date_add(date '2026-01-01', int(id % 8))"
        self.spark.sql(f"insert into {self.customers} select id, concat('n', id), {page} from range(1, 6)")
        self.spark.sql(
            f"insert into {self.orders} select id, 1 + id % 5, {status}, id * 3.5, {day}, 1 from range(1, 31)"
        )

    def send_more(self) -> None:
        """Change an order and a customer, and add one of each; the order has a new status."""
        self.spark.sql(
            f"insert into {self.orders} values (3, 2, 'returned', 99.5, date '2026-01-09', 2), "
            "(31, 1, 'new', 5, date '2026-01-02', 2)"
        )
        self.spark.sql(f"insert into {self.customers} values (6, 'n6', 'https://shop.example/c/6?of=6')")
        self.spark.sql(f"update {self.customers} set name = 'x' where customer_id = 2")

    def messages(self, *arguments: str) -> dict[str, str]:
        """Run a command; return what each node says, or its status if it says nothing."""
        results = self.invoke(*arguments).results
        return {one.node.name: one.message or str(one.status) for one in results}

    def call(self, macro: str, arguments: dict[str, Any]) -> str:
        """Run an operation; return what it prints."""
        command = ["run-operation", macro, "--args", yaml.safe_dump(arguments)]
        return "\n".join(self._printed(*command))

    def proofs(self) -> dict[str, Any]:
        """Return the rows and differing rows of each model."""
        os.chdir(self.folder)
        found = list(verify(self.spark, ["shop_with_packages"]))
        os.chdir(ROOT)
        return {one.table.partition(".")[2]: one.unproven or (one.rows, one.differing) for one in found}

    def _printed(self, *arguments: str) -> list[str]:
        from dbt.cli.main import dbtRunner

        lines: list[str] = []
        options = ["--project-dir", str(self.folder), "--profiles-dir", str(ROOT)]
        runner = dbtRunner(callbacks=[lambda event: lines.append(event.info.msg)])
        outcome = runner.invoke(["--log-level", "none", *arguments, *options])
        os.chdir(ROOT)
        assert outcome.success, [line for line in lines if "rror" in line]
        return lines


MakeProject = Callable[..., PackagesProject]


@pytest.fixture
def own_prefix(prefix: str, table_format: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The prefix of the schemas of a project in another folder, on the tables of the test's format."""
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    monkeypatch.setenv("DBT_PROFILES_DIR", str(ROOT))
    return prefix


@pytest.fixture
def with_packages(spark: SparkSession, own_prefix: str, packages: Path, tmp_path: Path) -> MakeProject:
    """Make the project with the packages of the given names; without names, all that need no graph."""

    def make(*names: str) -> PackagesProject:
        chosen = list(names) or [name for name in HUB if name not in NEED_THE_GRAPH]
        return PackagesProject(spark, own_prefix, tmp_path, packages, chosen)

    return make
