"""Hooks of models, seeds, snapshots and runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dbt.tests.adapter import hooks
from dbt.tests.adapter.hooks.test_model_hooks import (
    BaseDuplicateHooksInConfigs,
    BaseHookRefs,
    BaseHooksRefsOnSeeds,
    BasePrePostModelHooks,
    BasePrePostModelHooksInConfig,
    BasePrePostModelHooksInConfigKwargs,
    BasePrePostModelHooksInConfigWithCount,
    BasePrePostModelHooksOnSeeds,
    BasePrePostModelHooksOnSeedsPlusPrefixed,
    BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace,
    BasePrePostModelHooksOnSnapshots,
    BasePrePostSnapshotHooksInConfigKwargs,
    BaseTestPrePost,
)
from dbt.tests.adapter.hooks.test_run_hooks import BaseAfterRunHooks, BasePrePostRunHooks

from tests.adapter.suite import ADAPTER
from tests.night import nightly

pytestmark = [pytest.mark.R1, nightly("adapter")]


class InSpark:
    """What hooks see of a target of Spark."""

    @pytest.fixture(scope="class")
    def test_data_dir(self) -> Path:
        return Path(hooks.__path__[0], "data")

    def check_hooks(self, state: str, project: Any, host: str, count: int = 1) -> None:
        given = {"count": count} if isinstance(self, BaseTestPrePost) else {}
        found = self.get_ctx_vars(state, project=project, **given)  # type: ignore[attr-defined]
        for seen in found if given else [found]:
            assert seen["test_state"] == state
            assert (seen["target_type"], seen["target_host"]) == (ADAPTER, host)
            assert (seen["target_name"], seen["target_schema"]) == ("default", project.test_schema)
            assert (seen["target_threads"], seen["target_user"], seen["target_pass"]) == (1, "", "")
            assert seen["run_started_at"]
            assert seen["invocation_id"]

    def assert_used_schemas(self, project: Any) -> None:
        """dbt-spark has no database, which the hook writes as a text."""
        assert project.run_sql("select * from {schema}.schemas", fetch="all") == [(project.test_schema,)]
        rows = project.run_sql("select * from {schema}.db_schemas", fetch="all")
        assert rows == [("None", project.test_schema)]


class TestPrePostModelHooks(InSpark, BasePrePostModelHooks):
    """Hooks of models, set in dbt_project.yml."""


class TestHookRefs(InSpark, BaseHookRefs):
    """Hooks that read models."""


class TestPrePostModelHooksInConfig(InSpark, BasePrePostModelHooksInConfig):
    """Hooks in a model's config."""


class TestPrePostModelHooksInConfigWithCount(InSpark, BasePrePostModelHooksInConfigWithCount):
    """Hooks in both places."""


class TestPrePostModelHooksInConfigKwargs(InSpark, BasePrePostModelHooksInConfigKwargs):
    """Hooks as arguments of config()."""


class TestPrePostModelHooksOnSeeds(BasePrePostModelHooksOnSeeds):
    """Hooks of seeds."""


class TestHooksRefsOnSeeds(BaseHooksRefsOnSeeds):
    """Hooks of seeds that read models are an error."""


class TestPrePostModelHooksOnSeedsPlusPrefixed(BasePrePostModelHooksOnSeedsPlusPrefixed):
    """Hooks of seeds, written with a plus sign."""


class TestPrePostModelHooksOnSeedsPlusPrefixedWhitespace(BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace):
    """The same, with a space."""


class TestPrePostModelHooksOnSnapshots(BasePrePostModelHooksOnSnapshots):
    """Hooks of snapshots."""


class TestPrePostSnapshotHooksInConfigKwargs(BasePrePostSnapshotHooksInConfigKwargs):
    """Hooks of snapshots in another folder."""


class TestDuplicateHooksInConfigs(BaseDuplicateHooksInConfigs):
    """`pre_hook` and `pre-hook` in one model are an error."""


class TestPrePostRunHooks(InSpark, BasePrePostRunHooks):
    """on-run-start and on-run-end."""


class TestAfterRunHooks(BaseAfterRunHooks):
    """A hook that fails."""
