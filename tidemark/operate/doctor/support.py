"""Are the versions that are installed still maintained by their makers? The dates are in support.yml."""

from __future__ import annotations

import platform
import shutil
from datetime import date, timedelta
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from pydantic import BaseModel, ConfigDict

from tidemark.engine.dbt_core.texts import yaml_in
from tidemark.operate.doctor.finding import Checked, Finding, error, warning
from tidemark.operate.doctor.java import properties
from tidemark.operate.doctor.packages import installed, spark_folder, spark_of
from tidemark.operate.doctor.subject import Subject
from tidemark.spark.jars import java

TABLE = Path(__file__).parent / "support.yml"
AHEAD = timedelta(days=90)


class Support(BaseModel):
    """A row of support.yml.

    Attributes:
        product: a product.
        versions: which of its versions, such as `==1.11.*`.
        ends: the last day of their support.
        estimated: True if the makers have named no day.
        what: what ends.
        source: who says so.
        fix: what to do then.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    product: str
    versions: str
    ends: date
    estimated: bool = False
    what: str
    source: str
    fix: str


def check_support(subject: Subject) -> Checked:
    """Warn 90 days before the support of an installed version ends; after it, report an error."""
    rows, present = supported(), present_versions()
    found = [
        (row, version)
        for product, version in present.items()
        for row in rows
        if row.product == product and SpecifierSet(row.versions).contains(Version(version), prereleases=True)
    ]
    ended = [finding for row, version in found if (finding := _finding(row, version, subject.today))]
    later = [one for one in found if one[0].ends - subject.today > AHEAD]
    message = ", ".join(f"{row.product} {version} until {row.ends}" for row, version in later)
    return Checked(message or "no version has support for long", tuple(ended))


def supported() -> list[Support]:
    """Return the rows of support.yml."""
    return [Support.model_validate(row) for row in yaml_in(TABLE.read_text(encoding="utf-8"))]


def present_versions() -> dict[str, str]:
    """Return the versions of the products that are installed."""
    spark = spark_of(spark_folder())
    command = shutil.which(java())
    of_java = properties(command).get("java.version", "") if command else ""
    versions = {
        "Python": platform.python_version(),
        "dbt-core": installed("dbt-core"),
        "Spark": spark[1] if spark else "",
        "Java": of_java.partition("_")[0].partition("-")[0],
    }
    return {product: version for product, version in versions.items() if version}


def _finding(row: Support, version: str, today: date) -> Finding | None:
    day = f"on {row.ends}" if not row.estimated else f"on {row.ends} or later (no day is announced)"
    if row.ends - today > AHEAD:
        return None
    source = f"Source: {row.source}."
    if today <= row.ends:
        return warning(f"{row.product} {version}: {row.what} end {day}. {source}", row.fix)
    if row.estimated:
        message = (
            f"{row.product} {version}: {row.what} have probably ended, {row.ends} being the estimated day."
        )
        return warning(f"{message} {source}", row.fix)
    return error(f"{row.product} {version}: {row.what} ended {day}. {source}", row.fix)
