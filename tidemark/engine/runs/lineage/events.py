"""Events of dbt commands and landings: START, then COMPLETE or FAIL, of each job that did something."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from openlineage.client.event_v2 import (
    InputDataset,
    Job,
    OutputDataset,
    Run,
    RunEvent,
    RunState,
)
from openlineage.client.facet_v2 import (
    JobFacet,
    RunFacet,
    error_message_run,
    job_type_job,
    parent_run,
    processing_engine_run,
    source_code_location_job,
)

from tidemark.base.distribution import address, version
from tidemark.engine.project.nodes import table_of, tables_below
from tidemark.engine.runs.lineage.datasets import Tables
from tidemark.engine.runs.lineage.sending import without_user
from tidemark.engine.runs.provenance import SECONDS, git_state

NAMESPACE = "OPENLINEAGE_NAMESPACE"
WROTE = ("inserted", "updated", "deleted")


@dataclass(frozen=True)
class Done:
    """What a job did.

    Attributes:
        started, ended: when; in UTC.
        error: the message if it failed, or None.
        inputs, outputs: what it read and wrote.
    """

    started: datetime
    ended: datetime
    error: str | None = None
    inputs: list[InputDataset] = field(default_factory=list)
    outputs: list[OutputDataset] = field(default_factory=list)


def run_events(manifest: Any, run: Mapping[str, Any], results: Any, tables: Tables) -> Iterator[RunEvent]:
    """Yield the events of a dbt command and of its models that read something.

    Args:
        manifest: dbt's manifest.
        run: the command's row in `ops.runs`.
        results: dbt's results.
        tables: the tables of the lake.
    """
    project = str(manifest.metadata.project_name)
    started, ended = _utc(run["started_at"]), _utc(run["ended_at"])
    failed = (
        None if run["succeeded"] else f"{run['models_failed']} models, {run['tests_failed']} tests failed"
    )
    command = f"{project}.dbt_{run['command']}"
    yield from events_of(
        run["invocation_id"], command, facets_of_job("DBT_COMMAND"), {}, Done(started, ended, failed)
    )
    rows = {row["model"]: row for row in run["model_runs"]}
    for result in results:
        node = result.node
        table = table_of(node)
        if node.resource_type == "model" and table in rows:
            times = [timing for timing in result.timing if timing.name == "execute" and timing.completed_at]
            done = Done(
                _utc(times[0].started_at) if times else started,
                _utc(times[0].completed_at) if times else ended,
                rows[table]["message"],
                [tables.read(name) for name in dict.fromkeys(tables_below(manifest, node))],
                [_output(tables, table, node, rows[table])],
            )
            yield from events_of(
                str(uuid5(UUID(run["invocation_id"]), table)),
                f"{project}.{table}",
                facets_of_job("MODEL", node.original_file_path),
                {"parent": _parent(run["invocation_id"], command)},
                done,
            )


def events_of(
    run_id: str, name: str, facets: dict[str, JobFacet], of_run: Mapping[str, RunFacet], done: Done
) -> Iterator[RunEvent]:
    """Yield the two events of a job: its start, and its end or its failure.

    Args:
        run_id: the run's UUID.
        name: the job's name.
        facets: what is known of the job.
        of_run: what is known of the run.
        done: what the job did.
    """
    job = Job(namespace=os.environ.get(NAMESPACE) or "tidemark", name=name, facets=facets)
    engine = processing_engine_run.ProcessingEngineRunFacet(version(), name="Tidemark")
    start: dict[str, RunFacet] = {**of_run, "processing_engine": engine}
    end = dict(start)
    if done.error is not None:
        end["errorMessage"] = error_message_run.ErrorMessageRunFacet(without_user(done.error), "SQL")
    state = RunState.COMPLETE if done.error is None else RunState.FAIL
    for at, kind, facets_of_run in ((done.started, RunState.START, start), (done.ended, state, end)):
        run = Run(runId=run_id, facets=facets_of_run)
        event = RunEvent(
            eventTime=at.isoformat(),
            producer=address(),
            run=run,
            job=job,
            eventType=kind,
            inputs=done.inputs,
            outputs=done.outputs,
        )
        yield _signed(event)


def _signed(event: RunEvent) -> RunEvent:
    """Name Tidemark as the producer of an event's facets: by default it is the client's package."""
    datasets = [*(event.inputs or ()), *(event.outputs or ())]
    holders = [event.run.facets, event.job.facets, *(dataset.facets for dataset in datasets)]
    holders += [output.outputFacets for output in event.outputs or ()]
    for facet in chain.from_iterable((facets or {}).values() for facets in holders):
        facet._producer = event.producer
    return event


def facets_of_job(kind: str, path: str = "") -> dict[str, JobFacet]:
    """Return the facets of a job: its kind, and the file that declares it in its repository."""
    facets: dict[str, JobFacet] = {
        "jobType": job_type_job.JobTypeJobFacet("BATCH", integration="TIDEMARK", jobType=kind)
    }
    # always with a URL of our own: the client takes the one of the repository with its password
    url, commit = _repository(str(Path.cwd()))
    if url:
        facets["sourceCodeLocation"] = source_code_location_job.SourceCodeLocationJobFacet(
            type="git", url=url, repoUrl=url, path=path or None, version=commit
        )
    return facets


@lru_cache(maxsize=4)
def _repository(folder: str) -> tuple[str, str | None]:
    """Return the URL of a folder's repository without a password, empty if it has none, and its commit."""
    command = ["git", "-C", folder, "remote", "get-url", "origin"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "", None
    return without_user(done.stdout.strip()), git_state(Path(folder))[0]


def _parent(run_id: str, name: str) -> parent_run.ParentRunFacet:
    job = parent_run.Job(namespace=os.environ.get(NAMESPACE) or "tidemark", name=name)
    return parent_run.ParentRunFacet(run=parent_run.Run(runId=run_id), job=job)


def _output(tables: Tables, table: str, node: Any, row: Mapping[str, Any]) -> OutputDataset:
    columns = {column.name: (column.data_type, column.description) for column in node.columns.values()}
    if row["status"] != "success":
        return tables.written(table, columns)
    statistics = {
        "rowCount": sum(row[f"rows_{outcome}"] or 0 for outcome in WROTE),
        "size": row["bytes_written"],
        "fileCount": row["files_written"],
    }
    return tables.written(table, columns, statistics, row["table_version"])


def _utc(at: str | datetime) -> datetime:
    moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
