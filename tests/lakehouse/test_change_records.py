"""Change records: current state and all versions, whatever the order, the repeats and the slices of arrival.

Many customers stand side by side in one table, each with a random history, so that a few runs test them all.
`TIDEMARK_HISTORIES` and `TIDEMARK_SEED` change the number and the seed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence

import pytest
from pyspark.sql import SparkSession

from tests.conftest import latest_version
from tests.lakehouse.change_records import (
    BATCHES,
    ENVELOPE,
    FLAT,
    Record,
    broken_promises,
    example,
    listed,
    random_history,
    rebuilt,
)
from tests.lakehouse.conftest import FixtureProject

pytestmark = pytest.mark.R3
HISTORIES = int(os.environ.get("TIDEMARK_HISTORIES", "200"))
SEED = int(os.environ.get("TIDEMARK_SEED", "20250101"))
MODELS = (
    "customer_changes",
    "rejected_customer_changes",
    "customers",
    "customer_history",
    "enveloped_customers",
)
ANNS = (1, 2, 3)
Tables = dict[str, list[tuple[object, ...]]]


class ChangeRecords(FixtureProject):
    """The project `change_records`, into which random records and the example came, batch by batch.

    Attributes:
        records: all that came.
        after: each table's rows after each batch, with times as seconds since 1970.
    """

    def __init__(self, spark: SparkSession) -> None:
        super().__init__(spark, "change_records", os.environ["TIDEMARK_SCHEMA"])
        self.flat = self.create_source("changes_in", FLAT)
        self.envelopes = self.create_source("envelopes_in", ENVELOPE)
        self.chance = random.Random(SEED)
        self.records = [record for ann in ANNS for record in example(ann)]
        for customer in range(100, 100 + HISTORIES):
            self.records += random_history(customer, self.chance)
        self.after: dict[int, Tables] = {}
        for batch in range(1, BATCHES + 1):
            self.land([record for record in self.records if record.batch == batch])
            built = self.dbt("build" if batch == BATCHES else "run")
            assert (built.failed, built.skipped) == ([], 0)
            self.after[batch] = {model: self.rows(model) for model in MODELS}
            if batch == 2:
                self.forget_last_run()  # the next one reads the same versions again
        assert [n for n, _ in built.warned] == ["unique_key_customer_changes_customer_id__sequence"]

    def land(self, records: Sequence[Record]) -> None:
        """Append records to both landed tables."""
        lines = [record.flat() for record in records]
        enveloped = [envelope for record in records for envelope in record.envelopes()]
        for table, columns, rows in ((self.flat, FLAT, lines), (self.envelopes, ENVELOPE, enveloped)):
            frame = self.spark.createDataFrame(rows, columns).coalesce(1)
            frame.write.format("delta").mode("append").saveAsTable(table)

    def rows(self, model: str) -> list[tuple[object, ...]]:
        table = self.spark.table(self.table(model))
        columns = [f"unix_seconds({name})" if of == "timestamp" else name for name, of in table.dtypes]
        return [tuple(row) for row in table.selectExpr(*columns).collect()]

    def versions(self) -> dict[str, int]:
        return {model: latest_version(self.spark, self.table(model)) for model in MODELS}


@pytest.fixture(scope="module")
def project(spark: SparkSession) -> Iterator[ChangeRecords]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEMARK_SCHEMA", "change_records")
        yield ChangeRecords(spark)


def test_a_late_record_splits_an_interval(project: ChangeRecords) -> None:
    """R3.5: a delete ends, a re-insert begins, and what comes again does nothing."""
    assert _told_of_ann(project.after[1]) == [
        (10, "Bonn", "", 9, 11, ""),
        (30, "Oslo", "", 11, 12, ""),
        (40, None, "deleted", 12, None, "current"),
    ]
    assert _told_of_ann(project.after[2]) == [
        (10, "Bonn", "", 9, 10, ""),
        (20, "Rome", "", 10, 11, ""),
        (30, "Oslo", "", 11, 12, ""),
        (40, None, "deleted", 12, 13, ""),
        (50, "Bern", "", 13, None, "current"),
    ]


def test_every_batch_ends_in_what_all_records_say(project: ChangeRecords) -> None:
    """R3.5: late, repeated, skewed, contradicting and broken records, in envelopes too; and a run cut off."""
    for batch, tables in project.after.items():
        landed = [record for record in project.records if record.batch <= batch]
        for model, expected in rebuilt(landed).items():
            found = tables[model]
            assert len(found) == len(set(found)), f"{model} holds a row twice"
            if wrong := sorted(set(found) ^ expected, key=str):
                says = "missing" if wrong[0] in expected else "too much"
                own = [record for record in landed if record.change.customer in wrong[0][:2]]
                pytest.fail(
                    f"{len(wrong)} rows, seed {SEED}; the first, after batch {batch}:\n"
                    f"{model}: {says} {wrong[0]}\n{listed(own)}"
                )


def test_intervals_have_no_gap_no_overlap_and_one_is_current(project: ChangeRecords) -> None:
    """R3.5: looked at after every batch by themselves, without an oracle."""
    for tables in project.after.values():
        assert tables["customer_history"] != []
        assert list(broken_promises(tables["customer_history"])) == []


def test_repeats_write_no_version(project: ChangeRecords) -> None:
    """R3.5: a batch of nothing but repeats commits to no table."""
    sound = [record for record in project.records if not record.fault]
    before = project.versions()
    repeats = project.chance.sample(sound, len(sound) // 3)
    project.land([record._replace(batch=BATCHES + 1) for record in repeats])
    assert project.messages(*MODELS) == dict.fromkeys(MODELS, "no change")
    assert project.versions() == before


def test_a_broken_history_is_found_by_its_data_test(project: ChangeRecords) -> None:
    """R3.5: a version gone, an overlap, a second current row: seen among the changes alone."""
    history = project.table("customer_history")
    version = latest_version(project.spark, history)
    project.spark.sql(f"delete from {history} where customer_id = 1 and sequence = 20")
    project.spark.sql(
        f"update {history} set is_current = (customer_id = 3), "
        "valid_to = valid_to + make_interval(0, 0, 0, 0, 0, if(customer_id = 2, 1, 0)) "
        "where customer_id in (2, 3) and sequence = 20"
    )
    failed = project.dbt("test", "--select", "customer_history").failed
    project.spark.sql(f"restore table {history} to version as of {version}")
    name = "contiguous_history_customer_history_customer_id"
    assert failed == [(name, "Got 3 results, configured to fail if != 0")]


def _told_of_ann(tables: Tables) -> list[tuple[object, ...]]:
    """Versions of customer 1: sequence, city, whether deleted, hours from and to, whether current."""
    return sorted(
        (sequence, city, "deleted" * gone, begin // 3600, end and end // 3600, "current" * is_current)
        for _, customer, sequence, _, city, gone, begin, end, is_current in tables["customer_history"]
        if customer == 1
    )
