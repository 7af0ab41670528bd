"""The lakehouse in Dagster: two small files arrive, and processes are killed on the way.

The story is told once, on the project of the kill tests; each step of a run is a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import SparkSession

from tests.conftest import ROOT
from tests.kills.chain import QUICK, run_folder
from tests.kills.killed_run import ROWS
from tests.kills.people import expected_tables, write_file
from tests.night import is_night, nightly
from tidemark.orchestration import definitions_of, lakehouse

pytestmark = pytest.mark.R4
ONE_RETRY = dg.RetryPolicy(max_retries=1)
MODELS = {"silver/people", "gold/people_by_city", "gold/people_totals"}

# Python runs it when it starts: the next process of a step is killed at the next point of the list
SITE = """
import os, sys
from pathlib import Path
plan = Path(os.environ["KILL_AT"])
step, _, name = (plan.read_text().splitlines() or [""])[0].partition(": ")
if step and step in sys.orig_argv:
    plan.write_text("\\n".join(plan.read_text().splitlines()[1:]))
    os.setpgid(0, 0)
    from tests.kills.killed_run import plant
    from tests.kills.points import POINTS
    plant(next(point for point in POINTS if point.name == name), plan.with_name("reached"))
"""


@dataclass
class Story:
    """The runs and the sensor's looks, in their order."""

    folder: Path
    definitions: dg.Definitions
    instance: dg.DagsterInstance
    runs: list[dg.ExecuteInProcessResult] = field(default_factory=list)
    looks: list[Any] = field(default_factory=list)

    def run(self, *killed_at: str) -> None:
        (self.folder / "kill at").write_text("\n".join(killed_at), encoding="utf-8")
        job = self.definitions.resolve_job_def("land_and_build")
        self.runs.append(job.execute_in_process(instance=self.instance, raise_on_error=False))
        assert (self.folder / "kill at").read_text(encoding="utf-8") == ""

    def look(self) -> None:
        cursor = self.looks[-1].cursor if self.looks else None
        context = dg.build_sensor_context(instance=self.instance, cursor=cursor)
        self.looks.append(self.definitions.resolve_sensor_def("new_files").evaluate_tick(context))

    def events(self, run: int, kind: dg.DagsterEventType) -> list[str | None]:
        return [event.step_key for event in self.runs[run].all_events if event.event_type is kind]

    def made(self, run: int) -> dict[str, dict[str, Any]]:
        """The assets that a run materialized, with their metadata."""
        events = [event for event in self.runs[run].all_events if event.is_step_materialization]
        found = [event.step_materialization_data.materialization for event in events]
        return {
            made.asset_key.to_user_string(): {name: value.value for name, value in made.metadata.items()}
            for made in found
        }


