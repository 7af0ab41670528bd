"""Check a model with all rules, except those that its SQL allows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from tidemark.engine.project.declared_keys import declared_keys
from tidemark.engine.project.model_code import ASKS_INCREMENTAL, code_texts
from tidemark.engine.project.model_way import model_way
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


def findings(raw_code: str, tables: Tables, used: Sequence[str] = ()) -> list[Finding]:
    """Return the findings in a model's SQL, without those that it allows.

    `-- tidemark: allow <rule>: <reason>` anywhere in the SQL turns a rule off.

    Args:
        raw_code: the SQL of an incremental model, as written in its file.
        tables: the known tables that the model reads, by name, such as `orders` or `bronze.orders`.
        used: the normalized code of the views and macros that the model uses.
    """
    found = []
    if model := parsed(raw_code):
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
    return [*newest_by_text(ordering, declared_types(node.columns)), *found]


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
    for name in node.depends_on.nodes:
        below = manifest.sources.get(name) or manifest.nodes.get(name)
        if below is None:
            continue
        texts = text_columns(declared_types(below.columns))
        keys = tuple(declared_keys(manifest, below))
        if name in manifest.sources:
            # dbt treats `external` without a location as false
            feed = below.external is not None
            table = Table((LANDING_ORDER,), texts, (LANDED, *keys)) if feed else Table(keys=keys)
            tables[f"{below.source_name}.{below.name}"] = table
        else:
            tables[below.name] = Table(keys[0] if keys else (), texts, keys[1:])
    return tables
