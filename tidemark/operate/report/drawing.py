"""Draw charts as SVG for a page: no script, the page's colours, a tooltip for each mark.

Altair describes a chart, vl-convert draws it with Vega-Lite in this process. Colours are CSS variables, so
the charts follow the page into dark mode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from markupsafe import Markup

from tidemark.base.distribution import pip_install
from tidemark.base.errors import TidemarkError

if TYPE_CHECKING:
    import altair

SVG = "http://www.w3.org/2000/svg"
WIDE, NARROW = 520, 330  # pixels: a column of a wide page, a phone
TEXT, FAINT, GRID = "currentColor", "var(--faint)", "var(--grid)"
OF_SCREEN_READERS = ("aria-hidden", "aria-label", "aria-roledescription", "role")


def check_packages() -> None:
    """Stop if the packages that draw are missing.

    Raises:
        TidemarkError: in this case.
    """
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise TidemarkError(
            f"The charts of a report need a package: {str(error).splitlines()[0]}",
            f"Install it with `{pip_install('report')}`.",
        ) from None
    altair.data_transformers.disable_max_rows()


def drawn(chart: altair.Chart | altair.LayerChart, name: str, width: int) -> Markup:
    """Return a chart as SVG.

    Args:
        chart: the chart, without a size of its own.
        name: unique in the page.
        width: of the whole drawing, in pixels.
    """
    import altair as alt
    import vl_convert

    sized = chart.properties(width=width, autosize=alt.AutoSizeParams(type="fit-x", contains="padding"))
    configured = (
        sized.configure(background="transparent", font="sans-serif", padding=4)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=TEXT,
            titleColor=TEXT,
            domainColor=FAINT,
            tickColor=FAINT,
            gridColor=GRID,
            labelFontSize=11,
            titleFontSize=11,
            titleFontWeight="normal",
        )
        .configure_legend(
            orient="top", title=None, labelColor=TEXT, titleColor=TEXT, labelFontSize=11, symbolType="square"
        )
    )
    return _for_page(vl_convert.vegalite_to_svg(configured.to_dict()), f"{name}-{width}")


def _for_page(svg: str, name: str) -> Markup:
    """Let identifiers be unique in the page, the size be that of its place, and descriptions be tooltips."""
    ElementTree.register_namespace("", SVG)
    root = ElementTree.fromstring(svg)  # noqa: S314  # drawn in this process
    ids = {element.get("id") for element in root.iter() if element.get("id")}
    for element in root.iter():
        message = element.get("aria-label")
        if message and element.tag != f"{{{SVG}}}g":
            title = ElementTree.Element(f"{{{SVG}}}title")
            title.text = message
            element.insert(0, title)
        _strip(element)
        _rename(element, ids, name)
    del root.attrib["width"], root.attrib["height"]
    root.set("aria-hidden", "true")  # what stands around it has the words
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704  # a serializer escapes texts


def _strip(element: Any) -> None:
    for attribute in OF_SCREEN_READERS:
        element.attrib.pop(attribute, None)
    for attribute in ("opacity", "stroke-width"):
        if element.get(attribute) == "1":
            del element.attrib[attribute]


def _rename(element: Any, ids: set[str | None], name: str) -> None:
    for attribute, value in element.attrib.items():
        if attribute == "id":
            element.set(attribute, f"{name}-{value}")
        elif value.startswith(("url(#", "#")):
            target = value.removeprefix("url(").removeprefix("#").removesuffix(")")
            if target in ids:
                element.set(attribute, value.replace(f"#{target}", f"#{name}-{target}"))
