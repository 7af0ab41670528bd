"""Are the Python packages there, in versions that fit together and fit the jars?"""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import re
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import tidemark
from tidemark.base.distribution import NAME
from tidemark.operate.doctor.finding import Checked, Finding, error, warning
from tidemark.operate.doctor.subject import Subject
from tidemark.spark.jars import LOCK, read_lock

COMMAND = "tidemark"  # also the name of another project's package, whose command has this name, too
MADE_FOR = re.compile(r"_(?:(\d+\.\d+)_)?(\d+\.\d+)$")  # the end of an artifact: Spark's version and Scala's
ADAPTER = Path("dbt", "adapters", "tidemark")
CORE = re.compile(r"spark-core_(\d+\.\d+)-(.+)\.jar")


def check_packages(subject: Subject) -> Checked:
    """Check the versions of Python, of the packages that Tidemark needs, and of Spark."""
    try:
        needed = [*requirements(NAME, ["", *subject.extras])]
    except metadata.PackageNotFoundError:
        message = f"The package `{NAME}` is not installed, so it is not known what it needs."
        fix = f"Install it: `pip install {NAME}`, or `make setup`."
        return Checked("unknown", (*_namesake(), error(message, fix)))
    findings = [*_python(), *_namesake(), *_versions(needed), *_spark_home(), *_jars_fit(), *_adapters()]
    spark = ", Spark {1} for Scala {0}".format(*found) if (found := spark_of(spark_folder())) else ""
    return Checked(f"Python {platform.python_version()}, {len(needed)} packages{spark}", tuple(findings))


def requirements(package: str, extras: Sequence[str]) -> Iterator[Requirement]:
    """Yield what an installed package needs, with what the extras of its packages need.

    Args:
        package: its name.
        extras: its extras; `""` stands for what it always needs.

    Raises:
        PackageNotFoundError: if it is not installed.
    """
    for text in metadata.requires(package) or []:
        one = Requirement(text)
        marker = one.marker
        if marker is None and "" not in extras:
            continue
        if marker is not None and not any(marker.evaluate({"extra": extra}) for extra in extras):
            continue
        yield one
        if one.extras and installed(one.name):
            yield from requirements(one.name, sorted(one.extras))


def installed(package: str) -> str:
    """Return the version of a package; empty if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def spark_folder() -> Path | None:
    """Return the folder of the package pyspark, without importing it."""
    spec = importlib.util.find_spec("pyspark")
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else None


def spark_of(home: Path | None) -> tuple[str, str] | None:
    """Return the versions of Scala and Spark in a folder of Spark; None if it has none."""
    names = (path.name for path in home.glob("jars/spark-core_*.jar")) if home else ()
    return next(((match[1], match[2]) for match in map(CORE.fullmatch, names) if match), None)


def _python() -> Iterator[Finding]:
    wanted = metadata.metadata(NAME)["Requires-Python"] or ""
    if not SpecifierSet(wanted).contains(platform.python_version(), prereleases=True):
        fix = "Make a virtual environment with another Python, and install Tidemark there."
        yield error(f"This is Python {platform.python_version()}; Tidemark needs {wanted}.", fix)


def _namesake() -> Iterator[Finding]:
    version = installed(COMMAND)
    if version:
        message = (
            f"The package `{COMMAND}` {version} is installed beside `{NAME}`. It is another project's, or "
            f"Tidemark under its former name; both packages write the command `{COMMAND}`."
        )
        fix = f"Run `pip uninstall {COMMAND}`, then `pip install --force-reinstall --no-deps {NAME}`."
        yield warning(message, fix)


def _versions(needed: Sequence[Requirement]) -> Iterator[Finding]:
    for one in needed:
        version = installed(one.name)
        fix = f"Run `pip install '{one.name}{one.specifier}'`."
        if not version:
            yield error(f"The package {one.name} is not installed.", fix)
        elif not one.specifier.contains(version, prereleases=True):
            yield error(f"{one.name} {version} is installed; Tidemark needs {one.name}{one.specifier}.", fix)


def _spark_home() -> Iterator[Finding]:
    home, ours = os.environ.get("SPARK_HOME", ""), spark_folder()
    if not home or ours is None:
        return
    there, here = spark_of(Path(home)), spark_of(ours)
    if there != here:
        what = f"is {home}, which has Spark {there[1]}" if there else f"is {home}, where there is no Spark"
        fix = "Unset SPARK_HOME: Spark then starts from the package pyspark."
        yield error(f"SPARK_HOME {what}; the package pyspark has {here[1] if here else 'none'}.", fix)


def _jars_fit() -> Iterator[Finding]:
    found = spark_of(spark_folder())
    if found is None:
        return
    scala, spark = found
    wrong = []
    for jar in read_lock(LOCK):
        if match := MADE_FOR.search(jar.artifact):
            of_spark = jar.version if jar.group == "org.apache.spark" else match[1]
            if match[2] != scala or (of_spark and of_spark.split(".")[:2] != spark.split(".")[:2]):
                wrong.append(f"{jar.artifact} {jar.version}")
    if wrong:
        fix = "Install the pyspark that Tidemark needs, or the Tidemark that is made for this Spark."
        message = f"These jars are not made for Spark {spark} with Scala {scala}: {', '.join(wrong)}."
        yield error(message, fix)


def _adapters() -> Iterator[Finding]:
    try:
        adapters = importlib.import_module("dbt.adapters")  # which looks for its own packages in all places
    except ImportError:
        return  # a missing package is already reported
    folders = [Path(place) / ADAPTER.name for place in adapters.__path__]
    found = list(dict.fromkeys(place.resolve() for place in folders if (place / "__init__.py").is_file()))
    ours = (Path(tidemark.__file__).parents[1] / ADAPTER).resolve()
    if not found:
        fix = f"Install Tidemark again: `pip install --force-reinstall --no-deps {NAME}`."
        yield error("dbt finds no adapter for `type: tidemark`.", fix)
    elif found != [ours]:
        hidden = ", ".join(str(place) for place in found[1:]) or "none"
        message = f"dbt uses the adapter `tidemark` in {found[0]}; this command is in {ours.parents[2]}."
        if found[0] == ours:
            message = f"Two adapters are called `tidemark`: dbt uses {found[0]} and not {hidden}."
        yield warning(message, "Uninstall the other one, or remove its folder from PYTHONPATH.")
