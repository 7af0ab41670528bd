"""Error messages in `ops.runs` that quote a person's values, such as the key of a row that broke a rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from python_ingest.bronze.suppression import SEPARATORS
from python_ingest.erasure.landed import update_places
from python_ingest.erasure.person import Person
from python_ingest.lake.hidden_rows import hidden_rows
from python_ingest.lake.table_format import table_exists
from python_ingest.ops.erasures import REASON

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def quoting_runs(spark: SparkSession, person: Person, texts: Sequence[str], runs: str) -> DataFrame | None:
    """Return the runs with messages that quote the person, and what the messages shall be.

    A message quotes the person if it contains a value that is long enough to be searched, or if the columns
    of the key and their values are words of it, as in `2 rows of the key {"customer_id":42}`.

    Args:
        spark: the session.
        person: the person.
        texts: the person's values that are long enough.
        runs: the table `ops.runs`.

    Returns:
        `invocation_id` and `model_runs`; None if the table does not exist.
    """
    if not table_exists(spark, runs):
        return None
    listed = hidden_rows(spark, "_text string", [[text] for text in texts])
    beside = (
        spark.table(runs)
        .crossJoin(f.broadcast(person.view(spark)))
        .crossJoin(f.broadcast(listed.agg(f.collect_list("_text").alias("_texts"))))
    )

    def quotes(message: Column) -> Column:
        words, names = f.split(message, SEPARATORS), f.array(*map(f.lit, person.key))
        has_key = person.has_words(message) & (f.size(f.array_except(names, words)) == 0)
        has_value = f.exists("_texts", lambda text: f.contains(message, text))
        return f.coalesce(has_key | has_value, f.lit(False))

    def without(run: Column) -> Column:
        message = run["message"]
        return run.withField("message", f.when(quotes(message), REASON).otherwise(message))

    found = beside.where(f.exists("model_runs", lambda run: quotes(run["message"])))
    return found.select("invocation_id", f.transform("model_runs", without).alias("model_runs"))


def erase_messages(changed: DataFrame | None, runs: str) -> int:
    """Take messages that quote the person out of the record of runs, in one commit.

    Args:
        changed: what `quoting_runs` returns.
        runs: the table `ops.runs`.

    Returns:
        The number of runs whose messages have changed; if it is 0, nothing is committed.
    """
    number = 0 if changed is None else changed.count()
    if changed is not None and number:
        same = "present.invocation_id = place.invocation_id"
        update_places(runs, changed, same, {"model_runs": "place.model_runs"})
    return number
