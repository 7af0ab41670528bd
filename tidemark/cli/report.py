"""`tidemark report`: a page about the operation of the lake."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Optional

import typer

from tidemark.base.errors import TidemarkError
from tidemark.base.output import count_of, output
from tidemark.cli.opening import opened_to_read
from tidemark.engine.project.session import warm_session
from tidemark.operate.report.attention import points_of
from tidemark.operate.report.drawing import check_packages
from tidemark.operate.report.page import page_of
from tidemark.operate.report.reading import read_report

DEFAULT = Path("site/report.html")


def report(
    out: Annotated[
        Optional[Path],
        typer.Option(
            help="The HTML file to write (default: site/report.html in the project).", resolve_path=True
        ),
    ] = None,
    days: Annotated[int, typer.Option(min=1, max=36_500, help="Number of days to show.")] = 30,
) -> None:
    """Write an HTML report about the lake: runs, rows per layer, freshness, problems."""
    check_packages()
    project = opened_to_read()
    page = out or project.root / DEFAULT
    facts = read_report(warm_session(project.root, may_be_remote=True), project, page, days)
    text = page_of(facts)
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TidemarkError(
            f"The report cannot be written to {page}: {error.strerror}.", "Give another file with --out."
        ) from None
    points = points_of(facts)
    for point in points:
        style = "red" if point.level == "error" else "yellow"
        output.note(point.level, point.what, style=style, fix=point.fix)
    shown = os.path.relpath(page)
    message = f"{shown}: {count_of(facts.run_count, 'run')}, {count_of(len(points), 'point')} to look at"
    output.text(message, "report", path=page, runs=facts.run_count, points=len(points))
