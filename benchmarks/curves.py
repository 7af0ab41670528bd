"""The measured seconds over the size of the history: where one curve falls below another, and a plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log
from pathlib import Path

Curves = Mapping[str, Sequence[float]]


def ahead_from(sizes: Sequence[int], ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Return the size from which on our seconds are the fewer, up to the largest size.

    Between two sizes both curves are straight lines on logarithmic axes.

    Args:
        sizes: the measured sizes, ascending.
        ours: our seconds at each size.
        theirs: the other's seconds at each size.

    Returns:
        The first size if we are ahead at all sizes, and None if we are not ahead at the last one.
    """
    leads = [log(their / our) for our, their in zip(ours, theirs, strict=True)]
    behind = [number for number, lead in enumerate(leads) if lead <= 0]
    if not behind:
        return sizes[0]
    before = behind[-1]
    if before == len(sizes) - 1:
        return None
    part = leads[before] / (leads[before] - leads[before + 1])
    return exp(log(sizes[before]) + part * log(sizes[before + 1] / sizes[before]))


def plot(path: Path, sizes: Sequence[int], panels: Mapping[str, Curves], axis: str) -> None:
    """Write an SVG file with curves on logarithmic axes.

    Args:
        path: the SVG file.
        sizes: the measured sizes.
        panels: the seconds of each peer, by the panel's title and the peer's.
        axis: the name of the horizontal axis.
    """
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, NullFormatter

    style = {"svg.hashsalt": "tidemark", "svg.fonttype": "none", "font.size": 10, "font.family": "sans-serif"}
    plain = FuncFormatter(lambda value, _: f"{value:g}")
    with matplotlib.rc_context(style):
        figure, axes = pyplot.subplots(1, len(panels), figsize=(11, 4.4), sharey=True, layout="constrained")
        for place, (title, curves) in zip(axes, panels.items(), strict=True):
            for (name, seconds), marker in zip(curves.items(), "os^Dv", strict=False):
                bold = 2.4 if name == next(iter(curves)) else 1.4
                place.plot([size / 1e6 for size in sizes], seconds, label=name, marker=marker, linewidth=bold)
            place.set(title=title, xscale="log", yscale="log", xlabel=axis)
            place.set_xticks([size / 1e6 for size in sizes])
            place.xaxis.set_minor_formatter(NullFormatter())
            for one in (place.xaxis, place.yaxis):
                one.set_major_formatter(plain)
            place.grid(visible=True, which="major", alpha=0.3)
        axes[0].set_ylabel("seconds")
        axes[0].legend(frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)
    lines = path.read_text(encoding="utf-8").splitlines()  # matplotlib ends some lines with a space
    path.write_text("\n".join(line.rstrip() for line in lines) + "\n", encoding="utf-8")
