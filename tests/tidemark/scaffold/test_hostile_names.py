"""Names of folders, files and sheets are data: neither YAML nor Jinja nor a glob, whatever they contain."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.clients.jinja import get_rendered
from hypothesis import given, settings
from hypothesis import strategies as st

from python_ingest.feeds.paths import as_pattern, matcher
from tidemark.scaffold.column import in_jinja, plain_for_dbt
from tidemark.scaffold.declaring import sources_yml
from tidemark.scaffold.feed import proposed
from tidemark.scaffold.reading.choices import Choices
from tidemark.scaffold.reading.folder import folder_of
from tidemark.scaffold.sampling import sample_of

pytestmark = pytest.mark.R1
NAMES = [
    "y {{ env_var('SECRET') }}", "{% raw %}", "{# a comment #}", "{{{", "x {", "}} %}", "it's \"big\"",
    "key: value", "a # b", "two\nlines", "ends\n", "back\\slash", "$HOME", "[x]*?", "{a,b}", "[!a]", "-rf",
    " spaces ", "%20", "ünï 🎉 {{", "\u2028{%", "1", "true", "[1, 2]", "a:b", "~", "..x", "&anchor", "*alias",
    "!tag",
]  # fmt: skip
SIGNS = st.text(st.sampled_from("{}%#'\"\\\n\t []()*?!,$:|>&~ aé🎉\u2028\x7f"), min_size=1, max_size=12)


def _as_dbt_reads(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_dbt_reads(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_as_dbt_reads(inner) for inner in value]
    context = {"env_var": lambda name, default=None: os.environ.get(name, default)}
    return get_rendered(value, context, native=True) if isinstance(value, str) else value


def _no_session() -> Any:
    raise AssertionError("a CSV file is read without Spark")


def _external(path: Path) -> dict[str, Any]:
    """The block that `tidemark add` writes for a folder or a file, as dbt reads it."""
    files = folder_of(path).files
    sample = sample_of(_no_session, files, choices=Choices())
    written = yaml.safe_load(sources_yml(proposed(sample, files, path, "visits", ["id"])))
    external = written["sources"][0]["tables"][0]["external"]
    found: dict[str, Any] = _as_dbt_reads(external)
    return found


@pytest.mark.parametrize("place", ["data/raw/{}", "{}", "data/raw/2025/{}/in"])
@pytest.mark.parametrize("name", NAMES)
def test_a_folder_is_where_its_files_are(
    name: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.1: dbt reads the location that was given, and the pattern matches the files there."""
    monkeypatch.setenv("SECRET", "s3cr3t")
    monkeypatch.delenv("TIDEMARK_RAW", raising=False)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / place.format(name)
    folder.mkdir(parents=True)
    for number in (1, 2):
        file = folder / f"f{name}_{number}.csv"
        file.write_text(f"id,n\n{number},5\n", encoding="utf-8")
    for path in (folder, file):
        external = _external(path)
        location = external["location"]
        assert Path(location).resolve() == folder
        assert ":" not in location.partition("/")[0], "Hadoop would take it for the scheme of a URL"
        assert matcher([external["pattern"]]).fullmatch(file.name)


@settings(deadline=None)
@given(SIGNS)
def test_values_are_not_read_as_jinja_or_globs(text: str) -> None:
    """R1.1: also in a list of options, such as the words for NULL, and the sheet of a workbook."""
    options = {"sheet": text, "null_value": [text, "NA"], "skip_lines": 2}
    written = yaml.safe_load(yaml.safe_dump(plain_for_dbt(options), allow_unicode=True))
    assert _as_dbt_reads(written) == options
    assert get_rendered(f"{{{{ {in_jinja(text)} }}}}", {}, native=True) == text
    assert matcher([as_pattern(text)]).fullmatch(text)
    assert not matcher([as_pattern(text)]).fullmatch(f"{text}x")
