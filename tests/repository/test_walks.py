"""The commands of docs/walks/ print what the pages show."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.walks import ROOT, commands, differences, run, written
from tests.night import nightly

pytestmark = pytest.mark.R4
PAGES = sorted((ROOT / "docs" / "walks").glob("*.md"))
A_PAGE = """# A page

```console
$ cat <<'END'
> a
>
> > b
> END
a

> b
$ mkdir one && cd one
```

Text.

```console
$ echo "$(basename "$PWD"), 2026-01-01 10:00:00 UTC, 1.3 s"
one, 2025-01-01 09:59:59 UTC, 12.4 s
```
"""


@nightly("walks")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_walk_prints_what_its_page_shows(page: Path, tmp_path: Path) -> None:
    """R4.4: from an empty folder, in one shell; times and ids are not compared."""
    found = commands(page.read_text(encoding="utf-8"))
    assert differences(found, run(found, tmp_path)) == []


def test_commands_and_outputs_of_a_page_are_told_apart(tmp_path: Path) -> None:
    """R4.4: further lines of a command; a shell for all blocks; the page is written as it was read."""
    found = commands(A_PAGE)
    assert found[0].text == "cat <<'END'\na\n\n> b\nEND"
    printed = run(found, tmp_path)
    assert differences(found, printed) == []
    page = written(A_PAGE, printed)
    assert page != A_PAGE
    assert written(page, printed) == page
    assert differences(commands(A_PAGE.replace("> b\n$", "> c\n$")), printed) != []


def test_a_command_that_fails_ends_a_walk(tmp_path: Path) -> None:
    """R4.4: what it printed is in the message."""
    with pytest.raises(RuntimeError, match="no such thing"):
        run(commands("```console\n$ echo no such thing; false\n```\n"), tmp_path)


def test_walks_are_there() -> None:
    """R4.4: each page of the folder has commands."""
    assert len(PAGES) == 4
    assert all(commands(page.read_text(encoding="utf-8")) for page in PAGES)
