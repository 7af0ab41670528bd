"""How rows come into a table: keys, order, deletes, pruning, partitions, columns; and what is refused."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from tests.conftest import latest_version
from tests.lakehouse.conftest import FixtureProject

pytestmark = pytest.mark.R2
CUSTOMERS = "customer_id int, email string, name string, processed_time timestamp"
VISITS = "visit_id string, visit_day date, page string"


@pytest.mark.R4
@pytest.mark.formats(day="delta", night="delta iceberg", core="delta")
def test_the_newest_row_of_a_composite_key_wins(cases: FixtureProject) -> None:
    """R4.3: John becomes Johnny, Mary is inserted, Sam is untouched."""
    source = cases.create_source("customers_in", CUSTOMERS)
    cases.spark.sql(
        f"insert into {source} values (1001, 'john@test.com', 'John', timestamp '2024-03-01 10:00'), "
        "(1003, 'sam@test.com', 'Sam', timestamp '2024-03-01 10:00')"
    )
    cases.messages("customers")
    cases.spark.sql(
        f"insert into {source} values (1001, 'john@test.com', 'John', timestamp '2024-04-01 10:00'), "
        "(1001, 'john@test.com', 'Johnny', timestamp '2024-04-01 11:00'), "
        "(1002, 'mary@test.com', 'Mary', timestamp '2024-04-01 10:00')"
    )
    assert cases.messages("customers") == {"customers": "1 inserted, 1 updated"}
    assert [row[:3] for row in cases.rows("customers")] == [
        (1001, "john@test.com", "Johnny"),
        (1002, "mary@test.com", "Mary"),
        (1003, "sam@test.com", "Sam"),
    ]


@pytest.mark.core
@pytest.mark.formats(day="delta", night="delta iceberg")
def test_two_rows_of_one_key_stop_the_run(cases: FixtureProject) -> None:
    """R2.4: no run keeps a random row of a key, neither the first nor a later one."""
    source = cases.create_source("customers_in", CUSTOMERS)
    cases.spark.sql(f"insert into {source} values (1, null, 'A', null), (1, null, 'B', null)")
    message = cases.run("doubled")
    assert "doubled has 2 rows of the key" in message
    assert not cases.spark.catalog.tableExists(cases.table("doubled"))
    cases.spark.sql(f"delete from {source} where name = 'B'")
    assert cases.run("doubled") == ""
    cases.spark.sql(f"insert into {source} values (1, null, 'C', null), (1, null, 'C', null)")
    assert '{"customer_id":1,"email":null}' in cases.run("doubled")
    assert cases.rows("doubled") == [(1, None, "A")]


@pytest.mark.formats(day="iceberg", night="delta iceberg")
@pytest.mark.R1
def test_reserved_words_and_odd_names_are_columns_like_others(cases: FixtureProject) -> None:
    """R1.2: as keys, as newest_by, for pruning, as names of measures."""
    source = cases.create_source("words_in", "`order` int, `group-by` string, `from` int, `select` string")
    cases.spark.sql(f"insert into {source} values (1, 'a', 1, 'x'), (2, null, 1, 'x')")
    cases.messages("reserved", "reserved_counts")
    cases.spark.sql(f"insert into {source} values (2, null, 2, 'y'), (3, 'c', 0, 'y')")
    assert cases.messages("reserved", "reserved_counts") == {
        "reserved": "1 inserted, 1 updated",
        "reserved_counts": "1 inserted, 1 updated",
    }
    assert cases.rows("reserved") == [(1, "a", 1, "x"), (2, None, 2, "y"), (3, "c", 0, "y")]
    assert cases.rows("reserved_counts") == [("x", 1, 1), ("y", 2, 2)]


@pytest.mark.core
def test_pruning_reads_only_the_files_of_the_batch(cases: FixtureProject) -> None:
    """R2.3: a file that cannot be read any more is not opened: no key of the batch is in its partition."""
    source = cases.create_source("visits_in", VISITS)
    cases.spark.sql(
        f"insert into {source} values ('20250101-1', date '2025-01-01', 'home'), "
        "('20250102-1', date '2025-01-02', 'home')"
    )
    cases.messages("visits")
    table = cases.spark.table(cases.table("visits"))
    old = next(name for name in table.inputFiles() if "visit_day=2025-01-01" in name).removeprefix("file:")
    Path(old.replace("%20", " ")).write_bytes(b"unreadable")
    cases.spark.sql(
        f"insert into {source} values ('20250102-1', date '2025-01-02', 'cart'), "
        "('20250103-1', date '2025-01-03', 'home')"
    )
    assert cases.messages("visits") == {"visits": "1 inserted, 1 updated"}
    newer = cases.spark.sql(f"select * from {cases.table('visits')} where visit_day > '2025-01-01'")
    assert sorted(tuple(row) for row in newer.collect()) == [
        ("20250102-1", date(2025, 1, 2), "cart"),
        ("20250103-1", date(2025, 1, 3), "home"),
    ]


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_another_grain_rebuilds_the_table(cases: FixtureProject, tmp_path: Path) -> None:
    """R2.4: with another key or pruning, earlier rows would stay next to new rows."""
    source = cases.create_source("readings_in", "id int, name string, unit string")
    cases.spark.sql(f"insert into {source} values (1, 'a', 'kg')")
    cases.messages("tested")
    model = cases.own_copy(tmp_path) / "tested.sql"
    model.write_text(model.read_text().replace("unique_key='id'", "unique_key=['id', 'name']"))
    cases.spark.sql(f"insert into {source} values (1, 'b', 'kg')")
    message = "2 inserted; read whole: another unique_key, newest_by, insert_only or prune_by"
    assert cases.messages("tested") == {"tested": message}
    assert cases.rows("tested") == [(1, "a"), (1, "b")]


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_an_unsafe_pruning_is_refused(cases: FixtureProject) -> None:
    """R2.4: a column that the key does not determine would turn a moved row into two."""
    source = cases.create_source("visits_in", VISITS)
    cases.spark.sql(f"insert into {source} values ('20250101-1', date '2025-01-01', 'home')")
    cases.messages("visits")
    assert "prune_by `visit_day` is not in unique_key" in cases.run("unsafe_visits")
    cases.spark.sql(f"insert into {source} values ('20250102-1', date '2025-01-09', 'home')")
    assert "but 1 of this run's rows differ" in cases.run("visits")
    assert len(cases.rows("visits")) == 1
    refresh = cases.dbt("run", "--select", "visits", "--full-refresh")
    assert "but a row differs" in refresh.failed[0][1]


@pytest.mark.formats(day="iceberg", night="delta iceberg")
@pytest.mark.R5
def test_partitions_are_overwritten_only_where_they_differ(cases: FixtureProject, tmp_path: Path) -> None:
    """R5.3: touched partitions only; an emptied one goes; no session setting stays changed."""
    source = cases.create_source("visits_in", VISITS)
    days = "('a', date '2025-01-01', 'home'), ('b', date '2025-01-02', 'home'), ('c', null, 'home')"
    cases.spark.sql(f"insert into {source} values {days}")
    cases.messages("visits_a_day")
    mode = cases.spark.conf.get("spark.sql.sources.partitionOverwriteMode")
    cases.spark.sql(f"insert into {source} values ('d', date '2025-01-02', 'cart'), ('e', null, 'home')")
    assert cases.messages("visits_a_day") == {"visits_a_day": "3 inserted, 2 deleted"}
    assert cases.rows("visits_a_day") == [
        (None, "home", 2),
        (date(2025, 1, 1), "home", 1),
        (date(2025, 1, 2), "cart", 1),
        (date(2025, 1, 2), "home", 1),
    ]
    version = latest_version(cases.spark, cases.table("visits_a_day"))
    cases.spark.sql(f"insert into {source} values (null, date '2025-01-01', 'home')")
    assert cases.messages("visits_a_day") == {"visits_a_day": "no change"}
    assert latest_version(cases.spark, cases.table("visits_a_day")) == version
    assert cases.spark.conf.get("spark.sql.sources.partitionOverwriteMode") == mode
    model = cases.own_copy(tmp_path) / "visits_a_day.sql"
    model.write_text(
        model.read_text()
        .replace("    page,\n    count(visit_id) as visits\n", "    count(visit_id) as visits,\n    page\n")
        .replace("config(", "config(meta={'on_code_change': 'ignore'}, ", 1)
    )
    cases.spark.sql(f"insert into {source} values ('f', date '2025-01-03', 'home')")
    assert cases.messages("visits_a_day") == {"visits_a_day": "1 inserted"}
    assert cases.rows("visits_a_day")[-1] == (date(2025, 1, 3), "home", 1), "columns go by name"


@pytest.mark.R5
@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_dates_are_rebuilt_from_what_was_read(cases: FixtureProject) -> None:
    """R5.5: only what the table has read, only these dates; a model that was never built is refused."""
    source = cases.create_source("visits_in", VISITS)
    days = (
        "('a', date '2025-01-01', 'home'), ('b', date '2025-01-02', 'home'), ('c', date '2025-01-03', 'cart')"
    )
    cases.spark.sql(f"insert into {source} values {days}")
    range_of = ("--vars", "{rebuild_from: 2025-01-01, rebuild_to: 2025-01-02}")
    refused = cases.dbt("run", "--select", "visits_a_day", *range_of).failed
    assert "it is not built yet" in refused[0][1]
    cases.messages("visits_a_day")
    right = cases.rows("visits_a_day")
    table = cases.table("visits_a_day")
    cases.spark.sql(f"insert into {table} values (date '2025-01-01', 'spoilt', 7)")
    cases.spark.sql(f"insert into {table} values (date '2025-01-03', 'spoilt', 7)")
    cases.spark.sql(f"insert into {source} values ('d', date '2025-01-01', 'not read yet')")
    assert cases.messages("visits_a_day", options=range_of) == {"visits_a_day": "1 inserted, 2 deleted"}
    assert cases.rows("visits_a_day") == [*right, (date(2025, 1, 3), "spoilt", 7)]
    assert cases.messages("visits_a_day", options=range_of) == {"visits_a_day": "no change"}
    cases.spark.sql(f"delete from {table} where page = 'spoilt'")
    cases.messages("visits_a_day")
    assert (date(2025, 1, 1), "not read yet", 1) in cases.rows("visits_a_day")


@pytest.mark.formats(day="iceberg", night="delta iceberg")
@pytest.mark.R3
def test_a_column_that_the_model_gains_appears_with_its_values(cases: FixtureProject, tmp_path: Path) -> None:
    """R3.4: earlier rows get it, too: the table is rebuilt in one commit, even without new source rows."""
    source = cases.create_source("readings_in", "id int, name string, unit string")
    cases.spark.sql(f"insert into {source} values (1, 'a', 'kg'), (2, 'b', null)")
    cases.messages("widened")
    widened = cases.own_copy(tmp_path)
    model, contract = widened / "widened.sql", widened / "_cases.yml"
    model.write_text(model.read_text().replace("name\n", "name,\n    unit\n"))
    contract.write_text(contract.read_text() + "      - {name: unit, data_type: string}\n")
    assert cases.messages("widened") == {"widened": "2 inserted; read whole: new in its contract: unit"}
    cases.spark.sql(f"insert into {source} values (3, 'c', 'm')")
    assert cases.messages("widened") == {"widened": "1 inserted"}
    assert cases.rows("widened") == [(1, "a", "kg"), (2, "b", None), (3, "c", "m")]
    contract.write_text(
        contract.read_text().replace("{name: unit, data_type: string}", "{name: unit, data_type: int}")
    )
    assert "Rebuild it" in cases.run("widened") or "contract" in cases.run("widened")
