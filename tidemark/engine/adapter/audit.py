"""Compile a data test against rows that are not in its table yet."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from dbt.compilation import Compiler

if TYPE_CHECKING:
    from dbt.adapters.base.relation import BaseRelation
    from dbt.context.providers import RuntimeRefResolver


def compiled_test(
    ref: RuntimeRefResolver, unique_id: str, table: BaseRelation, stand_in: BaseRelation
) -> str:
    """Return the SQL of a data test that reads another relation in the place of its table.

    Args:
        ref: dbt's `ref` of a running node; it knows the manifest and the configuration.
        unique_id: the test.
        table: the table that the test names.
        stand_in: what it reads instead.
    """
    test = copy.deepcopy(ref.manifest.nodes[unique_id])
    resolve = type(ref)(ref.db_wrapper, test, ref.config, ref.manifest)

    def other_ref(*names: str, **version: Any) -> Any:
        found = resolve(*names, **version)
        return stand_in if str(found) == str(table) else found

    compiled = Compiler(ref.config).compile_node(test, ref.manifest, {"ref": other_ref}, write=False)
    return str(compiled.compiled_code)