@pytest.fixture(scope="module")
def story(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """Landing is killed, and run once more; then dbt is killed once, at night. A second file arrives."""
    folder = tmp_path_factory.mktemp("orchestrated")
    project, raw, site = run_folder(folder / "project", "killed"), folder / "raw", folder / "site"
    for made in (raw, site):
        made.mkdir()
    (site / "sitecustomize.py").write_text(SITE, encoding="utf-8")
    (folder / "kill at").touch()
    environment = QUICK | {
        "TIDEMARK_LAKE": str(folder / "lake"),
        "TIDEMARK_RAW": str(raw),
        "TIDEMARK_SCHEDULE": "30 5 * * *",
        "PYTHONPATH": f"{site}{os.pathsep}{ROOT}",
        "KILL_AT": str(folder / "kill at"),
    }
    with pytest.MonkeyPatch.context() as patch, dg.DagsterInstance.ephemeral() as instance:
        patch.delenv("TIDEMARK_SCHEMA", raising=False)
        for name, value in environment.items():
            patch.setenv(name, value)
        story = Story(folder, definitions_of(project, dg.RetryPolicy(max_retries=0)), instance)
        story.look()
        write_file(raw, 1)
        story.look()
        story.run("land: written but not confirmed")
        story.look()
        if is_night("orchestrator"):
            story.definitions = definitions_of(project, ONE_RETRY)
            story.run("build: first run: no checkpoint yet")
        else:
            story.run()
        write_file(raw, 2)
        story.look()
        story.look()
        yield story


def test_a_failed_step_stops_those_after_it(story: Story) -> None:
    """R4.5: landing was killed, and the policy has no retry: no model is built, and the run has failed."""
    assert not story.runs[0].success
    assert story.events(0, dg.DagsterEventType.STEP_FAILURE) == ["land"]
    assert "build" not in story.events(0, dg.DagsterEventType.STEP_START)
    assert story.made(0) == {}


def test_the_next_run_resumes(story: Story) -> None:
    """R4.5: it finishes the batch that the killed landing has written, and builds."""
    assert story.runs[1].success
    made = story.made(1)
    assert made.keys() == {"bronze/people", *MODELS}
    assert made["bronze/people"]["message"].startswith("finished batch")


@nightly("orchestrator")
def test_a_killed_step_is_tried_again(story: Story) -> None:
    """R4.5: dbt was killed in the middle; the same run tries the step once more, and succeeds."""
    assert story.events(1, dg.DagsterEventType.STEP_UP_FOR_RETRY) == ["build"]
    assert story.events(1, dg.DagsterEventType.STEP_FAILURE) == []


def test_retried_steps_write_nothing_twice(story: Story, spark: SparkSession) -> None:
    """R4.5: each table is what the first file gives."""
    for table, expected in expected_tables(1).items():
        schema, _, name = table.partition(".")
        found = spark.read.format("delta").load(str(story.folder / "lake/warehouse" / f"{schema}.db" / name))
        found.createOrReplaceTempView("orchestrated")
        group = " group by path" if schema == "ops" else ""
        rows = spark.sql(f"select {ROWS[table]} from orchestrated{group}").collect()
        assert Counter(tuple(row) for row in rows) == expected, table


def test_files_that_arrive_start_a_run(story: Story) -> None:
    """R4.5: one run for each arrival, none when nothing has changed, none for an empty folder."""
    requests = [look.run_requests for look in story.looks]
    assert [len(asked or []) for asked in requests] == [0, 1, 0, 1, 0]
    first, second = requests[1][0], requests[3][0]
    assert first.run_key != second.run_key
    assert first.tags["tidemark/feeds"] == "people"
    assert story.looks[2].skip_message == "No new files."


def test_the_schedule_starts_the_job(story: Story) -> None:
    """R4.5: at the time that TIDEMARK_SCHEDULE says."""
    schedule = story.definitions.resolve_schedule_def("daily")
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("30 5 * * *", "UTC")
    assert schedule.job_name == "land_and_build"
    context = dg.build_schedule_context(instance=story.instance)
    assert len(schedule.evaluate_tick(context).run_requests or []) == 1


def test_a_locked_lake_is_reported_in_one_line(story: Story) -> None:
    """R4.5: a run beside another process fails with the holder's name, and does no harm."""
    holder = (
        "import sys; from pathlib import Path; from tidemark.lake.lock import hold;"
        "hold(Path(sys.argv[1])); print(flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(story.folder / "lake")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout
        process.stdout.readline()
        job = story.definitions.resolve_job_def("land_and_build")
        done = job.execute_in_process(
            instance=story.instance, raise_on_error=False, asset_selection=[dg.AssetKey(["bronze", "people"])]
        )
        process.kill()
    failed = next(event for event in done.all_events if event.is_step_failure)
    assert f"is held by process {process.pid}" in str(failed.step_failure_data.user_failure_data)


OF_SEEDS = {"gold/dates"}


def test_every_feed_and_model_is_an_asset(monkeypatch: pytest.MonkeyPatch) -> None:
    """R4.5: in groups by domain, and whatever gold has leads back to a feed; staging has no tables."""
    monkeypatch.delenv("TIDEMARK_SCHEDULE", raising=False)
    monkeypatch.setenv("TIDEMARK_CONNECTION_SHOP", "none")  # with it the shop's models are there
    definitions = lakehouse()
    graph = definitions.resolve_asset_graph()
    keys = {key.to_user_string(): key for key in graph.get_all_asset_keys()}
    files = [*ROOT.glob("models/silver/*/*.sql"), *ROOT.glob("models/gold/*/*.sql")]
    models = {f"{path.parts[-3]}/{path.stem}" for path in files}
    assert models | {"bronze/transactions", "bronze/user_events", "bronze/device_events"} <= keys.keys()
    assert graph.get(keys["gold/daily_sales"]).group_name == "purchases"
    for name in models:
        roots = {key.path[0] for key in graph.get_ancestor_asset_keys(keys[name])}
        assert "bronze" in roots or name in OF_SEEDS, name
    assert definitions.resolve_schedule_def("daily").cron_schedule == "0 4 * * *"
