"""dbt's cross-database macros: what each macro of `dbt.…` gives, compared with an expected seed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from dbt.tests.adapter.utils.fixture_get_intervals_between import (
    models__test_get_intervals_between_sql,
    models__test_get_intervals_between_yml,
)
from dbt.tests.adapter.utils.fixture_listagg import models__test_listagg_sql, models__test_listagg_yml
from dbt.tests.adapter.utils.test_any_value import BaseAnyValue
from dbt.tests.adapter.utils.test_array_append import BaseArrayAppend
from dbt.tests.adapter.utils.test_array_concat import BaseArrayConcat
from dbt.tests.adapter.utils.test_array_construct import BaseArrayConstruct
from dbt.tests.adapter.utils.test_bool_or import BaseBoolOr
from dbt.tests.adapter.utils.test_cast import BaseCast
from dbt.tests.adapter.utils.test_cast_bool_to_text import BaseCastBoolToText
from dbt.tests.adapter.utils.test_concat import BaseConcat
from dbt.tests.adapter.utils.test_current_timestamp import BaseCurrentTimestampNaive
from dbt.tests.adapter.utils.test_date import BaseDate
from dbt.tests.adapter.utils.test_date_spine import BaseDateSpine
from dbt.tests.adapter.utils.test_date_trunc import BaseDateTrunc
from dbt.tests.adapter.utils.test_dateadd import BaseDateAdd
from dbt.tests.adapter.utils.test_datediff import BaseDateDiff
from dbt.tests.adapter.utils.test_equals import BaseEquals
from dbt.tests.adapter.utils.test_escape_single_quotes import BaseEscapeSingleQuotesBackslash
from dbt.tests.adapter.utils.test_except import BaseExcept
from dbt.tests.adapter.utils.test_generate_series import BaseGenerateSeries
from dbt.tests.adapter.utils.test_get_intervals_between import BaseGetIntervalsBetween
from dbt.tests.adapter.utils.test_get_powers_of_two import BaseGetPowersOfTwo
from dbt.tests.adapter.utils.test_hash import BaseHash
from dbt.tests.adapter.utils.test_intersect import BaseIntersect
from dbt.tests.adapter.utils.test_last_day import BaseLastDay
from dbt.tests.adapter.utils.test_length import BaseLength
from dbt.tests.adapter.utils.test_listagg import BaseListagg
from dbt.tests.adapter.utils.test_null_compare import BaseMixedNullCompare, BaseNullCompare
from dbt.tests.adapter.utils.test_position import BasePosition
from dbt.tests.adapter.utils.test_replace import BaseReplace
from dbt.tests.adapter.utils.test_right import BaseRight
from dbt.tests.adapter.utils.test_safe_cast import BaseSafeCast
from dbt.tests.adapter.utils.test_split_part import BaseSplitPart
from dbt.tests.adapter.utils.test_string_literal import BaseStringLiteral

from tests.night import nightly

pytestmark = [pytest.mark.R1, nightly("adapter")]


class TestAnyValue(BaseAnyValue):
    """`any_value()`."""


class TestArrayAppend(BaseArrayAppend):
    """`array_append()`."""


class TestArrayConcat(BaseArrayConcat):
    """`array_concat()`."""


class TestArrayConstruct(BaseArrayConstruct):
    """`array_construct()`."""


class TestBoolOr(BaseBoolOr):
    """`bool_or()`."""


class TestCast(BaseCast):
    """`cast()`."""


class TestCastBoolToText(BaseCastBoolToText):
    """`cast_bool_to_text()`."""


class TestConcat(BaseConcat):
    """`concat()`."""


class TestCurrentTimestampNaive(BaseCurrentTimestampNaive):
    """`current_timestamp()`."""


class TestDate(BaseDate):
    """`date()`."""


class TestDateSpine(BaseDateSpine):
    """`date_spine()`."""


class TestDateTrunc(BaseDateTrunc):
    """`date_trunc()`."""


class TestDateAdd(BaseDateAdd):
    """`dateadd()`."""


class TestDateDiff(BaseDateDiff):
    """`datediff()`."""

    @pytest.fixture(scope="class")
    def project_config_update(self) -> Any:
        """As a view, its query is longer than the catalog's texts."""
        return {"models": {"+materialized": "table"}}


class TestEquals(BaseEquals):
    """`equals()`."""


class TestEscapeSingleQuotesBackslash(BaseEscapeSingleQuotesBackslash):
    """`escape_single_quotes()`."""


class TestExcept(BaseExcept):
    """`except()`."""


class TestGenerateSeries(BaseGenerateSeries):
    """`generate_series()`."""


class TestGetIntervalsBetween(BaseGetIntervalsBetween):
    """`get_intervals_between()`."""

    @pytest.fixture(scope="class")
    def models(self) -> Any:
        """With dates that Spark reads."""
        sql = re.sub(r"'(\d\d)/(\d\d)/(\d{4})'", r"'\3-\1-\2'", models__test_get_intervals_between_sql)
        return {
            "test_get_intervals_between.yml": models__test_get_intervals_between_yml,
            "test_get_intervals_between.sql": self.interpolate_macro_namespace(sql, "get_intervals_between"),
        }


class TestGetPowersOfTwo(BaseGetPowersOfTwo):
    """`get_powers_of_two()`."""


class TestHash(BaseHash):
    """`hash()`."""


class TestIntersect(BaseIntersect):
    """`intersect()`."""


class TestLastDay(BaseLastDay):
    """`last_day()`."""


class TestLength(BaseLength):
    """`length()`."""


class TestListagg(BaseListagg):
    """`listagg()`; dbt-spark ignores its order."""

    @pytest.fixture(scope="class")
    def models(self) -> Any:
        """The same query without the parts that order the values."""
        parts = models__test_listagg_sql.split("    union all\n")
        unordered = "    union all\n".join(one for one in parts if "order by" not in one)
        start, *_ = parts[0].partition("    select\n        group_col")
        return {
            "test_listagg.yml": models__test_listagg_yml,
            "test_listagg.sql": self.interpolate_macro_namespace(start + unordered, "listagg"),
        }


class TestMixedNullCompare(BaseMixedNullCompare):
    """equality with NULL."""


class TestNullCompare(BaseNullCompare):
    """equality of NULLs."""


class TestPosition(BasePosition):
    """`position()`."""


class TestReplace(BaseReplace):
    """`replace()`."""


class TestRight(BaseRight):
    """`right()`."""


class TestSafeCast(BaseSafeCast):
    """`safe_cast()`."""


class TestSplitPart(BaseSplitPart):
    """`split_part()`."""


class TestStringLiteral(BaseStringLiteral):
    """`string_literal()`."""
