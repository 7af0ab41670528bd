"""What makes many commands of dbt in one process cheaper: it does once what it does for each command.

Measured on nine tests with models of their own (docs/decisions/0020): Python's processor time falls by 37 %.
"""

from __future__ import annotations

import gc

from dbt_common.behavior_flags import BehaviorFlagRendered
from dbt_common.tests import enable_test_caching


def prepare() -> None:
    """Call it first in a process of the tests that runs dbt more than once.

    - dbt keeps parsed macros and the list of plugins, as it does in its own tests.
    - dbt looks through the whole stack for the module that declares a flag. The stack of a test is deep.
    - Python looks for cycles of references after each 700 new objects; a manifest has hundreds of thousands.
    """
    enable_test_caching()
    BehaviorFlagRendered._default_source = staticmethod(lambda: "dbt.adapters.base.impl")  # type: ignore[method-assign]
    gc.set_threshold(200_000, 20, 100)
