"""The engine as a dbt package: macros and generic tests."""

from pathlib import Path

PACKAGE_PATH = str(Path(__file__).parent)
