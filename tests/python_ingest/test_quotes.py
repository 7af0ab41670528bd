"""Records of CSV files over several lines, and quotes that are not closed."""

from __future__ import annotations

import csv
import io
import re
import sys

import pytest
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from python_ingest.feeds.csv_grammar import Grammar, in_python
from tests.conftest import MakeFeed
from tests.fuzz.files import drawn

pytestmark = pytest.mark.R1
