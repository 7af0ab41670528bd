"""What a project declares of a table: keys and values from settings, constraints and tests, of sources "
"too."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tidemark.engine.project.declared_keys import (
    checks_of,
    declared_keys,
    declared_values,
    never_null,
)

pytestmark = [pytest.mark.R1, pytest.mark.core]


def constraint(kind: str, **more: Any) -> SimpleNamespace:
    return SimpleNamespace(type=SimpleNamespace(value=kind), **more)


def node(kind: str, **config: Any) -> SimpleNamespace:
    columns = {
        "Id": SimpleNamespace(name="Id", constraints=[constraint("not_null")]),
        "code": SimpleNamespace(
            name="code", constraints=[constraint("unique"), constraint("check", expression="code > 0")]
        ),
    }
    return SimpleNamespace(
        unique_id=f"{kind}.shop.sales",
        resource_type=kind,
        columns=columns,
        constraints=[constraint("primary_key", columns=["day", "id"])],
        config=SimpleNamespace(**config),
    )


def declared_test(node: Any, name: str, *, attached: bool = False, **given: Any) -> SimpleNamespace:
    config = SimpleNamespace(where=given.pop("where", None), severity=given.pop("severity", "ERROR"))
    return SimpleNamespace(
        resource_type="test",
        test_metadata=SimpleNamespace(name=name, kwargs=given),
        attached_node=node.unique_id if attached else None,
        depends_on=SimpleNamespace(nodes=[node.unique_id]),
        column_name=given.get("column_name"),
        config=config,
    )


ENFORCED = SimpleNamespace(enforced=True)


def manifest(*tests: Any) -> SimpleNamespace:
    return SimpleNamespace(nodes={str(number): one for number, one in enumerate(tests)})


def test_keys_of_tests_of_sources() -> None:
    """R1.4: dbt does not attach them to the source."""
    source, other = node("source"), node("seed")
    tests = [
        declared_test(source, "not_null", column_name="id"),
        declared_test(source, "unique", column_name="`Sale_Id`"),
        declared_test(source, "unique_combination_of_columns", combination_of_columns=["day", "LINE"]),
        declared_test(source, "unique", column_name="warned", severity="warn"),
        declared_test(source, "unique", column_name="recent", where="day > '2025-01-01'"),
        declared_test(other, "unique", column_name="other"),
        SimpleNamespace(resource_type="model"),
    ]
    assert declared_keys(manifest(*tests), source) == [("sale_id",), ("day", "line")]
    assert declared_keys(manifest(*tests), None) == []


def test_keys_of_models() -> None:
    """R1.4: its setting first, then its contract, then its tests; each once."""
    model = node("model", unique_key=["sale_id"], contract=ENFORCED)
    tests = [
        declared_test(model, "unique", attached=True, column_name="sale_id"),
        declared_test(model, "unique", column_name="email"),
    ]
    assert declared_keys(manifest(*tests), model) == [("sale_id",), ("day", "id"), ("code",), ("email",)]
    assert never_null(model) == {"id"}
    assert checks_of(model) == ("code > 0",)


def test_a_contract_that_is_not_enforced_is_ignored() -> None:
    """R1.4: dbt creates no constraint from it."""
    model = node("model", unique_key="sale_id", contract=SimpleNamespace(enforced=False))
    assert declared_keys(manifest(), model) == [("sale_id",)]
    assert (never_null(model), checks_of(model)) == (frozenset(), ())


def test_values_of_tests_of_sources() -> None:
    """R1.4: random rows take them."""
    source = node("source")
    tests = [declared_test(source, "accepted_values", column_name="Channel", values=["web", "shop"])]
    assert declared_values(manifest(*tests), source) == {"channel": ["web", "shop"]}
