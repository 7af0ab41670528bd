"""The wheel installed from an index into clean environments: alone, and with each extra."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from python_ingest.ops.erasures import ERASURE_KEY
from tests.conftest import ROOT
from tests.night import nightly
from tests.repository.wheels import build_wheel, keep_jars, output_of
from tidemark.base.distribution import NAME, address

pytestmark = [nightly("installing"), pytest.mark.R1]
BILLS = "bill_id,paid_on,amount\n1,2026-01-01,10.50\n2,2026-01-01,3\n3,2026-01-02,7.25\n"
LATE = "bill_id,paid_on,amount\n4,2026-01-03,1\n"
EVENTS = {
    "OPENLINEAGE__TRANSPORT__TYPE": "file",
    "OPENLINEAGE__TRANSPORT__APPEND": "true",
    "OPENLINEAGE__TRANSPORT__LOG_FILE_PATH": "events.ndjson",
}
SERVED = {
    "connect": "{type: tidemark, method: session, schema: default, "
    "server_side_parameters: {spark.remote: 'sc://127.0.0.1:1'}}",
    "thrift": "{type: tidemark, method: thrift, host: 127.0.0.1, port: 1, schema: default}",
}
MODULES = {  # what an extra brings; without it, none of them is there
    "connect": "grpc, pyspark.sql.connect.session",
    "dagster": "dagster, dagster_dbt, dagster_webserver, tidemark.orchestration",
    "erase": "pyarrow.parquet",
    "lineage": "openlineage.client, tidemark.engine.runs.lineage.events",
    "report": "altair, vl_convert, tidemark.operate.report.drawing",
    "thrift": "pyhive.hive, thrift_sasl",
}


class Installed:
    """An environment with the wheel, and a project in which its commands run."""

    def __init__(self, wheel: Path, folder: Path, extra: str = "") -> None:
        """Install the wheel as docs/your_project.md says for machines without access to every download."""
        page = (ROOT / "docs/your_project.md").read_text()
        (override,) = re.findall(r"^echo '(.*)' > overrides.txt$", page, re.MULTILINE)
        (folder / "overrides.txt").write_text(override)
        uv = [sys.executable, "-m", "uv", "--quiet"]
        self.bin = folder / f"environment {extra}" / "bin"
        subprocess.run([*uv, "venv", "--python", sys.executable, str(self.bin.parent)], check=True)
        wanted = f"{NAME}{f'[{extra}]' if extra else ''} @ {wheel.as_uri()}"
        options = ["--python", str(self.bin / "python"), "--override", str(folder / "overrides.txt")]
        subprocess.run([*uv, "pip", "install", *options, wanted], check=True)
        self.project = folder / "my own shop"

    def output_of(self, program: str, *arguments: str, code: int = 0, **settings: str) -> str:
        return output_of([str(self.bin / program), *arguments], self.project, settings, code=code)

    def write(self, name: str, text: str) -> None:
        (self.project / name).parent.mkdir(parents=True, exist_ok=True)
        (self.project / name).write_text(text)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module", autouse=True)
def jars(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        keep_jars(tmp_path_factory.mktemp("cache"), patch)
        yield


@pytest.fixture(scope="module")
def built(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """R1.1: a project of one's own from `init`, with a file of one's own, in a folder with spaces, built."""
    alone = Installed(wheel, tmp_path_factory.mktemp("alone"))
    alone.project.mkdir()
    assert "linked .jars" in alone.output_of("tidemark", "init", ".")
    alone.write("data/raw/bills/bills_1.csv", BILLS)
    assert "wrote models/silver/bills/bills.sql" in alone.output_of("tidemark", "add", "data/raw/bills")
    printed = alone.output_of("tidemark", "run")
    assert "silver.bills 3 inserted" in printed
    assert "tests passed" in printed
    return alone


@pytest.fixture
def installed(wheel: Path, built: Installed, extra: str, tmp_path: Path) -> Installed:
    """An environment with an extra, and a copy of the project."""
    shutil.copytree(built.project, tmp_path / "my own shop", symlinks=True)
    return Installed(wheel, tmp_path, extra)


def test_the_package_alone(built: Installed) -> None:
    """The tables are proved; `doctor` finds nothing; what needs an extra names it."""
    printed = built.output_of("tidemark", "verify")
    assert "silver.bills 3 rows, 0 rows differ" in printed
    assert "gold.daily_orders 2 rows, 0 rows differ" in printed
    assert "Nothing found." in built.output_of("tidemark", "doctor", "--skip", "support", "--skip", "limits")
    printed = built.output_of("tidemark", "report", code=1)
    assert "Install it with `pip install 'dbt-tidemark[report]'`." in printed
    assert "Registered adapter: tidemark=" in built.output_of("dbt", "parse")
    for extra in MODULES.keys() - {"erase"}:  # Tidemark always needs pyarrow
        built.output_of("python", "-c", f"import {MODULES[extra].split(',')[0]}", code=1)


@pytest.mark.parametrize("extra", sorted(MODULES))
def test_an_extra(installed: Installed, extra: str) -> None:
    """Its modules can be imported, and the command that needs it works or meets no missing package."""
    installed.output_of("python", "-c", f"import {MODULES[extra]}")
    if extra in SERVED:
        profile = f"my_own_shop: {{outputs: {{served: {SERVED[extra]}}}, target: served}}"
        installed.write("profiles.yml", profile)
        checked = installed.output_of(
            "tidemark", "--log-format", "json", "doctor", "--skip", "support", code=1
        )
        levels = dict(re.findall(r'"name": "([\w-]+)", "level": "(\w+)"', checked))
        assert (levels["packages"], levels["spark-server"]) == ("ok", "error")
    elif extra == "dagster":
        installed.output_of("dagster", "definitions", "validate", "-m", "tidemark.orchestration")
    elif extra == "erase":
        secret = {ERASURE_KEY: "a secret of this test"}
        printed = installed.output_of("tidemark", "erase", "--feed", "bills", "--key", "bill_id=2", **secret)
        assert "0 hits" in printed
    elif extra == "lineage":
        installed.write("data/raw/bills/bills_2.csv", LATE)
        assert "bronze.bills 1 file landed, 1 row" in installed.output_of(
            "tidemark", "land", "bills", **EVENTS
        )
        events = [json.loads(line) for line in (installed.project / "events.ndjson").read_text().splitlines()]
        assert {event["producer"] for event in events} == {address()}
        assert any(event["job"]["name"].endswith(".land.bills") for event in events)
    else:
        installed.output_of("tidemark", "report", "--out", "page.html")
        assert "<svg" in (installed.project / "page.html").read_text()
