"""`tidemark simulate`: files are what the simulation says, and bad input gets a sentence."""

from __future__ import annotations

import csv
import json
from datetime import date
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from dev.simulators.change_records import envelope, flat
from dev.simulators.commands import simulate
from dev.simulators.files import FilesTarget
from dev.simulators.messages import Message, paced
from dev.simulators.shop import shop_days
from tests.conftest import ROOT
from tidemark.base.errors import TidemarkError


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(simulate, [str(argument) for argument in arguments])


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.R3
def test_a_shop_in_files(tmp_path: Path) -> None:
    """R3.6: one folder a table, one file a day, a change record a line; one line of text a day."""
    done = run("shop", "--into", "files", "--folder", tmp_path, "--days", 2, "--rows", 50, "--seed", 3)
    assert done.exit_code == 0, done.output
    days = list(shop_days(date(2025, 1, 1), 2, 50, 3))
    assert len(files_in(tmp_path)) == 6
    for day in days:
        path = tmp_path / "orders" / f"orders_{day.date}.json"
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert records == [flat(one) for one in day.operations if one.table == "orders"]


def test_the_same_command_gives_the_same_bytes(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        run("shop", "--into", "files", "--folder", tmp_path / folder, "--days", 3, "--format", "envelope")
        run("devices", "--into", "files", "--folder", tmp_path / folder, "--days", 3, "--rows", 300)
    first = files_in(tmp_path / "one")
    assert first == files_in(tmp_path / "two")
    assert len(first) == 3 * 4
    line = first["customers/customers_2025-01-01.json"].decode().splitlines()[0]
    stock = next(shop_days(date(2025, 1, 1), 3, 400, 20250101)).operations[0]
    assert json.loads(line) == envelope(stock, None)


@pytest.mark.R3
def test_the_week_of_movements_in_the_repository_is_the_simulators(tmp_path: Path) -> None:
    """R3.6: the command in its README writes the same bytes again."""
    run("shop", "--into", "files", "--folder", tmp_path, "--rows", 600)
    written = files_in(tmp_path / "inventory_movements")
    kept = files_in(ROOT / "data" / "raw" / "inventory_movements")
    assert written == {name: content for name, content in kept.items() if name != "README.md"}


def test_csv_has_a_header_and_the_days_columns(tmp_path: Path) -> None:
    run("shop", "--into", "files", "--folder", tmp_path, "--csv", "--days", 2)
    headers = []
    for path in sorted((tmp_path / "orders").iterdir()):
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        assert all(len(row) == len(header) for row in rows)
        headers.append(header)
    assert headers[1] == [*headers[0], "channel"]


def test_each_file_appears_whole(tmp_path: Path) -> None:
    """Nothing stays of the hidden file that it was before."""
    messages = [Message("readings", "1", {"a": None}), Message("readings", "2", {"b": "ü"})]
    assert FilesTarget(tmp_path).write(date(2025, 1, 1), messages) == [
        tmp_path / "readings" / "readings_2025-01-01.json"
    ]
    assert files_in(tmp_path) == {"readings/readings_2025-01-01.json": '{"a": null}\n{"b": "ü"}\n'.encode()}
    FilesTarget(tmp_path, as_csv=True).write(date(2025, 1, 1), messages)
    assert files_in(tmp_path)["readings/readings_2025-01-01.csv"] == "a,b\n,\n,ü\n".encode()


def test_an_unwritable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "readings").write_text("a file")
    with pytest.raises(TidemarkError, match="cannot be written"):
        FilesTarget(tmp_path).write(date(2025, 1, 1), [Message("readings", "1", {})])


def test_a_rate_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("time.sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    assert [item for batch in paced(range(95), 10) for item in batch] == list(range(95))
    assert now[0] == pytest.approx(9.5)
    assert [len(batch) for batch in paced(range(1100), None)] == [500, 500, 100]
    assert now[0] == pytest.approx(9.5)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["shop", "--into", "postgresql"], "The connection 'shop' is not in the environment."),
        (["shop", "--into", "kafka"], "The connection 'stream' is not in the environment."),
        (["devices", "--into", "kafka", "--connection", "mine"], "Set TIDEMARK_CONNECTION_MINE to a URL"),
        (["shop", "--into", "files"], "--folder is required with --into files"),
        (["shop", "--into", "kafka", "--folder", "x"], "required with --into files, and allowed only there"),
        (["devices", "--into", "kafka", "--csv"], "--csv works only with --into files"),
        (
            ["shop", "--into", "files", "--folder", "x", "--csv", "--format", "envelope"],
            "cannot be a row of a CSV file",
        ),
        (["shop", "--into", "files", "--folder", "x", "--start", "1.2.2025"], "'1.2.2025' is not a date"),
    ],
)
def test_invalid_arguments_are_refused(
    arguments: list[str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SHOP", "STREAM", "MINE"):
        monkeypatch.delenv(f"TIDEMARK_CONNECTION_{name}", raising=False)
    done = run(*arguments)
    assert isinstance(done.exception, TidemarkError)
    assert says in str(done.exception)


@pytest.mark.parametrize(
    "arguments",
    [
        ["shop", "--into", "ftp"],
        ["devices", "--into", "postgresql"],
        ["shop", "--into", "files", "--folder", "x", "--days", "0"],
        ["shop", "--into", "files", "--folder", "x", "--rows", "19"],
        ["shop", "--into", "kafka", "--rate", "0"],
        ["shop", "--into", "kafka", "--format", "xml"],
    ],
)
def test_an_option_out_of_its_range_is_named(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert f"Invalid value for '{arguments[-2]}'" in done.output
