"""What counts as a change of a model's code, and what a test's outcome depends on besides tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.cli.main import dbtRunner
from jinja2 import Template

from tests.conftest import ROOT
from tidemark.engine.project.model_code import EARLIER_TEXTS, code_of, code_texts, normalized

pytestmark = [pytest.mark.R1, pytest.mark.R2]
DAY, SEEN, TESTED = "models/day.sql", "models/seen.sql", "models/day.yml"
ROUNDED, DIGITS = "macros/mine/rounded.sql", "macros/mine/digits.sql"
RECENT, SINGLE = "tests/generic/recent.sql", "tests/single.sql"
FILES = {
    "dbt_project.yml": "name: shop\nprofile: tidemark\nmodels: {+materialized: table}\n",
    DAY: "select 1 as id, {{ rounded('1.5') }}, 'a  b' as b, {{ quoted('c') }}, {{ landing_order() }} as d "
    "from {{ ref('seen') }}",
    SEEN: "{{ config(materialized='view') }} select 1 as id",
    TESTED: "models: [{name: day, columns: [{name: id, data_tests: [recent]}]}]",
    ROUNDED: "{% macro rounded(x) %}round({{ x }}, {{ digits() }}){% endmacro %}",
    DIGITS: "{% macro digits() %}{{ var('digits', 2) }}{% endmacro %}",
    RECENT: "{% test recent(model, column_name, since='2025') %}"
    "select * from {{ model }} where {{ column_name }} < {{ since }}{% endtest %}",
    SINGLE: "select * from {{ ref('day') }} where id > 1",
}
Changes = Mapping[str, tuple[str, str]]


def parsed(folder: Path, changes: Changes) -> Any:
    """Write the small project, with a text put in the place of another in some files; return its manifest."""
    for name, text in FILES.items():
        old, new = changes.get(name, ("", ""))
        assert old in text
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace(old, new) if old else text, encoding="utf-8")
    options = ["--project-dir", str(folder), "--profiles-dir", str(ROOT), "--target-path", str(folder / "t")]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)  # dbt changes into the project's folder
        outcome = dbtRunner().invoke(["--quiet", "--no-partial-parse", "parse", *options])
    assert outcome.success, outcome.exception
    return outcome.result


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return code_of(parsed(tmp_path_factory.mktemp("before"), {}), "model.shop.day")


@pytest.mark.parametrize(
    ("changes", "differ"),
    [
        ({DAY: (" from", "\n-- why\nfrom /* so */"), DIGITS: ("{{", "{# none #}\n{{")}, set()),
        ({DAY: ("select", "{{ config(tags=['a']) }}\nselect")}, set()),
        ({DAY: ("'a  b'", "'a b'")}, {"sql"}),
        ({DAY: ("1 as id", "2 as id")}, {"sql"}),
        ({SEEN: ("1 as id", "2 as id")}, {"sql"}),
        ({ROUNDED: ("round(", "floor(")}, {"macros"}),
        ({DIGITS: ("2", "3")}, {"macros"}),
        ({DIGITS: ("'digits'", "'places'")}, {"macros", "variables"}),
        ({DAY: ("'a  b'", "'{{ var('seen', 1) }}'")}, {"sql", "variables"}),
        ({DAY: ("'a  b'", "'{{ var(\"seen\") }}'")}, {"sql", "variables"}),
        ({DIGITS: ("var('digits', 2)", "env_var('D', '2')")}, {"macros", "variables", "environment"}),
        ({RECENT: ("<", ">")}, set()),
    ],
)
def test_only_code_counts(before: dict[str, Any], tmp_path: Path, changes: Changes, differ: set[str]) -> None:
    """R1.5, R2.1: SQL, views that are read, macros with those that they use; not comments, blanks, config."""
    assert before["variables"] == ["digits"]
    now = code_of(parsed(tmp_path, changes), "model.shop.day")
    assert {part for part in before if before[part] != now[part]} == differ


@pytest.mark.parametrize(
    ("changes", "unsettled"),
    [
        ({SINGLE: ("id > 1", "id > 1 -- current_timestamp()")}, None),
        ({SINGLE: ("id > 1", "t > CURRENT_TIMESTAMP()")}, "CURRENT_TIMESTAMP"),
        ({SINGLE: ("id > 1", "t > '{{ run_started_at }}'")}, "run_started_at"),
        ({SINGLE: ("id > 1", "id > {{ digits() }}"), DIGITS: ("{{ var('digits', 2) }}", "rand()")}, "rand"),
        ({RECENT: ("'2025'", "'current_date'")}, "current_date"),
        ({TESTED: ("[recent]", "[{recent: {arguments: {since: now()}}}]")}, "now"),
        ({TESTED: ("[recent]", "[{recent: {config: {where: id < uuid()}}}]")}, "uuid"),
        ({TESTED: ("[recent]", "[{recent: {config: {fail_calc: 'datediff(now(), max(d))'}}}]")}, "now"),
        ({TESTED: ("[recent]", "[{recent: {config: {error_if: '> hour(curdate())'}}}]")}, "curdate"),
        ({SINGLE: ("id > 1", "d > DATE 'yesterday' and e <> 'today'")}, "DATE 'yesterday'"),
        ({SINGLE: ("id > 1", "t > {{ current_timestamp_backcompat() }}")}, "current_timestamp_backcompat"),
        ({SINGLE: ("id > 1", "user = 'a' and t < '{{ py_current_timestring() }}'")}, "py_current_timestring"),
        ({SINGLE: ("id > 1", "by = user ()")}, "user ("),
    ],
)
def test_what_changes_an_outcome_by_itself(tmp_path: Path, changes: Changes, unsettled: str | None) -> None:
    """R1.4: the clock, chance and the session: in a test, its arguments, or a macro that it uses."""
    manifest = parsed(tmp_path, changes)
    tests = [name for name in manifest.nodes if name.startswith("test.shop.")]
    assert len(tests) == 2
    assert {code_of(manifest, name)["unsettled"] for name in tests} == {None, unsettled}


def test_the_engine_is_no_code_of_a_model(tmp_path: Path) -> None:
    """R2.1: of its macros only those count that put row logic into a query."""
    texts = " ".join(code_texts(parsed(tmp_path, {}), "model.shop.day"))
    assert "macro landing_order" in texts
    assert "macro quoted" not in texts


def test_quotes_are_left_alone() -> None:
    """Blanks and dashes inside of a literal are values."""
    assert normalized("select  '--  a'  ,  `b  c`, \"d /* e */\"\n from t -- f") == (
        "select '--  a' , `b  c` , \"d /* e */\" from t"
    )


def test_a_macro_with_an_earlier_text_gives_the_same_rows_as_before() -> None:
    """Rules without a value render as before, so no table is built again; a value ends the reason."""
    text, earlier = texts_of("rejection_reason")
    rules = [("a is null", "a is 'missing'"), ("b > 1", "b is large")]

    def rendered(macro: str, *rules: tuple[str, ...]) -> str:
        template = Template(macro)
        shown = {"escaped": lambda words: words.replace("'", "\\'"), "shown_value": "shown({})".format}
        shown |= {f"tidemark__{name}": value for name, value in shown.items()}
        template.globals["dbt"] = SimpleNamespace(**shown)
        return " ".join(str(template.module.rejection_reason(rules)).split())  # type: ignore[attr-defined]

    assert rendered(text, *rules) == rendered(earlier, *rules)
    assert (
        rendered(text, ("c", "c is odd", "value")) == "case when c then concat('c is odd', shown(value)) end"
    )


def test_rejections_of_a_query_are_as_before() -> None:
    """A query renders as before; a CTE is read by its name."""
    text, earlier = texts_of("rejections")

    def rendered(macro: str, staged: str) -> str:
        return " ".join(str(Template(macro).module.rejections(staged)).split())  # type: ignore[attr-defined]

    assert rendered(text, "select 1 as one") == rendered(earlier, "select 1 as one")
    assert rendered(text, "landed").endswith("from landed where rejection_reason is not null")
    assert "with" not in rendered(text, "landed")


def texts_of(macro: str) -> tuple[str, str]:
    """The text of a macro of the engine, and its earlier one."""
    path = ROOT / f"dbt/include/tidemark/macros/staging/{macro}.sql"
    return path.read_text(encoding="utf-8"), EARLIER_TEXTS[f"macro.dbt_tidemark.{macro}"]
