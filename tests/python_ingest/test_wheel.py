"""The wheel in an environment without this repository, and a dbt project that is not ours."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path
from zipfile import ZipFile

import pytest

from python_ingest.ops.erasures import ERASURE_KEY
from tests.conftest import NIGHTLY, ROOT, content_of
from tests.python_ingest.wheels import PIP, build_wheel, keep_jars, output_of

pytestmark = [pytest.mark.R1, pytest.mark.R2]
EMAIL = "wilhelmina.quandary@example.org"
FILES = {
    "dbt_project.yml": "name: jaffle\nprofile: jaffle\nmodels: {jaffle: {staging: {+materialized: view}}}\n",
    "profiles.yml": "jaffle: {target: dev, outputs: {dev: "
    "{type: tidemark, method: session, schema: main}}}\n",
    "seeds/raw_orders.csv": "id,customer,amount\n1,Ada,10\n2,Grace,20\n3,Ada,30\n",
    "models/staging/stg_orders.sql": "select id as order_id, customer, cast(amount as int) as amount "
    "from {{ ref('raw_orders') }}",
    "models/customers.sql": "{{ config(materialized='incremental', unique_key='customer') }}\n"
    "select customer, count(*) as orders, sum(amount) as amount from {{ ref('stg_orders') }} "
    "group by customer",
    "data/people/1.csv": f"person_id,email\n42,{EMAIL}\n7,ann@example.org\n",
    "models/people.yml": "sources: [{name: bronze, tables: [{name: people, external: "
    "{location: data/people, file_format: csv, pii: [email]}, columns: "
    "[{name: person_id, data_type: string}, {name: email, data_type: string}]}]}]",
    "models/people.sql": "{{ config(materialized='incremental', unique_key='person_id') }}\n"
    "select person_id, email from {{ source('bronze', 'people') }} where _corrupt_record is null",
    "models/schema.yml": "models: [{name: customers, columns: "
    "[{name: customer, data_tests: [unique, not_null]}]}]",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def python(wheel: Path) -> Path:
    """The Python of an environment that has the wheel and the locked packages, but not this folder."""
    environment = wheel.with_name("an environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    there = str(environment / "bin" / "python")
    subprocess.run(
        [*PIP, "--python", there, "install", "--no-deps", "--ignore-installed", str(wheel)], check=True
    )
    # a path in a .pth file gives packages, and not the folders that .pth files there name: not this one
    (site,) = environment.glob("lib/python3*/site-packages")
    (site / "locked.pth").write_text(sysconfig.get_path("purelib"))
    return Path(there)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dbt project of seeds, a view and an incremental model, in plain SQL."""
    for name, text in FILES.items():
        (tmp_path / "jaffle shop" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "jaffle shop" / name).write_text(text)
    keep_jars(tmp_path / "cache", monkeypatch)
    return tmp_path / "jaffle shop"


def test_the_wheel_holds_the_packages_alone(wheel: Path) -> None:
    """Each file of the three packages, py.typed, licence and notices; no tests, data or caches."""
    packages = ("python_ingest", "dbt/adapters/tidemark", "dbt/include/tidemark")
    there = [path for name in packages for path in (ROOT / name).rglob("*") if path.is_file()]
    wanted = {str(path.relative_to(ROOT)) for path in there if "__pycache__" not in path.parts}
    with ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
        described = {name.partition(".dist-info/")[2] for name in archive.namelist()} - {""}
    assert sorted(held ^ wanted) == []
    assert {f"{name}/py.typed" for name in packages} <= held
    licences = {"licenses/LICENSE", "licenses/THIRD_PARTY_NOTICES.md"}
    assert described == licences | {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "top_level.txt"}


def test_a_foreign_project_is_proved(python: Path, project: Path) -> None:
    """R1, R2: `init`, two runs, each table is what a rebuild gives; at night, a person is erased."""
    settings: dict[str, str] = {}

    def tidemark(*arguments: str) -> str:
        return output_of([str(python.with_name("tidemark")), *arguments], project, settings)

    where = [str(python), "-c", "import python_ingest; print(python_ingest.__file__)"]
    assert output_of(where, project).startswith(str(python.parents[1]))

    assert "linked .jars" in tidemark("init")
    said = tidemark("run")
    assert "main.customers 2 inserted" in said
    assert "dbt build 2 tests passed" in said
    with (project / "seeds/raw_orders.csv").open("a") as orders:
        orders.write("4,Ada,5\n5,Edsger,1\n")
    assert "main.customers 1 inserted, 1 updated" in tidemark("run")
    assert "main.customers 3 rows, 0 rows differ" in tidemark("verify")

    if not NIGHTLY:
        return
    settings[ERASURE_KEY] = "a secret of these tests"
    (project / "logs/dbt.log.1").write_text(f"Command: dbt run --vars '{{who: {EMAIL}}}'\n")
    (project / "target/run_results.json").write_text(f'{{"args": {{"vars": "{EMAIL}"}}}}')
    said = tidemark("erase", "--feed", "people", "--key", f"email={EMAIL}")
    assert "0 hits" in said
    assert "folder logs 1 file with values of the person" in said
    lock = project / "lake/.lock"
    assert (lock.stat().st_mode & 0o777, lock.read_text().partition("(")[2]) == (0o600, "tidemark erase)")
    written = [project / name for name in ("lake", "target", "logs")]
    files = [path for folder in written for path in folder.rglob("*") if path.is_file()]
    assert [path for path in files if EMAIL in content_of(path)] == []
    assert (
        project / "logs/dbt.log.1"
    ).read_text() == f"Command: dbt run --vars '{{who: {'*' * len(EMAIL)}}}'\n"
