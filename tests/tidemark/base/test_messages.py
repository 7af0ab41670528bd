"""What is printed of errors and of odd files: short messages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from python_ingest.feeds.declarations import feeds_of
from python_ingest.files.outcome import LandedFiles
from python_ingest.land import print_landed
from tests.conftest import ROOT
from tests.night import nightly
from tidemark.base.messages import plain_message
from tidemark.base.output import output

pytestmark = pytest.mark.R1

MISMATCH = """Runtime Error
  [DATATYPE_MISMATCH] Cannot resolve "date_add(amount, 1)". SQLSTATE: 42K09; line 4 pos 9;
  'GlobalLimit 5
  +- 'LocalLimit 5
     +- 'Project [unresolvedalias(date_add(amount#8, 1))]
"""


def test_a_message_has_no_plan() -> None:
    """The plan of a query that cannot be resolved is as long as the query is complicated."""
    message = '[DATATYPE_MISMATCH] Cannot resolve "date_add(amount, 1)". (line 4)'
    assert plain_message(MISMATCH) == message
    assert plain_message("Compilation Error\n  first;\n  second") == "first;\nsecond"


# what Spark, Delta, Iceberg, a Thrift server, Spark Connect, Python and dbt raise, and what a user sees of it
ERRORS = Path(__file__).with_name("errors_of_spark.txt").read_text(encoding="utf-8").split("====\n")
EXPECTED = dict(error.rstrip("\n").split("\n---- is shown as\n") for error in ERRORS)


@pytest.mark.parametrize("message", EXPECTED)
def test_an_error_of_spark_is_shown_without_internals(message: str) -> None:
    """R1.4: what Spark, Delta, Iceberg, a server and dbt raise, without Java, ids, traces and plans."""
    assert plain_message(message) == EXPECTED[message]
    assert plain_message(EXPECTED[message]) == EXPECTED[message]


def test_a_message_quotes_the_line_of_the_user() -> None:
    """R1.4: a statement of the engine around a query moves its lines, so the line itself is shown."""
    message = "[MISSING] Column `b`. SQLSTATE: 42703; line 3 pos 4;\n'Project ['b]"
    users = "/* {} */\ncreate table x as\n  select b\n  from y"
    assert plain_message(message, users) == "[MISSING] Column `b`. (at `select b`)"
    assert plain_message(message, "merge into x\nusing\nmerge x") == "[MISSING] Column `b`."
    assert plain_message(message, "a\nb\nselect __tidemark_net") == "[MISSING] Column `b`."


def test_a_missing_column_is_printed() -> None:
    """R1.4: which column of which table, and some of the files that lack it; in the landing's own lines."""
    node = {
        "name": "people",
        "schema": "bronze",
        "original_file_path": "models/bronze/_bronze__sources.yml",
        "external": {"location": "people", "file_format": "csv"},
        "columns": {"id": {"name": "id", "data_type": "string"}},
    }
    outcome = LandedFiles("people", files=5, rows=5, missing={"name": list("abcde"), "city": ["a"]})
    with output.console.capture() as printed:
        print_landed(feeds_of([node])["people"], outcome, seconds=1.0)
    assert printed.get().splitlines()[1:] == [
        "  missing column bronze.people.name is NULL: not in a, b, c and 2 others",
        "  missing column bronze.people.city is NULL: not in a",
    ]


@nightly("commands")
@pytest.mark.spark
def test_plain_dbt_prints_an_error_once(tmp_path: Path) -> None:
    """One sentence for an unknown function, no JSON, no stack trace, no plan; the log has them."""
    query = "select date_add(id, 'x'), no_such_function(id) from (select id from range(3) where id > 1)"
    folders = {"TIDEMARK_LAKE": "lake", "DBT_TARGET_PATH": "target", "DBT_LOG_PATH": "logs"}
    variables = os.environ | {name: str(tmp_path / folder) for name, folder in folders.items()}
    command = [sys.executable, "-m", "dbt.cli.main", "show", "--inline", query]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    printed = done.stdout + done.stderr
    assert done.returncode != 0
    assert printed.count("Cannot resolve routine `no_such_function`") == 1
    assert "SQLQueryContextLogger" not in printed
    assert len(printed) < 2_000
