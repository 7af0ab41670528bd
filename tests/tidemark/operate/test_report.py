"""The page of `tidemark report`, without a lake: its numbers, hostile texts, and what a browser shows."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict, replace
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.tidemark.operate.browser import WIDTHS, shown
from tests.tidemark.operate.report_sample import DAYS, FIRST, HOSTILE, NOW, SINCE, sample
from tidemark.base.errors import TidemarkError
from tidemark.engine.verify.proofs import Share
from tidemark.operate.report.attention import points_of
from tidemark.operate.report.balance import balances, total
from tidemark.operate.report.chart import Chart
from tidemark.operate.report.drawing import SVG, check_packages
from tidemark.operate.report.facts import Report, Size
from tidemark.operate.report.head import facts_of
from tidemark.operate.report.page import page_of
from tidemark.operate.report.periods import periods
from tidemark.operate.report.sections import sections_of
from tidemark.operate.report.words import plain, span

pytestmark = pytest.mark.R2


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(scope="module")
def report() -> Report:
    check_packages()
    return sample()


@pytest.fixture(scope="module")
def page(report: Report) -> str:
    return page_of(report)


def charts_of(report: Report) -> dict[str, Chart]:
    return {chart.name: chart for section in sections_of(report) for chart in section.charts}


def tooltips(chart: Chart) -> list[str]:
    drawing = ElementTree.fromstring(str(chart.wide))  # noqa: S314
    return [title.text or "" for title in drawing.iter(f"{{{SVG}}}title")]


def test_rows_add_up(report: Report) -> None:
    """Per day and in all: silver read the sum of what became of rows; `rejected_*` models count once."""
    for day, found in zip(DAYS, balances(report).values(), strict=True):
        assert (found.landed, found.read) == (100 + day, 100 + day)
        assert found.silver["inserted"] == 60 + day
        assert found.gold == {"inserted": 3, "updated": 5, "deleted": 1}
    sums = total(balances(report))
    assert sums.read == sum(sums.silver.values()) == sum(100 + day for day in DAYS)
    lost = [
        replace(one, unaccounted=2, uncompared=5) if one.model == "silver.people" else one
        for one in report.model_periods
    ]
    sums = total(balances(replace(report, model_periods=tuple(lost))))
    assert sums.silver["not accounted for"] == 2 * len(DAYS)
    assert sums.silver["not compared"] == 5 * len(DAYS)
    assert sums.read == sum(sums.silver.values())


def test_a_chart_shows_its_table(report: Report) -> None:
    """A mark for each number, with the number as its tooltip; empty periods have their place."""
    found = charts_of(report)
    silver = found["silver"]
    assert silver.table.columns == (
        *("from (UTC)", "inserted", "updated", "unchanged", "superseded", "rejected", "all"),
    )
    assert silver.table.rows[2][1:] == (62, 30, 6, 3, 1, 102)
    assert tooltips(silver)[:2] == ["02 Jan: 60 inserted", "02 Jan: 30 updated"]
    assert len(tooltips(silver)) == 5 * len(DAYS)
    assert tooltips(found["runs"])[6] == "08 Jan: 1 run failed"
    assert [row[1:3] for row in found["runs"].table.rows].count((0, 1)) == 1
    assert ">14 Jan<" in silver.wide
    assert len(tooltips(found["model-times"])) == len(report.model_periods)
    assert len(tooltips(found["lateness"])) == 3
    assert found["freshness"].table.rows[1][-3:] == ("late", "1 hour", None)
    assert set(found) == {
        *("runs", "run-times", "landed", "silver", "gold", "model-times", "sizes", "freshness"),
        *("lateness", "reasons"),
    }


def test_what_needs_attention(report: Report) -> None:
    """Errors first; a model that failed once and then succeeded is no longer one."""
    levels = [(point.level, point.what) for point in points_of(report)]
    assert levels == [
        ("warning", "The feed orders last landed 9 days ago; its limit is 1 hour."),
        ("warning", "The feed goods has never landed."),
        ("warning", "A batch of orders is planned and has not landed: a landing runs, or was interrupted."),
        ("warning", "people was missing 7 landed rows (a DELETE): landed again."),
        ("warning", "2 files did not land, of people."),
        ("warning", "10 records of people cannot be read."),
    ]
    until = report.periods.first + 6
    broken = replace(
        report,
        runs=tuple(run for run in report.runs if run.started_at < FIRST + timedelta(days=6.5)),
        model_periods=tuple(one for one in report.model_periods if one.period <= until),
        made_at=NOW + timedelta(days=5),
        sizes=(Size("gold.by_city", 1000, 1000),),
    )
    assert [(point.level, point.what[:44]) for point in points_of(broken)][:2] == [
        ("error", "gold.by_city failed in its last run: no such"),
        ("error", "The feed people last landed 6 days ago; its "),
    ]
    assert points_of(broken)[-1].what == "Many small files slow down gold.by_city."


def test_hostile_values_stay_values(report: Report, page: str) -> None:
    """Names and reasons make no element and no attribute, in HTML, SVG and JSON."""
    elements = Elements(page)
    assert elements.of("script") == [{"type": "application/json", "id": "data"}]
    assert not any(name.startswith("on") for _, attributes in elements.found for name in attributes)
    assert plain(HOSTILE) in elements.text
    assert "\x00" not in page
    assert "\u202e" not in page
    [data] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    facts = json.loads(data)
    assert facts["lake"] == report.lake
    assert facts["model_periods"] == [
        {**asdict(one), "last_at": one.last_at.isoformat()} for one in report.model_periods
    ]
    assert facts["feeds"][0]["limits"] == {"warn_after": 36 * 3600, "error_after": 72 * 3600}


def test_the_page_loads_no_external_resource(page: str) -> None:
    """No address but those of names of XML; links lead to the lineage site, whose path is encoded."""
    elements = Elements(page)
    assert set(re.findall(r"https?://[^\s\"'<]+", page)) == {SVG}
    assert "url(" not in page.partition("<style>")[2].partition("</style>")[0]
    loading = {"src", "srcset", "data", "background", "poster", "xlink:href"}
    assert not any(loading & attributes.keys() for _, attributes in elements.found)
    [policy] = [meta["content"] for meta in elements.of("meta") if meta.get("http-equiv")]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"
    links = {link["href"] for link in elements.of("a")}
    assert links == {
        "the%20site/index.html",
        "the%20site/index.html#!/model/model.shop.by_city",
        "the%20site/index.html#!/source/source.shop.bronze.people",
    }
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_an_empty_lake_is_reported(report: Report) -> None:
    """There is no chart, and the page says what fills the lake."""
    empty = Report("shop", "lake", NOW, periods(SINCE, None, NOW), feeds=report.feeds[2:])
    page = page_of(empty)
    assert "This lake is empty" in page
    assert "<svg" not in page


@pytest.mark.parametrize(
    ("ago", "words", "number", "label"),
    [
        (timedelta(0), "minute", 1, "07:30"),
        (timedelta(minutes=47), "minute", 48, "06:43"),
        (timedelta(hours=7), "10 minutes", 43, "00:30"),
        (timedelta(hours=12), "hour", 13, "14 Jan 19:00"),
        (timedelta(days=30), "day", 31, "16 Dec"),
        (timedelta(days=3650), "365 days", 11, "2014-12-21"),
    ],
)
def test_periods_are_few(ago: timedelta, words: str, number: int, label: str) -> None:
    """The shortest of which at most 48 reach back to the first event."""
    found = periods(NOW - ago, NOW - ago, NOW)
    assert (found.words, len(found.numbers), found.label(found.first)) == (words, number, label)


def test_durations_as_text() -> None:
    """The largest unit that fits."""
    assert [span(seconds) for seconds in (0.25, 1, 90, 3600, 9000, 864_000)] == [
        *("0.2 seconds", "1 second", "1.5 minutes", "1 hour", "2.5 hours", "10 days"),
    ]


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before Spark starts."""
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(TidemarkError, match=r"pip install 'dbt-tidemark\[report\]'"):
        check_packages()


