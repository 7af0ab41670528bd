"""Models over views: a change below a view is followed to the groups that it touches."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.lakehouse.conftest import Guarded
from tidemark.engine.incremental.session_catalog import SessionCatalog
from tidemark.engine.incremental.statement_catalog import StatementCatalog
from tidemark.engine.verify.verify import verify

pytestmark = [pytest.mark.R2, pytest.mark.formats(day="iceberg", night="delta iceberg")]

# a server tells a view of Iceberg as a statement: in it, too, stand the comment and the word AS
SEEN = """{{{{ config(materialized='view') }}}}
-- as it is
with rows_of as (select id, amount as Amount from {{{{ source('input', 'rows_in') }}}})
select id, Amount
from rows_of
where id <> {}"""
OVER = """{{ config(unique_key='amount') }}
select amount, count(*) as copies from {{ ref('seen_again') }} group by amount"""
AGAIN = "{{ config(materialized='view') }} select id, amount from {{ ref('seen') }} where id >= 0"


def test_a_model_over_views_is_maintained(
    guarded: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R2.2: a view over a view; an edited view is a changed query; a server tells the same of views."""
    monkeypatch.setenv("DBT_PROFILES_DIR", str(ROOT))
    models, names = guarded.own_copy(tmp_path), ["seen", "seen_again", "over"]
    (models / "seen.sql").write_text(SEEN.format(-1))
    (models / "seen_again.sql").write_text(AGAIN)
    (models / "over.sql").write_text(OVER)
    guarded.insert(", ".join(f"({number}, {number % 90 + 1})" for number in range(300)))

    def message() -> str:
        os.chdir(ROOT)
        return guarded.messages(*names)["over"]

    assert message() == "90 inserted"
    guarded.insert("(1000, 5), (1001, 500)")
    assert message() == "1 inserted, 1 updated"
    guarded.spark.sql(f"delete from {guarded.input} where id = 1001")
    assert message() == "1 deleted"
    (models / "seen.sql").write_text(SEEN.format(17))
    assert message().startswith("1 updated")
    guarded.insert("(17, 18), (2000, 7)")
    assert message() == "1 updated"
    os.chdir(guarded.folder)
    assert [verdict.differing for verdict in verify(guarded.spark, ["over"])] == [0]

    spark, table = guarded.spark, guarded.table
    own = SessionCatalog(spark)
    told = StatementCatalog(lambda sql: [row.asDict() for row in spark.sql(sql).collect()])
    for name in names:
        assert own.columns(table(name)) == told.columns(table(name))
        text, other = own.view(table(name)), told.view(table(name))
        assert (text and text.strip()) == (other and other.strip())
    assert own.view(table("over")) is None
    assert "rows_of" in str(own.view(table("seen")))
    assert own.columns(table("missing")) is told.columns(table("missing")) is None
