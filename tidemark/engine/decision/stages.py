"""Whether a query is maintained in stages, and from which version of its table a stage goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tidemark.engine.checkpoints.rows import Checkpoints, Contract, latest
from tidemark.engine.checkpoints.window import Window
from tidemark.engine.decision.states import INCREMENTAL
from tidemark.engine.decision.tables import TableState
from tidemark.engine.decision.ways import ALWAYS, AUTO
from tidemark.engine.incremental.request import Request
from tidemark.engine.incremental.stages import StagesWanted

STAGED_BYTES = 1024**3  # below, a full computation takes no longer than the statements of a stage


FEW_GROUPS = 1000  # times the bytes of the model's table in the sources: a group has many rows


def stages_wanted(way: str, request: Request, *, are_there: Callable[[], bool]) -> StagesWanted:
    """Return which stages a query gets.

    A stage that is there is kept up to date in each run: left behind, it would have to be made anew.

    Args:
        way: how one step brings the model's table up to date: `full`, `regions`, `folded` or `rows`.
        request: what is known of the model and of the changes.
        are_there: whether an earlier run made stages; asked only where stages pay.
    """
    if not makes_stages(request.maintain, request.sizes):
        return StagesWanted(needed=False)
    is_kept = are_there()
    few_groups = request.size * FEW_GROUPS <= sum(request.sizes.values())
    return StagesWanted(
        needed=way == "full" or is_kept,
        counts=way in ("full", "regions") or request.removes or is_kept,
        rows=few_groups and (way in ("full", "regions") or is_kept),
    )


def makes_stages(maintain: str, sizes: Mapping[str, int]) -> bool:
    """Return whether a query that no single step maintains is maintained in stages.

    Args:
        maintain: the setting `meta.maintain`.
        sizes: the bytes of the tables that the query reads; empty if they are not known.
    """
    return maintain == ALWAYS or (maintain == AUTO and sum(sizes.values()) >= STAGED_BYTES)


def base_version(
    stage: str, windows: Iterable[Window], contract: Contract, known: Checkpoints, now: TableState | None
) -> int | None:
    """Return the version of a stage's table that has the rows of what the model has read.

    Args:
        stage: the table of the stage.
        windows: what this run reads of each table that the stage reads.
        contract: the fingerprint of the stage's query.
        known: all checkpoints.
        now: the table; None if there is none.

    Returns:
        None if there is no such version, or the table has another one now: the stage is made anew.
    """
    if now is None:
        return None
    own = []
    for window in windows:
        checkpoint = known.of(stage, window.source)
        version = window.after if window.state == INCREMENTAL else window.last
        if checkpoint is None or checkpoint.version != version or checkpoint.source_id != window.source_id:
            return None
        if checkpoint.contract.code != contract.code or checkpoint.table_id != now.id:
            return None
        own.append(checkpoint)
    newest = latest(own)
    return now.version if [each.table_version for each in newest] == [now.version] else None
