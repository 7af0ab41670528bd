"""Values and types that were lost or refused too late, and SQL that is refused before it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lakehouse.conftest import Guarded

pytestmark = pytest.mark.R2
SOURCES = """
sources:
  - name: input
    schema: "{{ target.schema }}_bronze"
    tables: [{name: rows_in}, {name: values_in}]
"""
CHANGES = "select * from {{ changes(source('input', 'values_in')) }}"
MODELS = {
    "coded": "{{ config(unique_key='code', meta={'prune_by': 'code'}) }} select code, amount from (%s)",
    "noted": "{{ config(unique_key='note') }} select note, count(id) as ids "
    "from {{ source('input', 'values_in') }} group by note having count(id) > 0",
    "parted": "{{ config(unique_key=['id', 'note'], partition_by='note') }} "
    "select distinct id, note from (%s)",
    "paired": "{{ config(unique_key='pair') }} select struct(id, note) as pair from (%s)",
    "newest": "{{ config(unique_key='id', meta={'newest_by': ['note', 'amount']}) }} "
    "select id, note, amount from (%s)",
    "limited": "{{ config(unique_key='id') }}\n%s\norder by amount\nlimit 1",
}
REFUSED = {
    "parted": "an empty text in the partition column `note`, which Delta stores as NULL",
    "paired": "`pair` is in unique_key and is of type struct",
    "newest": "newest_by is `note`, which is text (string)",
    "limited": "line 4: `limit` chooses at random among ties",
}


def test_values_are_kept_or_refused(guarded: Guarded, tmp_path: Path) -> None:
    """R2.3: bytes that are no text, texts with comment signs; empty partitions, and types that cannot do."""
    folder = guarded.own_copy(tmp_path)
    declared = (folder / "_guarded.yml").read_text()
    (folder / "_guarded.yml").write_text(
        declared.replace("- name: rows_in", "- name: rows_in\n      - name: values_in")
    )
    for name, sql in MODELS.items():
        (folder / f"{name}.sql").write_text(sql.replace("%s", CHANGES))
    source = guarded.create_source("values_in", "id int, note string, code binary, amount int")
    note = "a /* b */ /*/ c"
    for amount in (1, 2):
        rows = ", ".join(f"({id}, '{note}', unhex('FF{id}E{id}'), {amount})" for id in range(5))
        guarded.spark.sql(f"insert into {source} values {rows}")
        assert guarded.run("coded", "noted") == ""
    assert [row[1] for row in guarded.rows("coded")] == [2] * 5
    assert guarded.rows("noted") == [(note, 10)]
    guarded.spark.sql(f"insert into {source} values (1, '', unhex('00'), 1)")
    failed = dict(guarded.dbt("run", "--select", *REFUSED).failed)
    for name, words in REFUSED.items():
        assert words in failed[name], name
