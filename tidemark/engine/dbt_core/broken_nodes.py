"""Let dbt go on past broken nodes, for commands that only look: dbt itself stops at the first one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from dbt_common.exceptions import DbtBaseException


@contextmanager
def every_node() -> Iterator[None]:
    """Let `dbt compile` compile what it can: a node that fails is an error among the results, no more.

    What reads a failed model is compiled, too: a query names its table, and does not need its SQL.
    """
    from dbt.task.compile import CompileTask

    with (
        patch.object(CompileTask, "raise_on_first_error", lambda task: False),
        patch.object(CompileTask, "MARK_DEPENDENT_ERRORS_STATUSES", []),
    ):
        yield


@dataclass
class Broken:
    """What dbt could not parse.

    Attributes:
        models: the reason by a model's name.
        tests: a message for each data test.
    """

    models: dict[str, str] = field(default_factory=dict)
    tests: list[str] = field(default_factory=list)


@contextmanager
def without_broken_nodes() -> Iterator[Broken]:
    """Let `dbt parse` leave out the models and data tests that it cannot parse; yield what it left out.

    The manifest is not kept for the next command, which would then not see what is broken.
    """
    from dbt.parser import manifest
    from dbt.parser.models import ModelParser
    from dbt.parser.schema_generic_tests import SchemaGenericTestParser

    broken = Broken()

    def note_model(block: Any, error: Exception) -> None:
        broken.models[block.name] = str(error)

    def note_test(block: Any, error: Exception) -> None:
        broken.tests.append(f"a test in {block.file.original_file_path}: {error}")

    def note_target(node: Any, target_name: str, target_kind: str, *_: Any, **__: Any) -> None:
        if node.resource_type == "model":
            broken.models[node.name] = f"the {target_kind} {target_name} is not found"

    with (
        patch.object(ModelParser, "parse_node", _noting(ModelParser.parse_node, note_model)),
        patch.object(
            SchemaGenericTestParser, "parse_node", _noting(SchemaGenericTestParser.parse_node, note_test)
        ),
        patch.object(manifest, "invalid_target_fail_unless_test", note_target),
        patch.object(manifest.ManifestLoader, "write_manifest_for_partial_parse", lambda loader: None),
    ):
        yield broken


def _noting(parse: Any, note: Callable[[Any, Exception], None]) -> Any:
    """Return a method that parses a node, or notes why it cannot."""

    def parsed(parser: Any, block: Any) -> Any:
        try:
            return parse(parser, block)
        except DbtBaseException as error:
            note(block, error)
            return None

    return parsed
