"""Descriptions as comments of tables and columns."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.persist_docs.test_persist_docs import (
    BasePersistDocs,
    BasePersistDocsAllColumnsMissing,
    BasePersistDocsColumnMissing,
    BasePersistDocsCommentOnQuotedColumn,
    BasePersistDocsQuotedColumnCaseSensitive,
    BasePersistDocsQuotedDescriptionNotAppliedOnMismatch,
)

from tests.night import nightly

pytestmark = [pytest.mark.R1, nightly("adapter")]


class TestPersistDocs(BasePersistDocs):
    """Comments of tables, views and columns."""


class TestPersistDocsColumnMissing(BasePersistDocsColumnMissing):
    """A documented column that the table lacks."""


class TestPersistDocsAllColumnsMissing(BasePersistDocsAllColumnsMissing):
    """Only such columns."""


class TestPersistDocsQuotedColumnCaseSensitive(BasePersistDocsQuotedColumnCaseSensitive):
    """`quote: true` and another letter case."""


class TestPersistDocsQuotedDescriptionNotAppliedOnMismatch(
    BasePersistDocsQuotedDescriptionNotAppliedOnMismatch
):
    """A comment of a column in another letter case."""


class TestPersistDocsCommentOnQuotedColumn(BasePersistDocsCommentOnQuotedColumn):
    """A comment of a column whose name is quoted."""
