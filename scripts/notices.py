"""Write THIRD_PARTY_NOTICES.md: the licences of what Tidemark needs, and of the jars that it fetches.

Run it as `python -m scripts.notices` (`make notices` does). Names and versions are those of the locks. The
licences are read in the installed packages and in .jars/, without a network. If one cannot be read, the
script stops.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import metadata
from zipfile import ZipFile

from scripts.locked import ROOT, Package, direct_names, extras_of_users, locked_jars, locked_packages
from tidemark.spark.jars import FOLDER, Jar

FILE = ROOT / "THIRD_PARTY_NOTICES.md"
DECLARED = {  # what the package's licence text or the artifact's pom says, and the file itself does not name
    "altair": "BSD-3-Clause",
    "io.delta": "Apache-2.0",
    "io.unitycatalog": "Apache-2.0",
    "org.reactivestreams": "MIT-0",
}
SPDX = (
    (r"apache.{0,30}licen[sc]e|licen[sc]e.{0,20}apache|LICENSE-2\.0", "Apache-2.0"),
    (r"^BSD-\d-Clause$|^MIT$|^[A-Z][\w.-]+-\d[\w.-]*$", r"\g<0>"),
    (r"^ISC License", "ISC"),
    (r"^MIT License", "MIT"),
)
EXPRESSION = re.compile(r"[\w.+-]+(?: (?:AND|OR|WITH) [\w.+-]+)+")
LICENCE = re.compile(r"(META-INF/)?(LICEN[SC]E|NOTICE)(\.\w+)?")
HEAD = """# Third-party notices

Tidemark is licensed under the Apache License 2.0 (`LICENSE`). Its wheel holds no code of others. An
installation brings the packages of the first table, with what they need. `tidemark init` fetches the jars of
the second table; the texts in a jar also name the libraries that it includes. `make notices` writes this page
from `requirements.lock` and `tidemark/spark/jars.lock`. `make sbom` lists all packages.

## Python packages that pyproject.toml names

| package | version | licence |
|---|---|---|
"""
JARS = """
## Jars

| artifact | version | licence | texts in the jar |
|---|---|---|---|
"""


def notices() -> str:
    """Return the page."""
    names = set(direct_names(["", *extras_of_users()]))
    direct = [package for package in locked_packages() if package.name in names]
    return HEAD + "".join(_rows_of_packages(direct)) + JARS + "".join(map(_row_of_jar, locked_jars()))


def spdx(texts: Iterable[str]) -> str:
    """Return the SPDX expression of the first text that names a licence; empty if none does."""
    for text in texts:
        if EXPRESSION.fullmatch(text):
            return text
        for pattern, licence in SPDX:
            if found := re.search(pattern, " ".join(text.split()), re.IGNORECASE):
                return found.expand(licence)
    return ""


def _rows_of_packages(packages: Iterable[Package]) -> Iterator[str]:
    versions: dict[str, list[str]] = {}
    for package in packages:
        versions.setdefault(package.name, []).append(package.version)
    for name, several in versions.items():
        described = metadata.metadata(name)
        classifiers = described.get_all("Classifier") or []
        licences = [
            described["License-Expression"] or "",
            *(one.rpartition(" :: ")[2] for one in classifiers if one.startswith("License ::")),
            described["License"] or "",
        ]
        yield f"| {name} | {', '.join(several)} | {_known(name, spdx(licences))} |\n"


def _row_of_jar(jar: Jar) -> str:
    with ZipFile(ROOT / FOLDER / jar.file_name) as archive:
        names = archive.namelist()
        texts = sorted({name for name in names if LICENCE.fullmatch(name)})
        poms = [name for name in names if name.endswith(f"/{jar.artifact}/pom.xml")]
        licences = [
            *re.findall(r"Bundle-License: (\S+)", archive.read("META-INF/MANIFEST.MF").decode()),
            *re.findall(
                r"<license>\s*<name>(.*?)</name>", "".join(archive.read(one).decode() for one in poms)
            ),
            *(archive.read(one).decode()[:400] for one in texts if "NOTICE" not in one),
        ]
    shown = ", ".join(f"`{name}`" for name in texts)
    licence = _known(jar.group, spdx(licences))
    return f"| {jar.group}:{jar.artifact} | {jar.version} | {licence} | {shown} |\n"


def _known(name: str, licence: str) -> str:
    if not (found := DECLARED.get(name) or licence):
        raise SystemExit(f"{name} names no licence that is known here: write it to DECLARED in {__file__}")
    return found


if __name__ == "__main__":
    FILE.write_text(notices(), encoding="utf-8")
    print(FILE.name)
