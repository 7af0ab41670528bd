"""Settings reach Java as they are, and nobody else reads them."""

from __future__ import annotations

import stat
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tidemark.spark.java_properties import _escaped, write_properties

VALUES = {
    "a.b": " two  words ",
    "path": "C:\\x\\new",
    "name": "Łódź 🌊 = # ! :",
    "empty": "",
    "line": "a\nb\tc",
}


def test_java_reads_what_was_written(spark: SparkSession, tmp_path: Path) -> None:
    """Spaces, backslashes, other alphabets and line ends."""
    path = tmp_path / "some.properties"
    write_properties(path, VALUES)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    java = spark.sparkContext._jvm.java  # type: ignore[union-attr]
    read = java.util.Properties()
    read.load(java.io.FileInputStream(str(path)))
    assert {name: read.getProperty(name) for name in VALUES} == VALUES


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_values_are_printed_as_one_ascii_line(value: str) -> None:
    """No value ends its line."""
    assert _escaped(value).isascii()
    assert _escaped(value).isprintable()
