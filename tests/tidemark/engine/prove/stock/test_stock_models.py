"""Models of stock dbt-spark on random histories, against the same histories run by dbt."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from tests.conftest import ROOT
from tidemark.base.errors import TidemarkError
from tidemark.engine.dbt_core.commands import SILENT, outcome_of
from tidemark.engine.dbt_core.foreign_project import ForeignProject
from tidemark.engine.prove.drawing import Chance
from tidemark.engine.prove.stock.chains import Chain, Untried
from tidemark.engine.prove.stock.changes import Drawer
from tidemark.engine.prove.stock.history import History
from tidemark.engine.prove.stock.running import Runner, difference
from tidemark.engine.prove.stock.story import story, unit_test
from tidemark.engine.prove.stock.trying import Asked, Finding, findings
from tidemark.engine.prove.stock.views import Project
from tidemark.engine.prove.tables import values_sql

pytestmark = pytest.mark.R2
MODELS = ("newest_orders", "all_orders", "daily_amounts", "click_counts")


@dataclass
class Stock:
    """A project of stock dbt, parsed by it, with its models as views."""

    spark: SparkSession
    folder: Path
    file: Path
    chains: dict[str, Chain | Untried]

    def chain(self, name: str) -> Chain:
        """A model that can be tried."""
        found = self.chains[name]
        assert isinstance(found, Chain), found
        return found

    def findings(self, name: str, *kinds: str) -> dict[tuple[str, str], Finding]:
        """What some kinds of changes show, by input and kind."""
        runner = Runner(self.spark, self.chain(name))
        return {
            (self.chain(name).inputs[one.view].title, one.kind): one
            for one in findings(runner, Asked(2, 1, frozenset(kinds)))
        }

    def dbt(self, command: str, *arguments: str) -> Any:
        """Run dbt with dbt-spark, in the session of the tests."""
        own = {"project-dir": self.folder, "profiles-dir": self.folder, "target-path": self.folder / "target"}
        folders = [word for name, path in own.items() for word in (f"--{name}", str(path))]
        return outcome_of([*SILENT, command, *folders, *arguments])


@pytest.fixture(scope="module")
def stock(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stock]:
    """The fixture, parsed by dbt-spark."""
    folder = tmp_path_factory.mktemp("stock project") / "stock"
    shutil.copytree(ROOT / "tests" / "fixtures" / "stock", folder)
    file = folder / "target" / "manifest.json"
    found = Stock(spark, folder, file, {})
    assert found.dbt("parse").success
    project = ForeignProject(file)
    nodes = project.selected([])
    views = Project(spark, project, file, nodes)
    found.chains = {node.name: views.chain(node) for node in nodes}
    yield found
    os.chdir(ROOT)
    for view in spark.sql("show views").where("isTemporary").collect():
        spark.catalog.dropTempView(view.viewName)


def test_each_kind_of_changes_shows_what_it_breaks(stock: Stock) -> None:
    """R2.5: and new rows alone, where a model reads more than the new ones."""
    found = stock.findings("newest_orders", "new", "empty", "late", "deleted")
    effects = {key: one.effects for key, one in found.items()}
    assert effects == {
        ("shop.customers", "new"): (),
        ("shop.customers", "empty"): (),
        ("shop.customers", "deleted"): ("old",),
        ("shop.orders", "new"): (),
        ("shop.orders", "empty"): ("lost",),
        ("shop.orders", "late"): ("lost",),
        ("shop.orders", "deleted"): ("kept",),
    }
    assert stock.chain("newest_orders").filtered == {"stock_shop__orders"}
    assert {one.filled for one in found.values()} == {2}
    counts = stock.findings("click_counts", "new")[("shop.clicks", "new")]
    assert counts.effects == ("old",)  # counts of the new rows alone
    assert stock.chain("all_orders").compared == ["order_id", "amount", "updated_at"]


def test_a_story_is_as_small_as_it_can_be(stock: Stock) -> None:
    """R2.5: two rows of one time, and the unit test of the row that is lost."""
    chain = stock.chain("newest_orders")
    found = stock.findings("newest_orders", "tied")[("shop.orders", "tied")]
    assert found.smallest is not None
    lines = story(chain, found)
    assert len([line for line in lines if "shop.orders: {" in line]) == 1
    assert len([line for line in lines if "shop.orders: a new row with the time of the last" in line]) == 1
    assert lines[-2] == "after run 2"
    assert lines[-1].startswith("    only a full refresh has {order_id: ")
    Runner(stock.spark, chain).outcome(found.smallest[0])
    (test,) = yaml.safe_load("unit_tests:\n" + unit_test(stock.spark, chain, found))["unit_tests"]
    inputs = {one["input"] for one in test["given"]}
    assert inputs == {"ref('stg_orders')", "source('shop', 'customers')", "this"}
    assert len(test["expect"]["rows"]) == 1


def test_what_cannot_be_tried_says_why(stock: Stock) -> None:
    """R2.5: the other models are tried all the same."""
    why = {name: one.why for name, one in stock.chains.items() if isinstance(one, Untried)}
    assert why == {
        "python_orders": "it is a Python model",
        "asks_the_table": "dbt cannot compile it: it reads rows while dbt compiles it: "
        "select max(updated_at) from `stock__stg_orders`",
        "predicates": "it has incremental_predicates, whose effect is not computed here",
    }


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("none.json", None, "cannot be read: No such file"),
        ("text.json", "no json", "is no manifest.json of dbt"),
        ("other.json", '{"metadata": {"dbt_schema_version": "https://x/manifest/v99.json"}}', "version v99"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_refused(
    stock: Stock, name: str, content: str | None, what: str
) -> None:
    """R2.5: with what to do."""
    if content is not None:
        (stock.folder / name).write_text(content)
    with pytest.raises(TidemarkError) as error:
        ForeignProject(stock.folder / name)
    assert what in error.value.what
    assert "dbt" in error.value.fix


def test_dbt_makes_the_same_tables(stock: Stock) -> None:
    """R2.5: runs of dbt-spark over a history end in the rows that were computed, for each strategy."""
    chains = [stock.chain(name) for name in MODELS]
    tables = {view: one.table for chain in chains for view, one in chain.inputs.items()}
    rng = Random(11)
    drawer = Drawer(tables, Chance(rng, {}, 0.5))
    history = drawer.history("stock_shop__orders", "updated")
    clicks = drawer.history("stock_shop__clicks", "late")
    both = History(
        {**history.before, **{"stock_shop__clicks": clicks.before["stock_shop__clicks"]}},
        ((*history.steps[0], *clicks.steps[0]),),
    )
    computed = {chain.name: _outcome(stock, chain, both) for chain in chains}
    for number, (_, rows) in enumerate(both.states()):
        for view, one in rows.items():
            _write(stock.spark, view.replace("__", ".", 1), values_sql(one, tables[view].columns))
        outcome = stock.dbt("run", "--select", "stg_orders", *MODELS, *["--full-refresh"] * (number == 0))
        assert outcome.success, outcome.result
    assert any(one.differs for one in computed.values())
    for chain in chains:
        made = [
            {name.lower(): value for name, value in row.asDict(recursive=True).items()}
            for row in stock.spark.table(f"stock.{chain.name}").collect()
        ]
        assert difference(chain.compared, computed[chain.name].table, made) == ([], []), chain.name


def _outcome(stock: Stock, chain: Chain, history: History) -> Any:
    own = History(
        {view: rows for view, rows in history.before.items() if view in chain.inputs},
        tuple(tuple(one for one in step if one.view in chain.inputs) for step in history.steps),
    )
    return Runner(stock.spark, chain).outcome(own)


def _write(spark: SparkSession, table: str, rows: str) -> None:
    spark.sql(f"create schema if not exists {table.partition('.')[0]}")
    spark.sql(f"create or replace table {table} using delta as {rows}")
