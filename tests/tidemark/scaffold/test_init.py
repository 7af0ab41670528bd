"""`tidemark init`: what it writes, and what it leaves alone. Spark does not start."""

from __future__ import annotations

from pathlib import Path

import pytest
from dbt.cli.main import dbtRunner
from typer.testing import CliRunner

from tidemark.base.errors import TidemarkError
from tidemark.cli.main import app
from tidemark.spark import jars

pytestmark = [pytest.mark.R1, pytest.mark.core]
PROFILES = (
    "shop: {target: dev, outputs: {dev: {type: spark, method: session, host: localhost, schema: main}}}\n"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, as the current one; the jars are in the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("DBT_PROFILES_DIR", "DBT_TARGET_PATH", "DBT_LOG_PATH", "TIDEMARK_LAKE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(jars, "fetch", lambda locked, folder: folder.mkdir(parents=True, exist_ok=True))
    (tmp_path / "my shop").mkdir()
    monkeypatch.chdir(tmp_path / "my shop")
    return tmp_path / "my shop"


def init(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["init", *arguments], catch_exceptions=False)
    return result.output


def files(folder: Path) -> dict[Path, str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder): path.read_text(encoding="utf-8") for path in found}


def test_a_new_project_parses(folder: Path) -> None:
    """R1: its feed, its models and their tests; named after its folder."""
    message = init()
    assert "wrote models/silver/orders/orders.sql" in message
    assert (folder / ".jars").readlink() == jars.cache_folder()
    parsed = dbtRunner().invoke(["--quiet", "parse"])
    assert parsed.success, parsed.exception
    manifest = parsed.result
    models = {node.name for node in manifest.nodes.values() if node.resource_type == "model"}
    assert models == {"stg_orders", "orders", "rejected_orders", "daily_orders"}
    assert manifest.metadata.project_name == "my_shop"


def test_a_second_init_changes_nothing(folder: Path) -> None:
    """R1: what is there stays as it is, edited or not."""
    init()
    (folder / "profiles.yml").write_text(f"{(folder / 'profiles.yml').read_text('utf-8')}# mine\n")
    before = files(folder)
    assert init() == "Nothing is missing.\n"
    assert files(folder) == before


def test_an_existing_project_gets_what_it_lacks(folder: Path) -> None:
    """R1: other files are not changed; the output lists what the user must change."""
    (folder / "dbt_project.yml").write_text("name: shop\nprofile: shop\n")
    (folder / "profiles.yml").write_text(PROFILES)
    (folder / ".gitignore").write_text("/target\n")
    message = init()
    there = {"dbt_project.yml", "profiles.yml", ".gitignore", ".sqlfluff"}
    assert {str(name) for name in files(folder)} == there
    assert (folder / "profiles.yml").read_text() == PROFILES
    assert "profiles.yml: write `type: tidemark` in a target of the profile 'shop'" in message
    assert ".gitignore: add the lines" in message
    assert "`+materialized: incremental`" in message


def test_an_existing_profile_is_not_overwritten(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1: a profiles.yml that dbt reads is neither rewritten nor shadowed by another one."""
    home = folder.parent / "home"
    (home / ".dbt").mkdir(parents=True)
    (home / ".dbt/profiles.yml").write_text(PROFILES)
    monkeypatch.setenv("HOME", str(home))
    (folder / "dbt_project.yml").write_text("name: shop\nprofile: store\n")
    assert f"{home}/.dbt/profiles.yml: write `type: tidemark` in a new profile 'store'" in init()
    assert not (folder / "profiles.yml").exists()


def test_jars_of_another_version_are_replaced(folder: Path) -> None:
    """R1: after an upgrade, and where the cache was deleted; a folder of one's own is left alone."""
    init()
    (folder / ".jars").unlink()
    (folder / ".jars").symlink_to(folder.parent / "deleted")
    assert f"linked .jars to {jars.cache_folder()}" in init()
    (folder / ".jars").unlink()
    (folder.parent / "other").mkdir()
    (folder / ".jars").symlink_to(folder.parent / "other")
    assert f"linked .jars to {jars.cache_folder()}" in init()
    (folder / ".jars").unlink()
    (folder / ".jars").mkdir()
    assert "Nothing is missing." in init()


def test_what_cannot_be_a_project(folder: Path) -> None:
    """R1: an error message, and no file is written."""
    with pytest.raises(TidemarkError, match=r"(?s)'2x' is not a valid name.*--name"):
        init("--name", "2x")
    assert not list(folder.iterdir())
    with pytest.raises(TidemarkError, match="'2x' is not a valid name"):
        init("2x")
    assert not (folder / "2x").exists()
    (folder / "profiles.yml").write_text(PROFILES)
    with pytest.raises(TidemarkError, match=r"profiles\.yml exists, but dbt_project\.yml does not"):
        init()
    (folder / "dbt_project.yml").write_text("name: [")
    with pytest.raises(TidemarkError, match=r"dbt_project\.yml is not YAML"):
        init()
    assert set(files(folder)) == {Path("dbt_project.yml"), Path("profiles.yml")}
