"""Contracts that really hold on open-source Delta, and seeds that keep their values."""

from __future__ import annotations

import pytest

from tests.conftest import latest_version
from tests.lakehouse.conftest import Guarded


@pytest.mark.core
@pytest.mark.R1
def test_a_violated_contract_stops_the_run_and_leaves_the_table_as_it_was(guarded: Guarded) -> None:
    """R1.4: on the first run no table is left behind; on a later one no row is."""
    guarded.insert("(null, 1)")
    first = guarded.dbt("run", "--select", "guarded")
    assert [name for name, _ in first.failed] == ["guarded"]
    assert "CHECK constraint id_not_null" in first.failed[0][1]
    assert not guarded.spark.catalog.tableExists(guarded.table("guarded"))

    guarded.spark.sql(f"delete from {guarded.input}")
    guarded.insert("(1, 5)")
    assert not guarded.dbt("run", "--select", "guarded").failed
    version = latest_version(guarded.spark, guarded.table("guarded"))
    guarded.insert("(2, 6), (3, -1)")
    later = guarded.dbt("run", "--select", "guarded")
    assert "CHECK constraint amount_positive" in later.failed[0][1]
    assert guarded.rows("guarded") == [(1, 5)]
    assert latest_version(guarded.spark, guarded.table("guarded")) == version

    guarded.insert("(3, 7)")
    assert not guarded.dbt("run", "--select", "guarded").failed
    assert guarded.rows("guarded") == [(1, 5), (2, 6), (3, 7)]

    guarded.spark.sql(f"alter table {guarded.table('guarded')} drop constraint amount_positive")
    guarded.insert("(4, 8)")
    message = guarded.dbt("run", "--select", "guarded").failed[0][1]
    assert "The constraints of" in message
    assert "--full-refresh" in message


@pytest.mark.R1
def test_descriptions_are_kept_and_written_once(guarded: Guarded) -> None:
    """Quotes, backslashes and percent signs in a description; no commit where nothing changed."""
    guarded.insert("(1, 5)")
    guarded.dbt("run", "--select", "guarded")
    comments = {
        row["col_name"]: row["comment"]
        for row in guarded.spark.sql(f"describe {guarded.table('guarded')}").collect()
    }
    assert comments["amount"] == "It's 100 % of the \\ amount."
    version = latest_version(guarded.spark, guarded.table("guarded"))
    guarded.insert("(1, 5)")
    guarded.dbt("run", "--select", "guarded")
    assert latest_version(guarded.spark, guarded.table("guarded")) == version


@pytest.mark.R1
@pytest.mark.formats(day="delta iceberg")
def test_a_seed_keeps_nulls_apostrophes_and_backslashes(guarded: Guarded) -> None:
    """R1.5: stock dbt-spark makes NULL the text None, breaks on O'Brien, and rewrites on every run."""
    assert not guarded.dbt("seed").failed
    version = latest_version(guarded.spark, guarded.table("names"))
    rows = sorted(tuple(row) for row in guarded.spark.table(guarded.table("names")).collect())
    assert rows == [
        (1, "O'Brien", "back\\slash"),
        (2, 'Zoë, "Z"', None),
        (3, "None", None),
    ]
    assert not guarded.dbt("seed").failed
    assert latest_version(guarded.spark, guarded.table("names")) == version
