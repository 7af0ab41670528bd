"""The page of `benchmarks.queries`: how each query was kept up to date, and what that took."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from pyspark.sql import SparkSession

from benchmarks.refreshes import REFRESHES
from benchmarks.report import how_measured, markdown_table
from tidemark.base.output import count_of
from tidemark.engine.decision.costs import MORE, Choices

UNREAD = "not read"
ORDERS = 3  # the first sets change orders and lineitems
LAST = ("full refresh, s", "full / increment")


@dataclass
class Query:
    """A model's runs.

    Attributes:
        name: the model.
        rounds: of each time that the sets were applied, the seconds of the run after a set, and how it
            brought the table up to date, by the set's name. A table whose sources did not change has none.
        full: the seconds of a full refresh.
        differing: rows that differed from a rebuild, after any of the runs.
    """

    name: str
    rounds: list[dict[str, tuple[float, str]]] = field(default_factory=list)
    full: float = 0.0
    differing: int = 0

    def increment(self, nth: int = 0) -> float | None:
        """Return the median seconds after changes of orders and lineitems, of one time that they came."""
        of = self.rounds[nth]
        found = [of[refresh.name][0] for refresh in REFRESHES[:ORDERS] if refresh.name in of]
        return median(found) if found else None

    def ratio(self, nth: int = 0) -> float | None:
        """Return the seconds of a full refresh over those of an increment."""
        increment = self.increment(nth)
        return self.full / increment if increment else None

    def way(self, refresh: str, nth: int = 0) -> str:
        """Return how the table was brought up to date after a set of changes."""
        return self.rounds[nth].get(refresh, (0.0, UNREAD))[1]

    def row(self, nth: int = 0) -> list[str]:
        """Return the row of the table in the report."""
        seconds = [self.rounds[nth].get(refresh.name, (None, ""))[0] for refresh in REFRESHES]
        numbers = [f"{one:.1f}" if one is not None else "–" for one in (*seconds, self.full, self.ratio(nth))]
        return [self.name, self.way(REFRESHES[0].name, nth), *numbers]


def write(  # noqa: PLR0913
    path: Path,
    command: str,
    spark: SparkSession,
    rows: dict[str, int],
    queries: list[Query],
    *,
    found_right: Choices,
) -> None:
    """Write the markdown file.

    Args:
        path: the markdown file.
        command: the command that reproduces the numbers.
        spark: the measured session.
        rows: the rows of each table of the first load.
        queries: the measured queries.
        found_right: how many runs took the cheaper way.
    """
    names = [refresh.name for refresh in REFRESHES]
    read = [query for query in queries if names[0] in query.rounds[0]]
    kept = [query for query in read if not query.way(names[0]).startswith("full")]
    ratios = [ratio for query in read if (ratio := query.ratio())]
    faster = sum(ratio > 1 for ratio in ratios)
    is_proved = "--no-prove" not in command
    differing = sum(query.differing for query in queries)
    proof = (
        f"Over all sets of changes and all tables, {differing} rows differ from the rebuilds."
        if is_proved
        else "The tables were not compared with rebuilds at this scale."
    )
    compared = "`tidemark verify` compares each table with its rebuild, row for row."
    header = ["query", "orders and lineitem changed", *(f"{name}, s" for name in names)]
    lines = [
        "# TPC-H as incremental models",
        "",
        "The 22 queries of TPC-H are dbt models in plain SQL (`benchmarks/tpch`). Their eight sources are",
        "Delta tables with a change data feed. After each set of changes, `dbt run` brings all tables up to",
        "date. Seconds are those of one model in `ops.model_runs`. The models run one at a time, in a warm",
        "session.",
        *([compared] if is_proved else []),
        "",
        *how_measured(
            command,
            spark,
            after=f"There are {rows['orders']:,} orders and {rows['lineitem']:,} lineitems. The machine's "
            f"load average, over 15 minutes, was {os.getloadavg()[2]:.1f} at the end.",
        ),
        "",
        f"In short: orders and lineitem change, and the runs maintain {len(kept)} of the {len(read)} tables",
        "that read them without computing the whole query.",
        proof,
        "",
        f"At this scale, an increment takes less time than a full refresh for {faster} of these tables.",
        f"A full refresh takes {median(ratios):.1f} times as long in the median, {min(ratios):.1f} at worst.",
        f"Of {found_right.runs} runs whose other way was known, {found_right.right} took the cheaper.",
        "",
        "## The sets of changes",
        "",
        *(f"- **{refresh.name}**: {refresh.changes}" for refresh in REFRESHES),
        "",
        "## The queries",
        "",
        *markdown_table([*header, *LAST], [query.row() for query in queries]),
        "",
        "*full / increment* divides the seconds of a full refresh by the median of the first three sets.",
        "",
        "- *folded*: the changed rows are added to and subtracted from the present groups.",
        "- *touched …*: the query is computed again for the values of these columns that the changes touch.",
        "- *changed rows*: the changed rows of the table follow from those of its sources.",
        "- *in … stages*: parts of the query have tables of their own, each kept in one of these ways;",
        "  the model's table follows from them. *Read whole*: the last operator reads all rows of a stage.",
        "- *full*: the whole query is computed, and the rows that differ are written. The reason follows.",
        "",
        "## When the other tables change",
        "",
        *markdown_table(["query", "how"], [[query.name, query.way(names[-1])] for query in queries]),
        *(line for nth in range(1, len(queries[0].rounds)) for line in _again(nth, queries, header)),
        "",
        "## What differs from the text of TPC-H",
        "",
        "- Each model has a `unique_key`. Queries with one row (6, 14, 17, 19) have a constant key, `scope`.",
        "- The view of query 15 is a CTE. Queries without `limit` have no `order by`: tables have no order.",
        "- In queries with `limit`, the order ends with the key. So the same rows always come first.",
        "- Query 1 also selects `sum(l_discount)`.",
        "- In queries 6 and 19, the sum of no rows is 0.",
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _again(nth: int, queries: Sequence[Query], header: Sequence[str]) -> list[str]:
    """Return the section of a later time that the sets came: now the ways are chosen by what runs took."""
    ratios = [ratio for query in queries if (ratio := query.ratio(nth))]
    dear = [query.name for query in queries if (query.ratio(nth) or 1) < 1 / MORE]
    return [
        "",
        f"## The sets, time {nth + 1}",
        "",
        "The same sets, of other rows. Each way was measured by then, and is chosen by its seconds.",
        f"A full refresh takes {median(ratios):.1f} times as long in the median, {min(ratios):.1f} at worst.",
        f"An increment takes more than {MORE} times a full refresh for {count_of(len(dear), 'table')}"
        f"{': ' if dear else ''}{', '.join(dear)}.",
        "",
        *markdown_table([*header, *LAST], [query.row(nth) for query in queries]),
    ]
