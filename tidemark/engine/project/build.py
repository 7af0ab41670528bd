"""Run `dbt build` in this process, and summarize its result for printing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidemark.base.errors import DbtError
from tidemark.base.messages import plain_message
from tidemark.engine.dbt_core.commands import SILENT, outcome_of
from tidemark.engine.project.nodes import table_of

Progress = Callable[[str], None]
TABLES = ("seed", "model", "snapshot")
EPHEMERAL = "in referenced ephemeral model"  # dbt, of a model that is skipped as its own SQL has an error


@dataclass(frozen=True)
class Wrote:
    """What one table's node wrote.

    Attributes:
        table: `schema.name`.
        message: the message of its materialization, such as `20 inserted, 3 updated`.
        rows: rows inserted, updated and deleted.
        seconds: run time of the node.
    """

    table: str
    message: str
    rows: int
    seconds: float


@dataclass
class Built:
    """The outcome of a build.

    Attributes:
        tables: one entry per seed, model or snapshot that succeeded, in the order of completion.
        passed: number of tests that passed.
        warned: name and message of tests that gave a warning.
        failed: name and message of nodes that failed.
        skipped: number of nodes that did not run because an earlier node failed.
        nodes: dbt's nodes that ran, with their compiled code.
    """

    tables: list[Wrote] = field(default_factory=list)
    passed: int = 0
    warned: list[tuple[str, str]] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    skipped: int = 0
    nodes: list[Any] = field(default_factory=list)


def build(options: Sequence[str], progress: Progress, manifest: Any = None) -> Built:
    """Run `dbt build`.

    Args:
        options: the words after `dbt build`, such as `--select silver`.
        progress: called with the name of each node that starts.
        manifest: dbt's manifest, if this process has already parsed the project; None to parse now.

    Raises:
        DbtError: if dbt cannot run at all. Failures of nodes are part of the outcome.
    """

    errors: dict[str, str] = {}

    def on_event(event: Any) -> None:
        if event.info.name == "LogStartLine":
            progress(event.data.description)
        elif event.info.name == "RunResultError":
            errors[event.data.node_info.unique_id] = event.data.msg

    outcome = outcome_of([*SILENT, "build", *options], manifest, on_event)
    if isinstance(outcome.exception, KeyboardInterrupt):
        raise outcome.exception
    result: Any = outcome.result
    if outcome.exception is not None or result is None:
        raise DbtError(f"dbt build did not start: {outcome.exception}", "Run `dbt debug`.")
    return summarize(result.results, errors)


def summarize(results: Iterable[Any], errors: Mapping[str, str] | None = None) -> Built:
    """Convert dbt's node results to an outcome.

    Args:
        results: the results. An ephemeral model has none: if it cannot be compiled, dbt skips its readers.
        errors: the messages of what failed, also of ephemeral models, by `unique_id`. Without them, the
            readers of an ephemeral model that failed are said to have failed.
    """
    built = Built()
    results = list(results)
    with_result = {result.node.unique_id for result in results}
    for unique_id, message in (errors or {}).items():
        if unique_id and unique_id not in with_result:
            built.failed.append((unique_id.split(".")[2], plain_message(message)))
    for result in results:
        node, status = result.node, str(result.status)
        built.nodes.append(node)
        is_part_broken = status == "skipped" and not errors and EPHEMERAL in (result.message or "")
        if is_part_broken or status in ("error", "fail", "runtime error"):
            built.failed.append((node.name, plain_message(result.message)))
        elif status == "skipped":
            built.skipped += 1
        elif status == "warn":
            built.warned.append((node.name, plain_message(result.message)))
        elif node.resource_type in TABLES:
            response = result.adapter_response
            message = str(response.get("_message", ""))
            rows = int(response.get("rows_affected") or 0)
            table = table_of(node)
            built.tables.append(Wrote(table, message, rows, result.execution_time))
        elif node.resource_type in ("test", "unit_test"):
            built.passed += 1
    return built
