"""What the charts of a report have in common: marks, axes, colours and shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.operate.report.periods import Periods

NUMBER = "format(datum.value, abs(datum.value) < 1 ? '~g' : '~s')"  # 0.2, 5, 12k


@dataclass(frozen=True)
class Datum:
    """A part of a bar, or a point.

    Attributes:
        at: the period, or the row.
        part: what its colour means.
        value: its length or place.
        message: its tooltip.
    """

    at: str
    part: str
    value: float
    message: str


def period_axis(periods: Periods) -> Any:
    """Return a horizontal axis on which each period has its place, also an empty one."""
    import altair as alt

    names = [periods.label(number) for number in periods.numbers]
    axis = alt.Axis(labelAngle=0, labelOverlap="greedy", labelSeparation=8, ticks=False)
    scale = alt.Scale(domain=names, paddingInner=0.15, paddingOuter=0)
    return alt.X("at:O", title=periods.axis, sort=names, scale=scale, axis=axis)


def number_axis(most: float, **more: Any) -> Any:
    """Return an axis of numbers; a few whole numbers have no half between them."""
    import altair as alt

    few = {"values": list(range(int(most) + 1))} if most <= 4 and most == int(most) else {}
    return alt.Axis(labelExpr=NUMBER, tickCount=4, **few, **more)


def colour_scale(colours: Mapping[str, str], parts: Sequence[str]) -> Any:
    """Return the colours of parts."""
    import altair as alt

    return alt.Scale(domain=list(parts), range=[colours[part] for part in parts])


def shaped(shapes: Mapping[str, tuple[str, str]], parts: Sequence[str]) -> dict[str, Any]:
    """Return colours and shapes of parts: colour and Vega's name of the shape by part."""
    import altair as alt

    legend = alt.Legend(columns=3)
    return {
        "color": alt.Color(
            "part:N", scale=colour_scale({p: shapes[p][0] for p in parts}, parts), legend=legend
        ),
        "shape": alt.Shape("part:N", scale=alt.Scale(domain=parts, range=[shapes[p][1] for p in parts])),
    }
