"""A chart of the page: the drawing at two widths, what it shows in words, and its numbers as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from tidemark.operate.report.drawing import NARROW, WIDE, drawn

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True)
class Table:
    """A table of the page; texts are not yet escaped.

    Attributes:
        columns: the headings.
        rows: texts, numbers, times and None.
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[object]]


@dataclass(frozen=True)
class Chart:
    """A chart.

    Attributes:
        name: unique in the page.
        title: what is seen.
        alt: what it shows, for those who do not see it.
        wide, narrow: the drawing for a wide page and for a phone.
        table: the same numbers.
        note: how to read it; one sentence.
    """

    name: str
    title: str
    alt: str
    wide: Markup
    narrow: Markup
    table: Table
    note: str = ""


def chart_of(  # noqa: PLR0913  # the attributes of a chart
    name: str,
    title: str,
    alt: str,
    *,
    drawing: altair.Chart | altair.LayerChart,
    table: Table,
    note: str = "",
) -> Chart:
    """Draw a chart at both widths."""
    wide, narrow = (drawn(drawing, name, width) for width in (WIDE, NARROW))
    return Chart(name, title, alt, wide, narrow, table, note)
