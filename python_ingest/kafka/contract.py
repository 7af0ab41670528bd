"""The contract of a topic: how to treat messages with other fields, or with values that do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from python_ingest.bronze.columns import Target
from python_ingest.bronze.contract import AGAINST
from python_ingest.bronze.rescued import FIELDS, MISFIT, UNDECLARED
from python_ingest.feeds.declarations import TopicFeed
from tidemark.base.errors import LandingError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

WORDS = {"new_column": UNDECLARED, "type_change": MISFIT}


def that_rejects(feed: TopicFeed) -> TopicFeed:
    """Return a feed whose contract rejects the messages that could stop a batch."""
    contract = feed.external.contract
    policies = {kind: "reject" for kind in WORDS if getattr(contract, kind) == "fail"}
    external = feed.external.model_copy(update={"contract": contract.model_copy(update=policies)})
    return feed.model_copy(update={"external": external})


def rejected_by(feed: TopicFeed, targets: Sequence[Target]) -> Column | None:
    """Return why the contract rejects a decoded message: NULL if it does not; None if it rejects none.

    Args:
        feed: the feed.
        targets: the bronze table's columns.
    """
    found, stops = _breaches(feed, targets, "reject"), _breaches(feed, targets, "fail")
    if not found:
        return None
    return f.when(f.coalesce(*stops.values(), f.lit(None)).isNull(), f.coalesce(*found.values()))


def check_contract(feed: TopicFeed, rows: DataFrame, targets: Sequence[Target]) -> None:
    """Stop a batch with a message that the contract does not allow; reads the rows if the contract can stop.

    Args:
        feed: the feed.
        rows: decoded messages.
        targets: the bronze table's columns.

    Raises:
        LandingError: if the contract says `fail` for what a message has; the first one is named.
    """
    found = _breaches(feed, targets, "fail")
    if not found:
        return
    reason = f.coalesce(*found.values())
    place = f.struct("_message_partition", "_message_offset", reason.alias("reason"))
    first: Any = rows.agg(f.min(f.when(reason.isNotNull(), place)).alias("first")).collect()[0]["first"]
    if first:
        raise LandingError(
            f"Feed '{feed.name}': the message at offset {first['_message_offset']} of "
            f"{feed.external.topic}/{first['_message_partition']}: {first['reason']}. None of its batch "
            "landed.",
            f"Declare the fields in {feed.declared_in}, or change `contract` there. The next landing "
            "continues with this batch.",
        )


def check_share(feed: TopicFeed, rows: DataFrame) -> None:
    """Stop a batch with more rejected messages than its feed allows; if there is a limit, reads the rows.

    Raises:
        LandingError: if there are too many.
    """
    most = feed.external.max_rejected_share
    if most is None:
        return
    found: Any = rows.agg(f.count("*"), f.count("_corrupt_reason"), f.min("_corrupt_reason")).first()
    if found[1] > most * found[0]:
        raise LandingError(
            f"Feed '{feed.name}': {found[1]:,} of {found[0]:,} messages are rejected, so none of "
            f"them landed (max_rejected_share: {most}). Example: {found[2]}.",
            f"Fix the columns, the format or the contract in {feed.declared_in}, or raise the limit.",
        )


def _breaches(feed: TopicFeed, targets: Sequence[Target], policy: str) -> dict[str, Column]:
    """Return, for each kind that has the policy, what is wrong with a message; NULL if nothing is."""
    names = f.json_object_keys("_rescued_data")
    columns = f.array(*[f.lit(target.in_file) for target in targets]).cast("array<string>")
    fields = {"new_column": f.array_except(names, columns), "type_change": f.array_intersect(names, columns)}
    listed = {kind: f.slice(f.array_sort(found), 1, FIELDS) for kind, found in fields.items()}
    return {
        kind: f.when(
            f.size(found) > 0, f.concat(f.lit(f"{AGAINST}{WORDS[kind]}: "), f.array_join(found, ", "))
        )
        for kind, found in listed.items()
        if getattr(feed.external.contract, kind) == policy
    }
