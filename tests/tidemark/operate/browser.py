"""A page in a headless Chromium, on a phone and on a wide screen."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from dev.servers.programs import MissingServerError

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # CI's containers run as root
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--allow-file-access-from-files",  # for the frames below, not for the page
    "--enable-logging=stderr",
    "--virtual-time-budget=10000",
    "--dump-dom",
)
WIDTHS = (380, 1280)
# shows the page at both widths, and measures it
FRAMES = """<!DOCTYPE html><body><pre></pre><script>
const widths = {widths}, found = {{}};
const measure = (frame, width) => {{
  const page = frame.contentDocument, svgs = [...page.querySelectorAll("svg")];
  const drawn = svgs.filter(svg => svg.getBoundingClientRect().width > 0);
  found[width] = {{
    overflow: page.documentElement.scrollWidth - page.documentElement.clientWidth,
    background: frame.contentWindow.getComputedStyle(page.body).backgroundColor,
    charts: drawn.map(svg => [svg.closest("figure").id, svg.querySelectorAll("title").length]),
    colours: [...new Set(drawn.flatMap(svg => [...svg.querySelectorAll("[fill^=var]")])
      .map(mark => frame.contentWindow.getComputedStyle(mark).fill))],
    text: Math.min(...drawn.map(svg => svg.querySelector("text").getBoundingClientRect().height)),
    requests: frame.contentWindow.performance.getEntriesByType("resource").length,
  }};
  document.querySelector("pre").textContent = JSON.stringify(found);
}};
for (const width of widths) {{
  const frame = document.createElement("iframe");
  frame.width = width; frame.height = 4000;
  frame.onload = () => measure(frame, width);
  frame.src = "report.html";
  document.body.append(frame);
}}
</script>"""


def shown(page: str, folder: Path, *options: str) -> Any:
    """Open the page in a browser at both widths; return what was measured."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise MissingServerError("there is no Chromium (Debian: apt install chromium)")
    (folder / "report.html").write_text(page, encoding="utf-8")
    frames = folder / "frames.html"
    frames.write_text(FRAMES.format(widths=list(WIDTHS)))
    command = [browser, *OPTIONS, f"--user-data-dir={folder / 'profile'}", *options, frames.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert "CONSOLE" not in done.stderr, done.stderr
    return json.loads(done.stdout.partition("<pre>")[2].partition("</pre>")[0])
