"""Charts over periods of time: stacked bars, and points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from tidemark.operate.report.encodings import Datum, colour_scale, number_axis, period_axis, shaped
from tidemark.operate.report.periods import Periods

if TYPE_CHECKING:
    import altair


def over_time(
    periods: Periods, bars: Sequence[Datum], colours: Mapping[str, str], unit: str, height: int = 150
) -> altair.Chart:
    """Return bars over all periods, stacked in the order of the colours.

    Args:
        periods: the periods.
        bars: their parts.
        colours: by part; a part without a bar has no place in the legend.
        unit: the title of the vertical axis.
        height: pixels.
    """
    import altair as alt

    parts = [part for part in colours if any(bar.part == part for bar in bars)]
    rows = [{**asdict(bar), "order": parts.index(bar.part)} for bar in bars]
    legend = alt.Legend(columns=3) if len(colours) > 1 else None
    return (
        alt.Chart(alt.Data(values=rows), height=height)
        .mark_bar()
        .encode(
            x=period_axis(periods),
            y=alt.Y("value:Q", title=unit, axis=number_axis(max(bar.value for bar in bars), minExtent=38)),
            color=alt.Color("part:N", scale=colour_scale(colours, parts), legend=legend),
            order="order:Q",
            description="message:N",
        )
    )


def points_over_time(
    periods: Periods,
    bars: Sequence[Datum],
    shapes: Mapping[str, tuple[str, str]],
    unit: str,
    height: int = 150,
) -> altair.Chart:
    """Return a point for each value over all periods.

    Args:
        periods: the periods.
        bars: the values.
        shapes: colour and Vega's name of the shape, by part.
        unit: the title of the vertical axis.
        height: pixels.
    """
    import altair as alt

    parts = [part for part in shapes if any(bar.part == part for bar in bars)]
    return (
        alt.Chart(alt.Data(values=[asdict(bar) for bar in bars]), height=height)
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            x=period_axis(periods),
            y=alt.Y("value:Q", title=unit, axis=number_axis(max(bar.value for bar in bars), minExtent=38)),
            **shaped(shapes, parts),
            description="message:N",
        )
    )
