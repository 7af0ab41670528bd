"""The statements that runs and proofs execute: what each of them has, and which queries prepare it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.tidemark.engine.writing.recording import Recording, distinct, outcomes
from tidemark.engine.writing.columns import Rebuilt, rebuild_columns
from tidemark.engine.writing.merging import make_equal, merge
from tidemark.engine.writing.partitions import of_dates, replace_partitions
from tidemark.engine.writing.regions import region_of
from tidemark.engine.writing.target import Batch, Refused, Target
from tidemark.engine.writing.values import values_of
from tidemark.engine.writing.whole import lost_rows, new_rows

pytestmark = pytest.mark.R2
TYPES = {"id": "int", "day": "date", "amount": "double"}
SALES = Target("sales", "gold.sales", TYPES, ("id",), "gold.sales version as of 7", partitions=("day",))
BATCH = Batch("select * from new")


def lines(statement: str) -> list[str]:
    return [line.strip() for line in statement.splitlines() if line.strip()]


def test_a_merge_has_a_clause_for_each_outcome() -> None:
    """R2.3: each row does what its outcome says, and unchanged rows are left out."""
    executor = Recording([outcomes(inserted=1, updated=2, deleted=3, unchanged=4)])
    change = merge(executor, SALES, BATCH)
    assert change.counts == {
        "inserted": 1, "updated": 2, "deleted": 3, "unchanged": 4, "superseded": 0, "versions": None,
    }  # fmt: skip
    assert lines(change.statement) == [
        "merge into gold.sales as present",
        "using (select * from outcomes_view where __tidemark_outcome in ('inserted', 'updated', 'deleted')) "
        "as incoming",
        "on incoming.`id` <=> present.`id`",
        "when matched and incoming.__tidemark_outcome = 'deleted' then delete",
        "when matched and incoming.__tidemark_outcome = 'updated' then update set "
        "`day` = incoming.`day`, `amount` = incoming.`amount`",
        "when not matched and incoming.__tidemark_outcome = 'inserted' then insert (`id`, `day`, `amount`) "
        "values (incoming.`id`, incoming.`day`, incoming.`amount`)",
    ]
    assert (change.views, change.once_a_key, len(executor.queries)) == (("outcomes",), True, 1)


def test_rows_that_are_only_new_are_inserted() -> None:
    """R2.3: without a MERGE, unless another process may write the table."""
    new = [outcomes(inserted=2, unchanged=1)]
    embedded = merge(Recording([*new]), SALES, BATCH)
    shared = merge(Recording([*new]), replace(SALES, is_embedded=False), BATCH)
    assert lines(embedded.statement)[0] == "insert into gold.sales (`id`, `day`, `amount`)"
    assert lines(shared.statement)[-1].startswith("when not matched and")
    assert "when matched" not in shared.statement


def test_nothing_is_committed_if_nothing_differs() -> None:
    """R2.3: superseded versions of a key are counted."""
    executor = Recording([[{"__tidemark_outcome": "unchanged", "rows": 2, "versions": 5}]])
    change = merge(executor, SALES, replace(BATCH, counts_versions=True))
    assert (change.statement, change.counts["superseded"], change.counts["versions"]) == ("", 3, 5)
    assert "sum(_versions)" in executor.queries[0]


def test_the_settings_of_a_merge_decide_its_outcomes() -> None:
    """R2.4: flags, newest_by, insert_only; a key with two rows stops the statement."""
    executor = Recording([outcomes(unchanged=1)] * 3)
    merge(executor, SALES, replace(BATCH, newest_by=("day",), retracts=True, flag="_is_deleted"))
    newest = executor.views["outcomes"]
    assert (
        "when struct(incoming.`day`) < struct(present.`day`) and not incoming._is_retracted then 'superseded'"
        in newest
    )
    assert (
        "when incoming._is_deleted then if(present.__tidemark_is_present, 'deleted', 'unchanged')" in newest
    )
    assert "'sales has ', __tidemark_copies, ' rows of the key '" in newest
    merge(executor, SALES, replace(BATCH, inserts_only=True))
    assert "else 'superseded'" in executor.views["outcomes"]
    merge(executor, SALES, replace(BATCH, flags_new=True))
    assert (
        "when incoming.__tidemark_is_new and present.__tidemark_is_present then raise_error("
        in (executor.views["outcomes"])
    )


def test_pruning_reads_the_values_of_the_batch() -> None:
    """R2.3: they are computed once; a column outside of the key needs an expression of the key."""
    by_day = replace(SALES, keys=("id", "day"), prune_by="day")
    executor = Recording([[distinct("2025-01-01", nulls=1)], outcomes(updated=1)])
    change = merge(executor, by_day, BATCH)
    condition = "(present.`day` is null or present.`day` in (cast('2025-01-01' as date)))"
    assert f"where {condition}\n" in executor.views["outcomes"]
    assert f"on incoming.`id` <=> present.`id` and incoming.`day` <=> present.`day` and {condition}" in (
        change.statement
    )
    assert change.views == ("outcomes", "batch")
    with pytest.raises(Refused, match="prune_by `day` is not in unique_key"):
        merge(Recording([]), replace(SALES, prune_by="day"), BATCH)
    computed = replace(SALES, prune_by="day", prune_expression="date_from(id)")
    executor = Recording([[{"rows": 2}]])
    with pytest.raises(Refused, match="is date_from\\(id\\), but 2 of this run's rows differ"):
        merge(executor, computed, BATCH)
    assert not executor.views


def test_a_row_that_the_table_must_not_hold_stops_the_statement() -> None:
    """R2.3: deleted rows are not checked; a new table has the check in a column."""
    checked = replace(SALES, assertions={"amount > 0": "it's negative"})
    change = merge(Recording([outcomes(deleted=1)]), checked, BATCH)
    check = "assert_true(__tidemark_outcome = 'deleted' or (amount > 0), 'sales: it\\'s negative') is null"
    assert check in change.statement
    new = new_rows(checked, BATCH, ["day"])
    assert new.checked.startswith("select case when assert_true((amount > 0), ")
    assert "concat(`day`, '') as `day`" in new.rows
    assert "assert_true((amount" not in new.rows


def test_a_region_is_listed_or_bounded() -> None:
    """R2.3: one column whose values are listed needs no semi join; several columns do."""
    one = region_of(Recording([[distinct("2025-01-01", "2025-01-03")]]), ["day"], "touched_view")
    assert one.is_exact
    assert one.present == f"as present where {one.predicate}"
    assert one.predicate == "(present.`day` in (cast('2025-01-01' as date), cast('2025-01-03' as date)))"
    many = region_of(Recording([[distinct("2025-01-01", "2025-01-03", number=900)]]), ["day"], "touched_view")
    assert not many.is_exact
    assert many.conditions["day"] == (
        "(`__tidemark_value` between cast('2025-01-01' as date) and cast('2025-01-03' as date))"
    )
    assert "left semi join touched_view as touched on present.`day` <=> touched.`day` where" in many.present
    two = region_of(Recording([[distinct("1", kind="int")], [distinct("2025-01-01")]]), ["id", "day"], "t")
    assert not two.is_exact
    assert region_of(Recording([[distinct()]]), ["day"], "t").is_empty


def test_each_history_of_a_proof_has_its_own_condition() -> None:
    """R2.4: as its own run would have it."""
    answer = [
        {**distinct("2025-01-01"), "__tidemark_part": "0"},
        {**distinct(nulls=1), "__tidemark_part": "1"},
        {**distinct("2025-01-01"), "__tidemark_part": "2"},
    ]
    region = region_of(Recording([answer]), ["day", "history"], "t", "history")
    assert region.predicate == (
        "((present.`history` in (0, 2) and (present.`day` in (cast('2025-01-01' as date)))) "
        "or (present.`history` in (1) and (present.`day` is null)))"
    )
    assert region.is_exact
    assert region.conditions["history"] == "`__tidemark_value` in (0, 1, 2)"


def test_bytes_are_read_as_hexadecimal_digits() -> None:
    """R2.3: as text, bytes that are not UTF-8 are lost."""
    executor = Recording([[distinct("?", kind="binary")], [distinct("FF", kind="binary")]])
    assert values_of(executor, "code", "t").among("x") == "(x in (unhex('FF')))"
    assert "hex(min(found))" in executor.queries[1]


def test_a_table_is_made_equal_to_its_query() -> None:
    """R2.2: keys that the query does not return are deleted, unless the model accumulates."""
    executor = Recording([outcomes(deleted=1)] * 2)
    change = make_equal(executor, SALES, replace(BATCH, flag="_is_deleted", newest_by=("day",)))
    assert "when incoming.__tidemark_is_incoming is null then 'deleted'" in executor.views["outcomes"]
    assert "where not _is_deleted" in executor.views["outcomes"]
    assert "on incoming.`id` <=> present.`id`\nwhen matched" in change.statement
    make_equal(executor, replace(SALES, keeps_rows=True), BATCH)
    assert "full outer join" not in executor.views["outcomes"]


def test_partitions_that_differ_are_replaced() -> None:
    """R2.3: by position, so in the order of the table; a flagged row names a partition without rows."""
    executor = Recording([[distinct("2025-01-01", "2025-01-02")], [distinct("2025-01-02")]])
    change = replace_partitions(executor, SALES, of_dates(SALES, BATCH, "2025-01-01", "2025-01-09"))
    these = "(`day` in (cast('2025-01-02' as date)))"
    assert lines(change.statement) == [
        f"insert into gold.sales replace where {these}",
        f"select `amount`, `day`, `id` from batch_view where not __tidemark_is_gone and {these}",
    ]
    assert "having sum(__tidemark_side) != 0" in executor.queries[1]
    commit = SimpleNamespace(rows=5, deleted=4)
    assert change.written(commit) == {"inserted": 5, "deleted": 4, "commit": commit}
    same = Recording([[distinct("2025-01-01")], [distinct()]])
    assert not replace_partitions(same, SALES, BATCH).statement
    with pytest.raises(Refused, match="needs one partition_by column, not 0"):
        replace_partitions(Recording([]), replace(SALES, partitions=()), BATCH)


def test_columns_are_rebuilt_by_key() -> None:
    """R2.3: rows that differ otherwise are counted, and a new column is read as NULL."""
    executor = Recording([outcomes(updated=1, other=2)])
    change = rebuild_columns(executor, SALES, BATCH, Rebuilt(["amount"], ["amount"], "id > 5"))
    assert change.counts == {"updated": 1, "unchanged": 0, "other": 2}
    assert change.statement.endswith("when matched then update set `amount` = incoming.`amount`")
    assert "cast(null as double) as `amount`" in executor.views["outcomes"]
    assert executor.views["outcomes"].count("(id > 5)") == 2


def test_rows_that_only_the_table_has_are_counted() -> None:
    """R2.3: by key; by whole rows without one; all of them if the table does not have the key."""
    row = [{"number": 2, "example": "x"}]
    executor = Recording([row, row, row])
    assert lost_rows(executor, SALES, BATCH).number == 2
    lost_rows(executor, replace(SALES, keys=()), BATCH)
    lost_rows(executor, replace(SALES, keys=("moved",)), BATCH)
    by_key, by_row, whole = executor.queries
    assert "left anti join" in by_key
    assert "having sum(__tidemark_side) > 0" in by_row
    assert whole == "select count(*) as number, cast(null as string) as example from gold.sales"
