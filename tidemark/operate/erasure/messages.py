"""Messages and variables in `ops.runs` that quote a person, such as the key of a row that broke a rule."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from python_ingest.bronze.suppression import SEPARATORS
from python_ingest.ops.erasures import REASON
from tidemark.engine.built_with import HIDDEN
from tidemark.lake.hidden_rows import hidden_rows
from tidemark.lake.table_format import table_exists
from tidemark.lake.tables import local_rows
from tidemark.operate.erasure.landed import update_places
from tidemark.operate.erasure.person import Person

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def quoting_runs(spark: SparkSession, person: Person, texts: Sequence[str], runs: str) -> DataFrame | None:
    """Return the runs with messages or variables that quote the person, and what these shall be.

    A message quotes the person if it contains a value that is long enough to be searched, or if the columns
    of the key and their values are words of it, as in `2 rows of the key {"customer_id":42}`. A variable that
    quotes the person is hidden as a secret is.

    Args:
        spark: the session.
        person: the person.
        texts: the person's values that are long enough.
        runs: the table `ops.runs`.

    Returns:
        `invocation_id`, `model_runs` and `vars`; None if the table does not exist.
    """
    if not table_exists(spark, runs):
        return None
    listed = hidden_rows(spark, "_text string", [[text] for text in texts])
    joined = (
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

    changed = local_rows(
        spark, "invocation_id string, _vars string", _changed_variables(spark.table(runs), person, texts)
    )
    joined = joined.join(f.broadcast(changed), on="invocation_id", how="left")
    is_quoted = f.coalesce(f.exists("model_runs", lambda run: quotes(run["message"])), f.lit(False))
    return joined.where(is_quoted | f.col("_vars").isNotNull()).select(
        "invocation_id",
        f.transform("model_runs", without).alias("model_runs"),
        f.coalesce("_vars", "vars").alias("vars"),
    )


def _changed_variables(runs: DataFrame, person: Person, texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return the runs with a variable that quotes the person, and what their variables shall be."""
    found: list[Any] = runs.where("vars <> '{}'").select("invocation_id", "vars").collect()
    changed = [(row[0], row[1], hidden_variables(row[1], person.key.items(), texts)) for row in found]
    return [(run, after) for run, before, after in changed if after != before]


def hidden_variables(variables: str, key: Collection[tuple[str, str]], texts: Sequence[str]) -> str:
    """Return variables without those that quote a person: the others as they were.

    Args:
        variables: as JSON.
        key: the columns and values of the key; a variable of the same name and value quotes the person.
        texts: other values, which may be a part of a variable.
    """
    known: dict[str, Any] = json.loads(variables)
    matches = [
        name
        for name, value in known.items()
        if (name, str(value)) in key
        or any(text in json.dumps(value, ensure_ascii=False, default=str) for text in _as_written(texts))
    ]
    return json.dumps(known | dict.fromkeys(matches, HIDDEN), sort_keys=True) if matches else variables


def _as_written(texts: Sequence[str]) -> set[str]:
    return {json.dumps(text, ensure_ascii=False)[1:-1] for text in texts}


def erase_messages(changed: DataFrame | None, runs: str) -> int:
    """Take messages and variables that quote the person out of the record of runs, in one commit.

    Args:
        changed: what `quoting_runs` returns.
        runs: the table `ops.runs`.

    Returns:
        The number of runs that have changed; if it is 0, nothing is committed.
    """
    number = 0 if changed is None else changed.count()
    if changed is not None and number:
        same = "present.invocation_id = place.invocation_id"
        update_places(runs, changed, same, {"model_runs": "place.model_runs", "vars": "place.vars"})
    return number
