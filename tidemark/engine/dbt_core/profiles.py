"""The targets of profiles.yml, as dbt renders them."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import Any

from tidemark.base.errors import TidemarkError
from tidemark.base.messages import plain_message


def spark_settings(root: Path, *, may_be_remote: bool = False) -> dict[str, str]:
    """Return the Spark settings of the profile's target, rendered by dbt.

    Args:
        root: the project's folder.
        may_be_remote: whether Spark may be a Spark Connect server.

    Raises:
        TidemarkError: when the target's Spark is not embedded.
    """
    credentials, target = credentials_of(root)
    if not _fits(credentials, may_be_remote):
        raise TidemarkError(
            f"This command needs Spark in the process; the target '{target}' has none.",
            "Use a target with `type: tidemark` and `method: session`, such as `local`: docs/targets.md.",
        )
    return dict(credentials.server_side_parameters)


def embedded_target(root: Path, *, may_be_remote: bool = False) -> str:
    """Return the target for commands that need Spark in the process; empty if the profile's target fits.

    Args:
        root: the project's folder.
        may_be_remote: whether Spark may be a Spark Connect server.

    Raises:
        TidemarkError: if the target's Spark is on a server, and no other target is named for it.
    """
    credentials, target = credentials_of(root)
    if _fits(credentials, may_be_remote):
        return ""
    embedded = str(getattr(credentials, "embedded_target", ""))
    if not embedded:
        raise TidemarkError(
            f"This command needs Spark in the process; the target '{target}' has none.",
            "Name another with `embedded_target` in profiles.yml, or choose `local`: docs/targets.md.",
        )
    return embedded


def _fits(credentials: Any, may_be_remote: bool) -> bool:
    """Return whether a target has a session for this process; one of another adapter has not."""
    return bool(getattr(credentials, "has_one_session" if may_be_remote else "is_embedded", False))


def choose_target(root: Path, *, may_be_remote: bool = False) -> None:
    """Choose the target that `embedded_target` returns, for this process, as DBT_TARGET does.

    Raises:
        TidemarkError: as `embedded_target`.
    """
    if embedded := embedded_target(root, may_be_remote=may_be_remote):
        os.environ["DBT_TARGET"] = embedded


def target_name(root: Path) -> str:
    """Return the name of the profile's target."""
    return credentials_of(root)[1]


def settings_of_server(root: Path) -> dict[str, str]:
    """Return the Spark settings for a server that opens the lake as an embedded Spark does.

    Args:
        root: the project's folder.

    Raises:
        TidemarkError: if the target does not use the adapter `tidemark`.
    """
    credentials, target = credentials_of(root)
    if not hasattr(credentials, "settings_of_server"):
        raise TidemarkError(
            f"The target '{target}' in profiles.yml does not use the adapter `tidemark`.",
            "Write `type: tidemark` in the target, or choose another one with DBT_TARGET.",
        )
    settings: dict[str, str] = credentials.settings_of_server()
    return settings


def threads(root: Path) -> int:
    """Return the `threads` of the profile's target: how many tables are written side by side."""
    return int(_profile(root).threads)


def credentials_of(root: Path, target: str | None = None) -> tuple[Any, str]:
    """Return the credentials of a target, and its name.

    Args:
        root: the project's folder.
        target: the target; None for the one that DBT_TARGET or the profile chooses.

    Raises:
        TidemarkError: if the profile or the target cannot be used.
    """
    profile = _profile(root, target)
    return profile.credentials, profile.target_name


def profiles_folder(root: Path) -> Path:
    """Return the folder of profiles.yml, which dbt looks for in this order."""
    named = os.environ.get("DBT_PROFILES_DIR")
    if named:
        return Path(named)
    return root if (root / "profiles.yml").is_file() else Path.home() / ".dbt"


def _profile(root: Path, target: str | None = None) -> Any:
    from dbt.config.runtime import load_profile
    from dbt.flags import get_flags, set_from_args
    from dbt_common.context import set_invocation_context
    from dbt_common.exceptions import DbtRuntimeError

    set_invocation_context(os.environ)  # in which dbt's `env_var` looks
    flags: Any = get_flags()  # type: ignore[no-untyped-call]
    if not hasattr(flags, "LOG_CACHE_EVENTS"):  # no dbt command has run in this process
        set_from_args(Namespace(), None)
        flags = get_flags()  # type: ignore[no-untyped-call]
    # else dbt reads the profiles of the last dbt command in this process, which may be another project's
    object.__setattr__(flags, "PROFILES_DIR", str(profiles_folder(root)))
    try:
        return load_profile(str(root), {}, target_override=target or os.environ.get("DBT_TARGET"))
    except DbtRuntimeError as error:
        raise TidemarkError(
            f"The target in profiles.yml cannot be used: {plain_message(str(error))}",
            "Correct it, set the variables that it names, or choose another one with DBT_TARGET.",
        ) from None
