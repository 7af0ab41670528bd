"""The code of a model or a test: what determines its rows or its outcome, apart from the tables it reads.

The code is the written SQL of the node and of the views that it reads, and the macros that they use.
Comments, white space and `config(…)` do not count. Of the engine's macros, only those count that put row
logic into a query: the others decide how a model reads and writes, not what its rows are. If a change to
them alters rows, it must increase ENGINE_REVISION.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import sha256
from pathlib import PurePath
from typing import Any

ENGINE_REVISION = 1
ENGINE = "dbt_tidemark"  # the package
PREFIX = "tidemark__"  # of the engine's macros; it does not count
ROW_LOGIC = ("staging", "change_records")  # its macro folders that put row logic into a query
DBT = ("dbt", "dbt_spark")
TOKEN = re.compile(
    r"\{\{-?\s*(?:config\(.*?\)|dbt\.tidemark__plain_reads\(\))\s*-?\}\}|\{#.*?#\}|--[^\n]*|/\*.*?\*/|\s+"
    r"""|(?P<kept>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|\w+|.)""",
    re.DOTALL,
)
ASKS_INCREMENTAL = re.compile(r"\bis_incremental\b")
NAMED = r"""\b{}\s*\(\s*['"]\s*([^'"]+?)\s*['"]"""  # also in a quoted text, whose quotes separate it
# Macros that have got another text, but give the same rows to the code that used them before. They count with
# their earlier text, so that the tables are not built again.
EARLIER_TEXTS = {
    "macro.dbt_tidemark.rejection_reason": "{% macro rejection_reason(rules) -%} case "
    "{% for broken, words in rules -%} when {{ broken }} then '{{ dbt.escaped(words) }}' {% endfor -%} end "
    "{%- endmacro %}",
    "macro.dbt_tidemark.rejections": "{% macro rejections(staged) %} with staged as ( {{ staged }} ) "
    "select if(_corrupt_record rlike '^erased: [0-9a-f]{16}$', 'erased', rejection_reason) "
    "as rejection_reason, raw_record, _corrupt_record, _source_file, _batch_id, _row_number, _ingested_at "
    "from staged where rejection_reason is not null {% endmacro %}",
}
# functions and literals of SQL whose values change even if no table changes
CLOCK_AND_CHANCE = re.compile(
    r"\b(current_timestamp\w*|current_date|current_time|localtimestamp|now|curdate|getdate|unix_timestamp|"
    r"rand|randn|random|randstr|uuid|shuffle|monotonically_increasing_id|spark_partition_id|input_file_name|"
    r"current_timezone|current_user|session_user|current_catalog|current_database|current_schema)\b|"
    r"\b(user|uniform|reflect|try_reflect|java_method)\s*\(|"
    r"\b(date|timestamp|timestamp_ltz|timestamp_ntz)\s*'\s*(now|today|tomorrow|yesterday)\s*'",
    re.IGNORECASE,
)
# the same of Jinja, and what reads more than the tables that a node names
UNSETTLED = re.compile(
    rf"{CLOCK_AND_CHANCE.pattern}|"
    r"\b(run_started_at|invocation_id|modules|py_current_timestring|run_query|statement|load_result|graph)\b",
    re.IGNORECASE,
)
CONDITIONS = ("where", "fail_calc", "warn_if", "error_if", "sql_header")  # SQL in a node's config


def code_of(manifest: Any, unique_id: str) -> dict[str, Any]:
    """Return the parts of a node's code that can be compared.

    Args:
        manifest: dbt's manifest.
        unique_id: the id of a model or a test.

    Returns:
        `sql` and `macros`, a fingerprint of each; `variables` and `environment`, the names that the code
        reads with `var()` and `env_var()`; `unsettled`, a part of it that may change the outcome by itself;
        `asks_incremental`, whether it calls `is_incremental()`.
    """
    texts, used = _texts(manifest, unique_id)
    everything = " ".join([*texts, *used])
    settings = _settings(manifest.nodes[unique_id])
    unsettled = UNSETTLED.search(" ".join([everything, *settings]))
    return {
        "sql": _fingerprint(texts),
        "macros": _fingerprint([str(ENGINE_REVISION), *used]),
        "variables": _names("var", everything),
        "environment": _names("env_var", everything),
        "unsettled": unsettled.group() if unsettled else None,
        "asks_incremental": ASKS_INCREMENTAL.search(everything) is not None,
    }


def code_texts(manifest: Any, unique_id: str) -> list[str]:
    """Return a node's normalized code: its own SQL, that of the views it reads, and the macros used.

    Args:
        manifest: dbt's manifest.
        unique_id: the id of a model or a test.
    """
    texts, used = _texts(manifest, unique_id)
    return [*texts, *used]


def macros_below(manifest: Any, node: Any) -> set[str]:
    """Return the ids of all macros that a node uses, directly or indirectly."""
    waiting, found = list(node.depends_on.macros), set()
    while waiting:
        name = waiting.pop()
        if name not in found and name in manifest.macros:
            found.add(name)
            waiting += manifest.macros[name].depends_on.macros
    return found


def _texts(manifest: Any, unique_id: str) -> tuple[list[str], list[str]]:
    nodes = list(_with_views(manifest, manifest.nodes[unique_id]))
    macros = sorted(set(_macros(manifest, nodes)))
    return [normalized(node.raw_code) for node in nodes], [
        normalized(EARLIER_TEXTS.get(name) or manifest.macros[name].macro_sql) for name in macros
    ]


@lru_cache(maxsize=4096)
def normalized(text: str) -> str:
    """Return the tokens of a code, separated by spaces, without comments and `config(…)`."""
    return " ".join(token["kept"].removeprefix(PREFIX) for token in TOKEN.finditer(text) if token["kept"])


def _with_views(manifest: Any, node: Any) -> Iterator[Any]:
    """Yield a node and the views that it reads, since their code is part of the node's code."""
    yield node
    for name in sorted(node.depends_on.nodes):
        below = manifest.nodes.get(name)
        if below is not None and below.config.materialized in ("view", "ephemeral"):
            yield from _with_views(manifest, below)


def _macros(manifest: Any, nodes: Iterable[Any]) -> Iterator[str]:
    """Yield the macros that nodes use, directly or indirectly, without the engine's and dbt's own."""
    waiting = [name for node in nodes for name in node.depends_on.macros]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        macro = manifest.macros.get(name)
        if name in seen or macro is None or macro.package_name in DBT or _is_of_engine(macro):
            continue
        seen.add(name)
        waiting += macro.depends_on.macros
        yield name


def _is_of_engine(macro: Any) -> bool:
    """Return whether a macro belongs to the engine and only decides how a model reads and writes."""
    first, *inside = PurePath(macro.original_file_path).parts
    return macro.package_name == ENGINE and first == "macros" and inside[0] not in ROW_LOGIC


def _settings(node: Any) -> Iterator[str]:
    """Yield the SQL in a node's config, and the arguments of a generic test."""
    yield from (str(node.config.get(name)) for name in CONDITIONS)
    metadata = getattr(node, "test_metadata", None)
    yield str(metadata.kwargs if metadata else "")


def _names(function: str, text: str) -> list[str]:
    return sorted(set(re.findall(NAMED.format(function), text)))


def _fingerprint(texts: Iterable[str]) -> str:
    return sha256("\0".join(texts).encode()).hexdigest()[:12]
