"""`tidemark prove --manifest`: incremental models of any dbt project, a line for each kind of changes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from tidemark.base.errors import TidemarkError, VerificationError
from tidemark.base.output import count_of, output
from tidemark.engine.dbt_core.foreign_project import ForeignProject
from tidemark.engine.prove.stock.chains import Chain, Untried, reason_of
from tidemark.engine.prove.stock.changes import KINDS, words_of
from tidemark.engine.prove.stock.remedies import remedy
from tidemark.engine.prove.stock.running import Runner
from tidemark.engine.prove.stock.story import guesses, story, titles, unit_test
from tidemark.engine.prove.stock.trying import EFFECTS, Asked, Finding, effect_of, findings
from tidemark.engine.prove.stock.views import Project
from tidemark.spark.session import plain_session

HISTORIES = 20
HEAD = "# written by tidemark prove"


def asked_for(histories: int | None, seed: int, changes: str) -> Asked:
    """Return what to try.

    Args:
        histories: how many of each kind of changes; None for 20.
        seed: the same seed draws the same histories.
        changes: kinds of changes, with commas; empty for all.

    Raises:
        TidemarkError: if a kind of changes is not known.
    """
    kinds = frozenset(one.strip() for one in changes.split(",") if one.strip()) or frozenset(KINDS)
    if unknown := sorted(kinds - KINDS.keys()):
        raise TidemarkError(f"--changes {unknown[0]}: there is no such kind.", f"Take of {', '.join(KINDS)}.")
    return Asked(histories or HISTORIES, seed, kinds)


def prove_manifest(manifest: Path, models: Sequence[str], asked: Asked, unit_tests: Path | None) -> None:
    """Try the incremental models of a project that its own dbt has parsed.

    Args:
        manifest: its manifest.json.
        models: dbt selectors; empty for all.
        asked: what to try.
        unit_tests: the file to write unit tests of dbt to.

    Raises:
        TidemarkError: if the manifest cannot be used, or no model is selected.
        VerificationError: if a model is not equal to its full refresh.
    """
    _check(unit_tests)
    project = ForeignProject(manifest)
    nodes = project.selected(models)
    if not nodes:
        chosen = f" in {' '.join(models)}" if models else ""
        raise TidemarkError(
            f"{manifest} has no incremental model{chosen}.",
            "List them with `dbt ls --select config.materialized:incremental`.",
        )
    spark = plain_session()
    shapes = Project(spark, project, manifest, nodes)
    wrong: list[str] = []
    tests: list[str] = []
    for node in nodes:
        chain = shapes.chain(node)
        if isinstance(chain, Untried):
            output.row("not tried", chain.name, f"not tried: {chain.why}", 0.0)
            continue
        output.text(
            f"{chain.name} ({chain.settings.words}) reads {titles(chain)}", event="model", model=chain.name
        )
        for guess in guesses(chain):
            output.note("guessed", guess)
        if ignored := sorted(chain.types.keys() - set(chain.compared)):
            output.note("not compared", f"{', '.join(ignored)}: the time of the run")
        runner = Runner(spark, chain)
        started = time.monotonic()
        try:
            for found in findings(runner, asked):
                _show(chain, found, time.monotonic() - started)
                started = time.monotonic()
                if found.smallest is not None:
                    wrong.append(chain.name)
                    runner.outcome(found.smallest[0])  # so that the views have its rows
                    tests.append(unit_test(spark, chain, found))
        except Exception as error:  # the other models are tried all the same
            output.row("not tried", chain.name, f"not tried: {reason_of(error)}", time.monotonic() - started)
    _write(unit_tests, [one for one in tests if one])
    if wrong:
        names = list(dict.fromkeys(wrong))
        raise VerificationError(
            f"{count_of(len(names), 'model')} not equal to the full refresh: {', '.join(names)}.",
            "Do what → says above, or drop is_incremental(): Tidemark maintains plain models through all of "
            "these changes (docs/plain_models.md). --changes names those that your sources have.",
        )


def _show(chain: Chain, found: Finding, seconds: float) -> None:
    one = chain.inputs[found.view]
    what = words_of(found.kind, one.table)
    if found.smallest is None:
        message = f"{found.histories:,} histories, equal"
    else:
        effects = ", ".join(EFFECTS[effect] for effect in found.effects)
        message = f"differs in {found.differing} of {found.histories}: {effects}"
    message += f"; {found.ambiguous} more had several right answers" * bool(found.ambiguous)
    message += "; no history gave a row" * (not found.filled)
    event = "differs" if found.smallest else "proved"
    facts = {"model": chain.name, "input": one.title, "changes": found.kind, "differing": found.differing}
    output.row(event, f"  {one.title}", f"{what}: {message}", seconds, histories=found.histories, **facts)
    if found.smallest is None:
        return
    for line in story(chain, found):
        output.text(f"      {line}", event="story")
    filtered = found.view in (chain.filtered or chain.inputs)
    effect = effect_of(chain, found.smallest[1])
    output.text(
        f"      → {remedy(chain.settings, found.kind, effect, is_filtered=filtered, groups=chain.groups)}",
        event="remedy",
    )


def _check(file: Path | None) -> None:
    """Refuse a file for unit tests that cannot be written, or that somebody else has written.

    Raises:
        TidemarkError: if so.
    """
    if file is None:
        return
    if not file.parent.is_dir():
        raise TidemarkError(f"There is no folder {file.parent}.", "Make it, or name another file.")
    if file.exists() and not file.read_text(encoding="utf-8").startswith(HEAD):
        raise TidemarkError(f"{file} has been written by something else.", "Name another file.")


def _write(file: Path | None, tests: Sequence[str]) -> None:
    if file is not None:
        file.write_text("\n".join([HEAD, "unit_tests:" if tests else "unit_tests: []", *tests]) + "\n")
        output.text(f"{count_of(len(tests), 'unit test')} in {file}")
