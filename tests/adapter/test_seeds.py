"""Seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dbt.tests.adapter.simple_seed import test_seed
from dbt.tests.adapter.simple_seed.fixtures import properties__schema_yml
from dbt.tests.adapter.simple_seed.test_seed import (
    BaseBasicSeedTests,
    BaseSeedConfigFullRefreshOff,
    BaseSeedConfigFullRefreshOn,
    BaseSeedCustomSchema,
    BaseSeedParsing,
    BaseSeedSpecificFormats,
    BaseSeedWithEmptyDelimiter,
    BaseSeedWithUniqueDelimiter,
    BaseSeedWithWrongDelimiter,
    BaseSimpleSeedEnabledViaConfig,
    BaseSimpleSeedWithBOM,
    BaseTestEmptySeed,
)
from dbt.tests.adapter.simple_seed.test_seed_type_override import BaseSimpleSeedColumnOverride

from tests.night import nightly

pytestmark = [pytest.mark.R1, nightly("adapter")]


class WithoutCascade:
    """Spark drops no view together with the table that it reads."""

    def _check_relation_end_state(self, run_result: Any, project: Any, exists: bool) -> None:
        super()._check_relation_end_state(run_result, project, exists=True)  # type: ignore[misc]


class TestBasicSeedTests(WithoutCascade, BaseBasicSeedTests):
    """A seed, twice and with `--full-refresh`."""


class TestSeedConfigFullRefreshOn(WithoutCascade, BaseSeedConfigFullRefreshOn):
    """A seed with `full_refresh: true`."""


class TestSeedConfigFullRefreshOff(BaseSeedConfigFullRefreshOff):
    """A seed with `full_refresh: false`."""


class TestSeedCustomSchema(BaseSeedCustomSchema):
    """A seed in another schema."""


class TestSeedWithUniqueDelimiter(BaseSeedWithUniqueDelimiter):
    """A seed with another delimiter."""


class TestSeedWithWrongDelimiter(BaseSeedWithWrongDelimiter):
    """A wrong delimiter is an error."""


class TestSeedWithEmptyDelimiter(BaseSeedWithEmptyDelimiter):
    """An empty delimiter is an error."""


class TestSimpleSeedEnabledViaConfig(BaseSimpleSeedEnabledViaConfig):
    """Seeds that are selected, excluded and disabled."""


class TestSeedParsing(BaseSeedParsing):
    """A seed that is no CSV."""


class TestSimpleSeedWithBOM(BaseSimpleSeedWithBOM):
    """A seed with a byte order mark."""

    @pytest.fixture(scope="class")
    def project(self, project: Any) -> Any:
        project.test_dir = Path(test_seed.__file__).parent
        return project


class TestSeedSpecificFormats(BaseSeedSpecificFormats):
    """20,000 rows, dots in a name, letters of many scripts."""


class TestEmptySeed(BaseTestEmptySeed):
    """A seed without rows."""


class TestSimpleSeedColumnOverride(BaseSimpleSeedColumnOverride):
    """`column_types` of seeds."""

    @pytest.fixture(scope="class")
    def models(self) -> Any:
        return {"schema.yml": properties__schema_yml.replace("type: integer", "type: bigint")}

    @staticmethod
    def seed_enabled_types() -> dict[str, str]:
        return {"seed_id": "string", "birthday": "date"}

    @staticmethod
    def seed_tricky_types() -> dict[str, str]:
        return dict.fromkeys(("seed_id_str", "looks_like_a_bool", "looks_like_a_date"), "string")
