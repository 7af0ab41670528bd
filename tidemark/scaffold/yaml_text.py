"""YAML for people: keys in their order, short maps on one line, everything quoted that needs it."""

from __future__ import annotations

from typing import Any

import yaml

WIDE = 1_000_000  # no text is folded


class Flow(dict[str, Any]):
    """A map on one line."""


class Inline(list[Any]):
    """A list on one line."""


class Block(str):
    """A text of several lines, written as such; where it occurs again, it refers to the first place."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]  # it has no types
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def choose_scalar_style(self) -> Any:
        return (super().choose_scalar_style() or "").replace("'", '"')

    def ignore_aliases(self, data: Any) -> bool:
        return not isinstance(data, Block)

    def generate_anchor(self, node: Any) -> str:
        return "landed"


def _flow(dumper: yaml.SafeDumper, value: Flow) -> yaml.Node:
    return dumper.represent_mapping("tag:yaml.org,2002:map", value.items(), flow_style=True)


def _inline(dumper: yaml.SafeDumper, value: Inline) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=True)


def _block(dumper: yaml.SafeDumper, value: Block) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(value), style="|")


_Dumper.add_representer(Flow, _flow)
_Dumper.add_representer(Inline, _inline)
_Dumper.add_representer(Block, _block)


def yaml_text(content: dict[str, Any]) -> str:
    """Return content as YAML, with an empty line between the keys of the first level."""
    parts = [
        yaml.dump({key: value}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDE)
        for key, value in content.items()
    ]
    return "\n".join(parts)
