"""The lakehouse in Dagster: one step lands the feeds, one builds the models, daily and when files arrive.

`dagster dev` in the project's folder loads it through `[tool.dagster]` in pyproject.toml; see
docs/schedule.md. Each step runs in its own process, so a killed step releases the lake for the next one.
"""

# no `from __future__ import annotations`: Dagster reads the annotations of steps

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_dbt import DagsterDbtTranslator, DbtCliResource, dbt_assets

from python_ingest.feeds.declarations import Feed, feeds_of
from python_ingest.files.arrivals import fingerprints, watched
from tidemark.engine import project

RETRIES = dg.RetryPolicy(max_retries=3, delay=30, backoff=dg.Backoff.EXPONENTIAL)
EACH_NIGHT = "0 4 * * *"  # UTC
LOOK_EVERY = 60  # seconds


@dg.definitions
def lakehouse() -> dg.Definitions:
    """Return the definitions of the project around the current folder."""
    return definitions_of(project.enter_root())


def definitions_of(root: Path, retries: dg.RetryPolicy = RETRIES) -> dg.Definitions:
    """Return an asset for each feed and model, the job that builds them, its schedule and its sensor.

    Args:
        root: the project's folder.
        retries: how often, and after how many seconds, a failed step runs again.
    """
    dbt = DbtCliResource(project_dir=root, dbt_executable=Path(sys.executable).with_name("dbt"))
    with tempfile.TemporaryDirectory() as target:  # another process may parse at the same time
        parsed = dbt.cli(["--quiet", "parse"], target_path=Path(target)).wait()
        manifest = parsed.get_artifact("manifest.json")
    feeds = feeds_of(manifest["sources"].values())
    job = dg.define_asset_job("land_and_build", selection=dg.AssetSelection.all())
    schedule = dg.ScheduleDefinition(
        name="daily",
        job=job,
        cron_schedule=os.environ.get("TIDEMARK_SCHEDULE", EACH_NIGHT),
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )
    return dg.Definitions(
        assets=[_landing(root, manifest, feeds, retries), _building(root, manifest, retries)],
        jobs=[job],
        schedules=[schedule],
        sensors=[_new_files(root, feeds, job)],
        resources={"dbt": dbt},
        executor=dg.in_process_executor,  # steps run one after another: only one process can hold the lake
    )


class ByFolder(DagsterDbtTranslator):
    """Groups assets by the folder of their declaration, which is the folder of their domain."""

    def get_group_name(self, dbt_resource_props: Mapping[str, Any]) -> str:
        return Path(dbt_resource_props["original_file_path"]).parent.name


def _landing(
    root: Path, manifest: Mapping[str, Any], feeds: Mapping[str, Feed], retries: dg.RetryPolicy
) -> dg.AssetsDefinition:
    words = ByFolder()
    sources = {node["name"]: node for node in manifest["sources"].values() if node.get("external")}
    keys = {name: words.get_asset_key(sources[name]) for name in feeds}
    of_table = {feed.table: keys[feed.name] for feed in feeds.values()}
    specs = [
        dg.AssetSpec(key, description=feeds[name].description, group_name=words.get_group_name(sources[name]))
        for name, key in keys.items()
    ]

    @dg.multi_asset(name="land", specs=specs, can_subset=True, retry_policy=retries)
    def land(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[Any]]:
        """Land new data in one process; if one feed fails, the others still land."""
        chosen = [name for name in feeds if keys[name] in context.selected_asset_keys]
        for event in _tidemark(context, root, ["land", *chosen]):
            if event["event"] == "landed":
                facts = {
                    name: event[name] for name in ("message", "files", "rows", "messages") if name in event
                }
                yield dg.MaterializeResult(asset_key=of_table[event["name"]], metadata=facts)

    return land


def _building(root: Path, manifest: Mapping[str, Any], retries: dg.RetryPolicy) -> dg.AssetsDefinition:
    target = root / os.environ.get("DBT_TARGET_PATH", "target") / "dagster"
    command = ["build", "--exclude-resource-type", "unit_test"]  # unit tests check SQL, not data

    @dbt_assets(manifest=manifest, name="build", dagster_dbt_translator=ByFolder(), retry_policy=retries)
    def build(context: dg.AssetExecutionContext, dbt: DbtCliResource) -> Iterator[Any]:
        yield from dbt.cli(command, context=context, target_path=target).stream()

    return build


def _tidemark(
    context: dg.AssetExecutionContext, root: Path, arguments: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Run a tidemark command and yield each JSON object that it prints; raise Failure with its errors."""
    command = [sys.executable, "-m", "tidemark.cli.main", "--log-format", "json", *arguments]
    errors = []
    with subprocess.Popen(
        command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            for line in process.stdout or ():
                if not line.startswith("{"):
                    print(line, end="", flush=True)
                    continue
                event: dict[str, Any] = json.loads(line)
                is_error = event["event"] in ("error", "not_landed")
                message = " ".join([event.get("name", event["event"]), event["message"]])
                (context.log.error if is_error else context.log.info)(message)
                errors += [event["message"]] * is_error
                yield event
        except BaseException:  # the run was stopped
            process.terminate()
            raise
    if process.returncode:
        ended = f"tidemark {' '.join(arguments)} failed with exit code {process.returncode}"
        raise dg.Failure("\n".join(errors) or ended)


def _new_files(root: Path, feeds: Mapping[str, Feed], job: Any) -> dg.SensorDefinition:
    local = watched(feeds)
    others = sorted(set(feeds) - {feed.name for feed in local})
    unwatched = f" Not watched, landed by the schedule: {', '.join(others)}." if others else ""

    @dg.sensor(
        job=job,
        name="new_files",
        minimum_interval_seconds=LOOK_EVERY,
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    def new_files(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        """Start a run when a feed's files have changed since the last check; landing knows which are new."""
        found = fingerprints(local, root, time.time())
        known = json.loads(context.cursor or "{}")
        changed = [name for name in found if found[name] != known.get(name)]
        if not changed:
            return dg.SensorResult(skip_reason=f"No new files.{unwatched}")
        cursor = json.dumps(found, sort_keys=True)
        run = dg.RunRequest(
            run_key=hashlib.sha256(cursor.encode()).hexdigest(), tags={"tidemark/feeds": ", ".join(changed)}
        )
        return dg.SensorResult(run_requests=[run], cursor=cursor)

    return new_files
