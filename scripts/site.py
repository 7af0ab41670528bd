"""A hook of mkdocs: the pages of docs/reference/ are made from the code when the site is built."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
import yaml
from mkdocs.structure.files import File, Files
from pydantic import BaseModel

ROOT = Path(__file__).parents[1]
ATTRIBUTE = re.compile(r"^ {4}(\w+(?:, \w+)*): (.*(?:\n {5,}.*)*)", re.MULTILINE)
LINK = re.compile(r"\[([^\]]+)\]\((\.\./[^)#\s]+)\)")
QUALIFIED = re.compile(r"\b(?:\w+\.)+")
MACROS = "dbt/include/tidemark/macros"
sys.path.insert(0, str(ROOT))


def on_config(config: Any) -> Any:
    """Put all pages of a folder where the navigation names it, as in `decisions/`; mkdocs calls it."""
    config.nav = _expanded(config.nav)
    return config


def _expanded(nav: Any) -> Any:
    if isinstance(nav, list):
        return [_expanded(one) for one in nav]
    if isinstance(nav, dict):
        return {name: _expanded(one) for name, one in nav.items()}
    if not nav.endswith("/"):
        return nav
    return [f"{nav}{page.name}" for page in sorted((ROOT / "docs" / nav).glob("*.md"))]


def on_files(files: Files, config: Any) -> Files:
    """Add the pages; mkdocs calls it."""
    for name, page in pages().items():
        files.append(File.generated(config, f"reference/{name}.md", content=page))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Name files of the project that are no pages instead of linking them; mkdocs calls it."""
    folder = (ROOT / "docs" / page.file.src_uri).parent

    def named(link: re.Match[str]) -> str:
        file = (folder / link[2]).resolve()
        is_page = file.is_relative_to(ROOT / "docs")
        return link[0] if is_page or not file.is_file() else f"`{file.relative_to(ROOT)}`"

    return LINK.sub(named, markdown)


def pages() -> dict[str, str]:
    """Return the pages by name, as Markdown."""
    return {"commands": commands_page(), "macros": macros_page(), "feeds": feeds_page()}


def commands_page() -> str:
    """Return the page of the command `tidemark`, from its own help."""
    from tidemark.cli.main import app

    group: Any = typer.main.get_command(app)
    parts = [
        "# Commands",
        "`tidemark COMMAND --help` shows the same. Exit codes are in [settings](../settings.md).",
    ]
    context = group.context_class(group, info_name="tidemark")
    parts += ["## All commands", _options(group, context)]
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            for below, one in command.commands.items():
                parts += _command(one, f"tidemark {name} {below}", context)
        else:
            parts += _command(command, f"tidemark {name}", context)
    return "\n\n".join(filter(None, parts)) + "\n"


def _command(command: Any, name: str, parent: Any) -> Iterator[str]:
    context = command.context_class(command, info_name=name.removeprefix("tidemark "), parent=parent)
    yield f"## {name.removeprefix('tidemark ')}"
    yield inspect.cleandoc(command.help or "")
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```\n{name} {usage}\n```"
    yield _options(command, context)


def _options(command: Any, context: Any) -> str:
    rows = []
    for one in command.get_params(context):
        if one.name == "help" or getattr(one, "hidden", False):
            continue
        is_option = one.param_type_name == "option"
        name = ", ".join(one.opts) if is_option else str(one.metavar or one.name.upper())
        default = one.default if is_option and not getattr(one, "is_flag", False) else None
        shown = (
            f" Default: `{default}`." if default not in (None, "", "{}", ()) and not callable(default) else ""
        )
        rows.append((f"`{name}`", f"{getattr(one, 'help', None) or ''}{shown}"))
    return _table(("option or argument", "what it does"), rows)


def macros_page() -> str:
    """Return the page of the public macros, from their descriptions; the engine's own have `__` in it."""
    parts = [
        "# Macros",
        "What models, tests and hooks of a project call. They need no prefix.",
    ]
    for file in sorted(ROOT.glob(f"{MACROS}/*/_macros.yml")):
        found = yaml.safe_load(file.read_text(encoding="utf-8"))["macros"]
        public = [one for one in found if "__" not in one["name"]]
        if public:
            parts.append(f"## {file.parent.name.replace('_', ' ').capitalize()}")
        for one in sorted(public, key=lambda each: str(each["name"])):
            arguments = one.get("arguments", [])
            signature = ", ".join(each["name"] for each in arguments)
            parts += [
                f"### {one['name']}",
                f"`{one['name']}({signature})`",
                " ".join(one["description"].split()),
            ]
            parts.append(
                _table(
                    ("argument", "type", "meaning"),
                    [
                        (
                            f"`{each['name']}`",
                            f"`{each.get('type', '')}`",
                            " ".join(str(each["description"]).split()),
                        )
                        for each in arguments
                    ],
                )
            )
    return "\n\n".join(filter(None, parts)) + "\n"


def feeds_page() -> str:
    """Return the page of the settings of feeds, from the classes that check them."""
    modules = [
        import_module(f"python_ingest.feeds.external_{name}") for name in ("files", "excel", "table", "topic")
    ]
    found = {name: one for module in modules for name, one in inspect.getmembers(module, _is_settings)}
    parts = [
        "# Feeds",
        "The settings of a feed, under `external:` of a table in `sources:`. [Sources](../sources.md) has "
        "them with examples. A setting that is not here is refused by name.",
    ]
    for name, one in sorted(found.items()):
        parts += [f"## {name}", _summary(one), _fields(one)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _is_settings(one: Any) -> bool:
    return (
        inspect.isclass(one)
        and issubclass(one, BaseModel)
        and one.__module__.startswith("python_ingest.feeds.external_")
    )


def _summary(model: type[BaseModel]) -> str:
    return (inspect.getdoc(model) or "").partition("\nAttributes:")[0].strip()


def _meanings(model: type[BaseModel]) -> dict[str, str]:
    """Return what the docstrings of a class and its bases say of the attributes."""
    found: dict[str, str] = {}
    for one in reversed(model.__mro__):
        text = inspect.cleandoc(one.__dict__.get("__doc__") or "").partition("Attributes:\n")[2]
        for names, meaning in ATTRIBUTE.findall(text):
            found |= dict.fromkeys(names.split(", "), " ".join(meaning.split()))
    return found


def _fields(model: type[BaseModel]) -> str:
    meanings, rows = _meanings(model), []
    for name, field in model.model_fields.items():
        kind = field.annotation.__name__ if inspect.isclass(field.annotation) else str(field.annotation)
        default = "required" if field.is_required() else f"`{field.get_default(call_default_factory=True)!r}`"
        rows.append(
            (f"`{field.alias or name}`", f"`{QUALIFIED.sub('', kind)}`", default, meanings.get(name, ""))
        )
    return _table(("setting", "type", "default", "meaning"), rows)


def _table(names: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows]
    if not lines:
        return ""
    head = list(names)
    return "\n".join(f"| {line} |" for line in [" | ".join(head), " | ".join("---" for _ in head), *lines])
