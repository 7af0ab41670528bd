"""Check a model with all rules, except those that its SQL allows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tidemark.engine.project.declared_keys import declared_keys
from tidemark.engine.project.model_code import ASKS_INCREMENTAL, code_texts
from tidemark.engine.project.model_way import model_way
from tidemark.engine.project.nodes import is_ephemeral, read_nodes
from tidemark.engine.sqlcheck.finding import Finding, Table, Tables
from tidemark.engine.sqlcheck.lineage import Lineage
from tidemark.engine.sqlcheck.parsing import LANDING_ORDER, parsed
from tidemark.engine.sqlcheck.rules import NAMED, RULES, TAKE_FROM_SOURCE
from tidemark.engine.sqlcheck.text_order import declared_types, newest_by_text, text_columns

LANDED = ("_batch_id", "_row_number")  # what numbers the rows of a feed
ALLOWED = re.compile(r"--\s*tidemark:\s*allow\s+(?P<rule>\w+)\s*:?[ \t]*(?P<reason>[^\n]*)")
CALLED = re.compile(
    rf"\b(current_(timestamp|date|time)|({'|'.join([*NAMED, 'rand', 'randn', 'uuid'])}) \()",
    re.IGNORECASE,
)


def findings(
    raw_code: str, tables: Tables, used: Sequence[str] = (), *, is_staging: bool = False
) -> list[Finding]:
    """Return the findings in a model's SQL, without those that it allows.

    `-- tidemark: allow <rule>: <reason>` anywhere in the SQL turns a rule off.

    Args:
        raw_code: the SQL of an incremental model, as written in its file.
        tables: the known tables that the model reads, by name, such as `orders` or `bronze.orders`.
        used: the normalized code of the views and macros that the model uses.
        is_staging: whether it is a staging model that is read by `changes()`.
    """
    found = []
    if model := parsed(raw_code):
        if is_staging:
            model.readings |= {name: replace(one, kind="changes") for name, one in model.readings.items()}
        lineage = Lineage(model)
        found = [finding for rule in RULES for finding in rule(model, lineage, tables)]
    if not any(finding.rule == "unsettled" for finding in found):
        found += _asked_elsewhere(used)
    allowed = allowed_rules(raw_code)
    unexplained = [
        Finding(rule, _line_in(raw_code, rule), f"`allow {rule}` has no reason.", "Write one after a colon.")
        for rule, reason in allowed.items()
        if not reason
    ]
    kept = [finding for finding in found if not allowed.get(finding.rule)]
    return sorted({*kept, *unexplained}, key=lambda finding: (finding.line, finding.rule))


def allowed_rules(raw_code: str) -> dict[str, str]:
    """Return the rules that a model's SQL turns off, with its reason, which may be empty."""
    return {match["rule"]: match["reason"].strip() for match in ALLOWED.finditer(raw_code)}


def findings_of(manifest: Any, unique_id: str) -> list[Finding]:
    """Return the findings of a model, without those that its SQL allows.

    Args:
        manifest: dbt's manifest.
        unique_id: the model's unique id.

    Returns:
        The findings; empty for a model that is not incremental, is not proven, or calls `is_incremental()`.
    """
    node = manifest.nodes[unique_id]
    way = model_way(manifest, unique_id)
    own, *used = code_texts(manifest, unique_id)
    if not way.name or way.why_unproven or any(map(ASKS_INCREMENTAL.search, (own, *used))):
        return []
    found = findings(node.raw_code, _tables(manifest, node), used)
    newest_by = (node.config.meta or {}).get("newest_by") or ()
    ordering = (newest_by,) if isinstance(newest_by, str) else tuple(newest_by)
    staged = _findings_of_staging(manifest, node)
    return [*newest_by_text(ordering, declared_types(node.columns)), *found, *staged]


def _findings_of_staging(manifest: Any, node: Any, *, is_staging: bool = False) -> Iterator[Finding]:
    """Yield the findings of the staging models that a model, or a staging model, reads by `changes()`."""
    model = parsed(node.raw_code)
    read = model.readings.values() if model else ()
    names = {one.relation for one in read if is_staging or one.kind == "changes"}
    for below in read_nodes(manifest, node):
        if below.name in names and is_ephemeral(below):
            for one in findings(below.raw_code, _tables(manifest, below), is_staging=True):
                message = f"line {one.line} of {below.original_file_path}: {one.message}"
                yield replace(one, line=1, message=message)
            yield from _findings_of_staging(manifest, below, is_staging=True)


def _asked_elsewhere(used: Sequence[str]) -> Iterator[Finding]:
    """Yield a finding for the first random or clock function that views or macros call."""
    if called := next((match for match in map(CALLED.search, used) if match), None):
        message = (
            f"a view or macro that it uses calls {called[1].rstrip(' (')}(): a rebuild would give other rows."
        )
        yield Finding("unsettled", 1, message, TAKE_FROM_SOURCE)


def _line_in(raw_code: str, rule: str) -> int:
    match = next(match for match in ALLOWED.finditer(raw_code) if match["rule"] == rule)
    return raw_code.count("\n", 0, match.start()) + 1


def _tables(manifest: Any, node: Any) -> dict[str, Table]:
    tables = {}
    for below in read_nodes(manifest, node):
        texts = text_columns(declared_types(below.columns))
        keys = tuple(declared_keys(manifest, below))
        is_source = below.resource_type == "source"
        name = f"{below.source_name}.{below.name}" if is_source else below.name
        if _has_landed_rows(manifest, below):
            tables[name] = Table((LANDING_ORDER,), texts, (LANDED, *keys))
        elif is_source:
            tables[name] = Table(keys=keys)
        else:
            tables[name] = Table(keys[0] if keys else (), texts, keys[1:])
    return tables


def _has_landed_rows(manifest: Any, node: Any) -> bool:
    """Return whether a node is a feed, or a staging model of one feed and of nothing else."""
    if node.resource_type == "source":
        return node.external is not None  # dbt treats `external` without a location as false
    below = read_nodes(manifest, node) if is_ephemeral(node) else []
    return len(below) == 1 and _has_landed_rows(manifest, below[0])
