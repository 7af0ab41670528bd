"""The options of `tidemark prove --manifest`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.base.errors import TidemarkError
from tidemark.cli.prove import prove
from tidemark.cli.prove_manifest import asked_for, prove_manifest
from tidemark.engine.prove.stock.changes import KINDS

pytestmark = pytest.mark.R2


def test_all_kinds_of_changes_are_tried_unless_some_are_named() -> None:
    """R2.5: with commas, and spaces around them."""
    assert asked_for(None, 1, "").kinds == KINDS.keys()
    assert asked_for(None, 1, "").histories == 20
    assert asked_for(5, 1, "new, late").kinds == {"new", "late"}


def test_a_kind_that_does_not_exist_is_refused() -> None:
    """R2.5: the fix lists those that do."""
    with pytest.raises(TidemarkError) as error:
        asked_for(None, 1, "new,later")
    assert error.value.what == "--changes later: there is no such kind."
    assert "late" in error.value.fix


def test_options_without_a_manifest_are_refused() -> None:
    """R2.5: rather than ignored."""
    for given in ({"changes": "new"}, {"unit_tests": Path("tests.yml")}):
        with pytest.raises(TidemarkError, match="go with --manifest"):
            prove(**given)  # type: ignore[arg-type]


def test_a_file_that_somebody_else_wrote_is_kept(tmp_path: Path) -> None:
    """R2.5: before a run that takes minutes, and so is a folder that is not there."""
    other = tmp_path / "schema.yml"
    other.write_text("version: 2\n")
    for file, what in (
        (other, "written by something else"),
        (tmp_path / "no" / "tests.yml", "There is no folder"),
    ):
        with pytest.raises(TidemarkError, match=what):
            prove_manifest(tmp_path / "manifest.json", [], asked_for(None, 1, ""), file)
    assert other.read_text() == "version: 2\n"
