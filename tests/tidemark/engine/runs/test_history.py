"""Which runs an undo takes back, and what is recorded of a run, without Spark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tidemark.base.errors import TidemarkError
from tidemark.engine.checkpoints.rows import Checkpoint, Contract, Run, Written
from tidemark.engine.runs.choosing import choose_run
from tidemark.engine.runs.plan import Plan, planned
from tidemark.engine.runs.provenance import git_state, without_secrets
from tidemark.engine.runs.restored import Restored, checkpoints_after, refuse_other_contracts

pytestmark = [pytest.mark.R1, pytest.mark.R4]


def _run(name: str, ended: int, command: str = "run", **more: object) -> Run:
    return Run(name, command, ended - 1, ended, **more)  # type: ignore[arg-type]


def _checkpoint(
    model: str, source: str, version: int, sequence: int, *, at: int = 0, table_version: int = 0
) -> Checkpoint:
    own = {"table_version": table_version, "table_id": "id", "contract": Contract("columns")}
    return Checkpoint(model, source, sequence, "changes", "id", version, recorded_at=at, **own)  # type: ignore[arg-type]


def _wrote(table: str, before: int | None, after: int) -> tuple[Written, ...]:
    return (Written(table, "id", before, after),)


def _precedes(table: str, version: int, other: int) -> bool:
    return version <= other


RUNS = [
    _run("aaa1", 1, written=_wrote("s.orders", 3, 4), checkpoints=(_checkpoint("s.orders", "b.raw", 9, 2),)),
    _run("aab2", 2, written=_wrote("g.days", 6, 7), checkpoints=(_checkpoint("g.days", "s.orders", 4, 2),)),
    _run("bbb3", 3, written=_wrote("s.other", 1, 2), checkpoints=(_checkpoint("s.other", "b.raw", 9, 1),)),
    _run("ccc4", 4, "test", checkpoints=(_checkpoint("test.x", "s.orders", 4, 2),)),
]


def test_a_run_is_chosen_by_the_beginning_of_its_id() -> None:
    """R4.4: or the last that wrote a table; a beginning that two runs have is refused."""
    assert choose_run(RUNS, "aab").id == "aab2"
    assert choose_run(RUNS, "last").id == "bbb3"
    assert choose_run([*RUNS, _run("ddd5", 5, "undo", undone=("bbb3",))], "last").id == "aab2"
    with pytest.raises(TidemarkError, match=r"2 runs begin with aa: aaa1, aab2"):
        choose_run(RUNS, "aa")
    with pytest.raises(TidemarkError, match=r"No recorded run begins with zzz"):
        choose_run(RUNS, "zzz")
    with pytest.raises(TidemarkError, match=r"No recorded run has written a table"):
        choose_run(RUNS[3:], "last")


def test_runs_that_depend_on_it_are_taken_back_too() -> None:
    """R4.4: they wrote the same tables or read what it wrote; a test that passed since is no reason."""
    with pytest.raises(TidemarkError, match=r"(?s)aab2 .*→ Add --with-later"):
        planned(_run("aaa1", 1), RUNS, _precedes, with_later=False)
    plan = planned(RUNS[0], RUNS, _precedes, with_later=True)
    assert [run.id for run in plan.runs] == ["aaa1", "aab2"]
    assert plan.before == {"s.orders": 3, "g.days": 6}
    assert planned(RUNS[1], RUNS[1:], _precedes, with_later=False).before == {"g.days": 6}
    idle = _run("ddd5", 5, checkpoints=(_checkpoint("g.days", "b.raw", 8, 1),))
    plan = planned(RUNS[1], [*RUNS[1:], idle], _precedes, with_later=False)
    assert [run.id for run in plan.runs] == ["aab2", "ddd5"], "it wrote nothing, so it may be taken back"


def test_a_run_without_tables_is_not_undone() -> None:
    """R4.4: nor one that was undone, nor an undo."""
    undo = _run("ddd5", 5, "undo", undone=("aab2",))
    for run, why in ((RUNS[3], "wrote no table"), (RUNS[1], "undone already"), (undo, "undo itself")):
        with pytest.raises(TidemarkError, match=why):
            planned(run, [*RUNS, undo], _precedes, with_later=True)


def test_checkpoints_name_the_versions_that_were_restored() -> None:
    """R1.5: the first of a reader is taken back without values; a test that passed since keeps its own."""
    plan = Plan((RUNS[0],))
    before = {
        ("s.orders", "b.raw"): _checkpoint("s.orders", "b.raw", 8, 1, at=5, table_version=3),
        ("g.days", "s.orders"): _checkpoint("g.days", "s.orders", 3, 1, at=4, table_version=6),
        ("test.x", "s.orders"): _checkpoint("test.x", "s.orders", 2, 1, at=3),
    }
    restored = {"s.orders": Restored(3, "id", 4, 5, "id", lambda version, other: version == other)}
    found = {each.pair: each for each in checkpoints_after(plan, RUNS, before, restored)}
    assert set(found) == {("s.orders", "b.raw"), ("g.days", "s.orders")}, "version 2 has other rows"
    own, reader = found["s.orders", "b.raw"], found["g.days", "s.orders"]
    assert (own.version, own.table_version, own.sequence) == (8, 5, 3)
    assert (reader.version, reader.table_version, reader.sequence) == (5, 6, 3)
    (first,) = checkpoints_after(plan, RUNS[:1], {}, restored)
    assert first == Checkpoint("s.orders", "b.raw", 3)


def test_another_contract_is_not_brought_back() -> None:
    """R4.4: only Iceberg asks, whose rollback keeps the table's properties; other code is no reason."""
    moved = RUNS[0].checkpoints[0]
    plan = Plan((RUNS[0],))
    refuse_other_contracts(plan, {moved.pair: replace(moved, contract=Contract("columns", code="other"))})
    with pytest.raises(TidemarkError, match=r"s\.orders had another contract"):
        refuse_other_contracts(plan, {moved.pair: replace(moved, contract=Contract("others"))})


def test_secrets_are_not_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R4.4: values whose names look like secrets, on any level; outside git there is no commit."""
    given = {
        "from": "2025-01-01",
        "db": {"user": "me", "Password": "x"},
        "API_TOKEN": ["y"],
        "all": [{"key": 1}],
    }
    assert without_secrets(given) == {
        "from": "2025-01-01",
        "db": {"user": "me", "Password": "***"},
        "API_TOKEN": "***",
        "all": [{"key": "***"}],
    }
    assert git_state(tmp_path) == (None, None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_state(Path.cwd()) == (None, None)
