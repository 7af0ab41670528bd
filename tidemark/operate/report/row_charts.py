"""Charts with a row for each thing, its label above it: bars, times on a logarithmic axis, periods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tidemark.operate.report.drawing import FAINT, TEXT
from tidemark.operate.report.encodings import Datum, colour_scale, number_axis, period_axis, shaped
from tidemark.operate.report.periods import Periods

if TYPE_CHECKING:
    import altair

TICKS = {
    1: "1 s",
    60: "1 min",
    3600: "1 h",
    86_400: "1 day",
    604_800: "1 week",
    2_592_000: "30 days",
    31_536_000: "1 year",
    315_360_000: "10 years",
    3_153_600_000: "100 years",
}
ROW = 34  # pixels: a label, and a bar below it
BAR, LABEL = 12, 11


def map_of_periods(
    periods: Periods, cells: Sequence[Datum], labels: Mapping[str, str], unit: str
) -> altair.LayerChart:
    """Return a row of cells for each label, darker where the value is higher.

    Args:
        periods: the periods.
        cells: `part` is the row, `at` the period.
        labels: what stands above each row, by row.
        unit: the title of the legend.
    """
    import altair as alt

    rows = list(labels)
    scale = alt.Scale(type="sqrt", range=[0.12, 1.0])
    drawn = (
        alt.Chart(alt.Data(values=[asdict(cell) for cell in cells]))
        .mark_bar(height=BAR + 2, yOffset=LABEL - 3, color="var(--blue)")
        .encode(
            x=period_axis(periods),
            y=_rows(rows, "part"),
            opacity=alt.Opacity(
                "value:Q", scale=scale, legend=alt.Legend(title=unit, symbolFillColor="var(--blue)")
            ),
            description="message:N",
        )
    )
    return (drawn + _labels({row: labels[row] for row in rows})).properties(height=ROW * len(rows))


def labelled(
    bars: Sequence[Datum], labels: Mapping[str, str], colours: Mapping[str, str], unit: str
) -> altair.LayerChart:
    """Return horizontal bars, each with its label above it.

    Args:
        bars: `at` is the bar's identifier.
        labels: what stands above each bar, by identifier, in the order of the bars.
        colours: by part.
        unit: the title of the axis.
    """
    import altair as alt

    parts = [part for part in colours if any(bar.part == part for bar in bars)]
    legend = alt.Legend() if len(colours) > 1 else None
    drawn = (
        alt.Chart(alt.Data(values=[asdict(bar) for bar in bars]))
        .mark_bar(height=BAR, yOffset=LABEL - 3)
        .encode(
            x=alt.X("value:Q", title=unit, axis=number_axis(max(bar.value for bar in bars))),
            y=_rows(list(labels)),
            color=alt.Color("part:N", scale=colour_scale(colours, parts), legend=legend),
            description="message:N",
        )
    )
    return (drawn + _labels(labels)).properties(height=ROW * len(labels))


def spans(
    data: Sequence[Datum], shapes: Mapping[str, tuple[str, str]], lines: Sequence[tuple[str, float, float]]
) -> altair.LayerChart:
    """Return times on a logarithmic axis, one row for each feed.

    Args:
        data: the times; below a second they stand at a second.
        shapes: colour and Vega's name of the shape, by part.
        lines: row, start and end of a line below the marks; it starts at the left end at the earliest.
    """
    import altair as alt

    names = list(dict.fromkeys(datum.at for datum in data))
    values = [max(1.0, datum.value) for datum in data]
    ends = [tick for tick in TICKS if tick <= min(values)][-1:] + [t for t in TICKS if t >= max(values)][:1]
    ticks = [tick for tick in TICKS if ends[0] <= tick <= ends[-1]]
    words = " : ".join(f"datum.value == {tick} ? '{text}'" for tick, text in TICKS.items())
    axis = alt.Axis(values=ticks, labelExpr=f"{words} : ''", gridDash=[2, 2])
    scale = alt.Scale(type="log", domain=[ends[0], max(ends[-1], 60)], nice=False)
    time = alt.X("value:Q", title="time, logarithmic", axis=axis, scale=scale)
    parts = [part for part in shapes if any(datum.part == part for datum in data)]
    drawn = (
        alt.Chart(alt.Data(values=[{**asdict(m), "value": max(1.0, m.value)} for m in data]))
        .mark_point(filled=True, size=70, opacity=1, yOffset=LABEL - 3)
        .encode(
            x=time,
            y=_rows(names),
            **shaped(shapes, parts),
            description="message:N",
        )
    )
    below = [{"at": at, "value": max(ends[0], start), "end": max(ends[0], end)} for at, start, end in lines]
    ruled = (
        alt.Chart(alt.Data(values=below))
        .mark_rule(strokeWidth=3, color=FAINT, yOffset=LABEL - 3, aria=False)
        .encode(x=time, x2="end:Q", y=_rows(names))
    )
    labels = _labels({name: name for name in names})
    return (ruled + drawn + labels).properties(height=ROW * len(names))


def _labels(labels: Mapping[str, str]) -> altair.Chart:
    import altair as alt

    rows = [{"at": at, "label": label} for at, label in labels.items()]
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_text(
            align="left",
            baseline="middle",
            yOffset=-LABEL + 2,
            color=TEXT,
            fontSize=11,
            aria=False,
            limit=310,
        )
        .encode(x=alt.value(0), y=_rows(list(labels)), text="label:N")
    )


def _rows(names: Sequence[str], field: str = "at") -> Any:
    import altair as alt

    return alt.Y(f"{field}:N", sort=list(names), scale=alt.Scale(domain=list(names), padding=0), axis=None)
