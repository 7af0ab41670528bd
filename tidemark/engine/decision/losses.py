"""Why the changes since a checkpoint do not lead to the table of a rebuild, in words for a run's output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from tidemark.engine.checkpoints.rows import JOINED, Checkpoint
from tidemark.engine.decision.commits import Commit
from tidemark.engine.decision.facts import Facts, Source
from tidemark.engine.decision.tables import DELTA, TableState

FEED = "delta.enableChangeDataFeed"
COLUMNS = ("RENAME COLUMN", "DROP COLUMNS", "REPLACE COLUMNS")
TYPES = ("CHANGE COLUMN", "CHANGE COLUMNS")
OF_HOOKS = ("delete", "update", "overwrite")


def may_change_rows(commits: Iterable[Commit]) -> bool:
    """Return whether a table may have other rows after these commits."""
    return any(not commit.keeps_rows for commit in commits)


def lost_history(name: str, now: TableState, checkpoint: Checkpoint, is_landed: bool) -> str | None:
    """Return why the changes of a source after a checkpoint cannot be read one by one; None if they can.

    Args:
        name: the source, `schema.table`.
        now: the source.
        checkpoint: up to where it was read.
        is_landed: whether it only grows, as what a feed lands.
    """
    version = checkpoint.version
    assert version is not None  # noqa: S101  # of a watermark
    if not now.has(checkpoint):
        if now.format == DELTA:
            return f"{name} was replaced after version {version} was read"
        return f"{name} was replaced after snapshot {version} was read, or that snapshot was expired"
    if now.age(version) == 0:
        return None
    look = _lost_in_delta if now.format == DELTA else _lost_in_iceberg
    return look(name, now, version, is_landed)


def lost_version(source: Source) -> str | None:
    """Return why a joined table is no longer available at its checkpoint; None if it is."""
    now, checkpoint = source.versioned
    is_there = checkpoint.kind == JOINED and now.has(checkpoint)
    return None if is_there else f"{source.name} was replaced"


def lost_join(source: Source) -> str | None:
    """Return why a joined table may return other rows than at its checkpoint; None if it does not."""
    now, checkpoint = source.versioned
    if checkpoint.kind == JOINED and checkpoint.version is not None and now.has(checkpoint):
        commits = now.since(checkpoint.version)
        if len(commits) == now.age(checkpoint.version) and not may_change_rows(commits):
            return None
    return f"{source.name} changed, and is joined as it is"


def lost_table(facts: Facts) -> str | None:  # noqa: PLR0911
    """Return why a model's table is not as its runs left it; None if it is, or was never recorded."""
    checkpoint, now = facts.newest, facts.own
    if not checkpoint or now is None:
        return None
    version = checkpoint.table_version
    assert version is not None  # noqa: S101  # facts.newest has one
    if checkpoint.table_id not in (None, now.id) or now.age(version) is None:
        return f"{facts.table} was replaced or rolled back after its last run"
    if other := facts.other_source(checkpoint):
        return f"{facts.table} was last built from {other}"
    of_hook = OF_HOOKS if facts.has_hooks and not facts.has_one_session else ()
    for commit in now.since(version):
        if commit.is_foreign and commit.operation.lower() not in of_hook:
            return f"{facts.table} had a {commit.operation} after its last run"
        if commit.operation == "CLONE":
            return f"{facts.table} was cloned after its last run"
        if commit.tells_net_changes and not commit.keeps_rows and not facts.has_hooks:
            # what came and went since then is in the table, and in no change that the next run would read
            return f"{facts.table} was written by a run that was interrupted"
    return None


def is_written_since_checkpoint(facts: Facts) -> bool:
    """Return whether a model's table has other rows than its checkpoint says: a run was interrupted."""
    checkpoint, now = facts.newest, facts.own
    if not checkpoint or now is None or checkpoint.table_version is None:
        return True
    is_known = now.age(checkpoint.table_version) is not None
    return not is_known or may_change_rows(now.since(checkpoint.table_version))


def is_clean(facts: Facts) -> bool:
    """Return whether a model's table has the rows of its query at its checkpoint, and no others."""
    return not facts.way.accumulates and not is_written_since_checkpoint(facts)


def is_doubtful(facts: Facts) -> bool:
    """Return whether a model's table may not be what its checkpoint says."""
    return lost_table(facts) is not None or is_written_since_checkpoint(facts)


def _lost_in_delta(  # noqa: PLR0911
    name: str, now: TableState, version: int, is_landed: bool
) -> str | None:
    """Return why the change data feed does not hold everything after a version."""
    if now.properties.get(FEED) != "true":
        switch = f"`alter table {name} set tblproperties ('{FEED}' = 'true')` switches it on"
        return f"{name} has no change data feed; {switch}"
    commits = now.since(version)
    if len(commits) < now.version - version:
        return f"the log of {name} no longer has version {version + 1}"
    widens = now.properties.get("delta.enableTypeWidening") == "true"
    for commit in commits:
        did = commit.operation
        if did == "SET TBLPROPERTIES" and FEED in str(commit.parameters.get("properties", "")):
            return f"the change data feed of {name} was enabled at version {commit.version}"
        if did == "VACUUM START" and _is_swept(commits, commit):
            return f"{name} was vacuumed at version {commit.version} before its changes were read"
        if did in COLUMNS or (did in TYPES and widens):
            return f"the columns of {name} were changed at version {commit.version} ({did})"
        if is_landed and (did in ("MERGE", "UPDATE") or commit.overwrites):
            return f"{name} is append-only, but had a {did} after version {version}"
    return None


def _is_swept(commits: Sequence[Commit], vacuum: Commit) -> bool:
    """Return whether a VACUUM deleted files of a commit, because it is older than the retention."""
    given = vacuum.parameters.get
    retention = given("specifiedRetentionMillis") or given("defaultRetentionMillis") or 0
    horizon = vacuum.at - timedelta(milliseconds=int(retention))
    return any(
        not each.keeps_rows and each.version < vacuum.version and each.at < horizon for each in commits
    )


def _lost_in_iceberg(name: str, now: TableState, version: int, is_landed: bool) -> str | None:
    """Return why a source that is read as append-only is not. Snapshots hold all changes."""
    for commit in now.since(version) if is_landed else ():
        if not commit.keeps_rows and not commit.adds_rows:
            what = f"a snapshot that is an {commit.operation} after snapshot {version}"
            return f"{name} is append-only, but had {what}"
    return None
