"""Rules of dbt-bouncer.yml on macros and seeds that the tool does not have."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

from dbt_bouncer.check_framework.decorator import check, fail


@check
def check_macro_file_has_macro_of_its_name(macro: Any, ctx: Any) -> None:
    """One of a file's macros has its name, bare or with a prefix such as `test_`."""
    stem = Path(macro.original_file_path).stem
    in_file = [other.name for other in ctx.macros if other.original_file_path == macro.original_file_path]
    if not any(re.fullmatch(f"(.*_)?{stem}", name) for name in in_file):
        fail(f"`{macro.original_file_path}` holds no macro of its name: {in_file}.")


@check
def check_macro_is_documented(macro: Any) -> None:
    """The macro after which a file is named has a description, and its arguments are listed."""
    if macro.name.removeprefix("test_") != Path(macro.original_file_path).stem:
        return
    if not (macro.description or "").strip():
        fail(f"`{macro.name}` has no description in a properties file.")
    if re.search(r"\{%-?\s*(macro|test)\s+\w+\(\s*\w", macro.macro_sql) and not macro.arguments:
        fail(f"`{macro.name}` has arguments that its properties file does not tell.")


@check
def check_macro_files_are_short(ctx: Any, *, max_number_of_lines: int) -> None:
    """All macros of a file together have no more lines than this."""
    lines: Counter[str] = Counter()
    for macro in ctx.macros:
        lines[macro.original_file_path] += macro.macro_sql.count("\n") + 1
    too_long = {path: count for path, count in lines.items() if count > max_number_of_lines}
    if too_long:
        fail(f"Files with more than {max_number_of_lines} lines of macros: {too_long}.")


@check
def check_seed_is_used(seed: Any, ctx: Any) -> None:
    """A model reads the seed."""
    if not ctx.children_by_unique_id.get(seed.unique_id):
        fail(f"No model reads the seed `{seed.name}`.")