@pytest.mark.parametrize(("scheme", "is_dark"), [("1", False), ("0", True)])
def test_a_browser_draws_the_page(page: str, tmp_path: Path, scheme: str, is_dark: bool) -> None:
    """In light and dark, on a phone and on a wide screen: all charts, no overflow, no request, no message."""
    found = shown(page, tmp_path, f"--blink-settings=preferredColorScheme={scheme}")
    names = re.findall(r'<figure class="card" id="([\w-]+)">', page)
    for width in map(str, WIDTHS):
        assert [name for name, marks in found[width]["charts"] if marks] == names
        assert found[width]["overflow"] == 0
        assert found[width]["requests"] == 0
        assert found[width]["text"] > 10, "readable: pixels"
        assert (max(map(int, re.findall(r"\d+", found[width]["background"]))) < 64) is is_dark
        expected = "rgb(61, 155, 220)" if is_dark else "rgb(0, 114, 178)"
        assert expected in found[width]["colours"]


def test_the_page_says_what_was_proved_and_how_to_ask_why(report: Report, page: str) -> None:
    """A table that differs needs attention; each table has the command that follows a row of it."""
    (fact,) = (fact for fact in facts_of(report, []) if fact.name == "Proved")
    assert fact.value == "98.2 %"
    assert fact.note.startswith("of the rows of 1 of 2 tables within 7 days; with 95 % probability")
    assert "tidemark why gold.by_city city=… at" in page
    differing = replace(report, proved=Share({"silver.people": 0}, differing=["silver.people"]))
    (fact,) = (fact for fact in facts_of(differing, []) if fact.name == "Proved")
    assert (fact.value, fact.level) == ("differs", "error")
    assert points_of(differing)[0].what == "Rows of silver.people differ from a rebuild."
