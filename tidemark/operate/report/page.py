"""The page: one HTML file without scripts and without anything from a network."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from tidemark.operate.report.attention import points_of
from tidemark.operate.report.facts import Report
from tidemark.operate.report.head import facts_of
from tidemark.operate.report.sections import sections_of
from tidemark.operate.report.words import plain

CODE = re.compile("`([^`]+)`")


def page_of(report: Report) -> str:
    """Return the page of a report as HTML.

    Args:
        report: what it tells; its texts may be hostile.
    """
    points = points_of(report)
    return (
        _environment()
        .get_template("page.html")
        .render(
            report=report,
            facts=facts_of(report, points),
            points=points,
            sections=[] if report.is_empty else sections_of(report),
            data=asdict(report),
        )
    )


@lru_cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("tidemark.operate.report"),
        autoescape=True,  # names and reasons come from files
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.policies["json.dumps_kwargs"] = {"default": _as_json}
    environment.filters.update(plain=plain, code=_with_code, time=lambda time: f"{time:%Y-%m-%d %H:%M:%S}")
    environment.tests["time"] = lambda value: isinstance(value, datetime)
    return environment


def _as_json(value: datetime | timedelta) -> str | float:
    """Return a time as text in ISO 8601, a span in seconds."""
    return value.isoformat() if isinstance(value, datetime) else value.total_seconds()


def _with_code(text: str) -> Markup:
    """Return a text as HTML, with what stands between backticks as code."""
    return Markup(CODE.sub(r"<code>\1</code>", str(escape(plain(text)))))  # noqa: S704  # it is escaped
