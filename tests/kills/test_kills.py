"""`kill -9` of a real run, Python and JVM, at every moment that matters; then one more run.

By day one chain of killed runs takes the points in turn, on one lake. With `TIDEMARK_NIGHTLY=1` the points
join in that are much like another. There are three chains then, with a lake each: raw files in a folder, raw
files in an object store, and tables of Iceberg. Two chains run at once: a run alone leaves a core idle.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import pytest

from dev.servers.object_store import object_store
from tests.kills.chain import Chain, Link
from tests.kills.points import POINTS, Point
from tests.night import is_night
from tidemark.spark.server.watchdog import watchdog

pytestmark = [pytest.mark.R1, pytest.mark.R2, pytest.mark.R4, pytest.mark.spark]
Links = dict[Point, "Future[Link]"]
AT_ONCE = 2  # chains
POINTS_OF_ONE_CHAIN = 6  # points that one chain takes alone: each lake costs a first run
CHOSEN = [point for point in POINTS if is_night("kill points") or not point.nightly]


@pytest.fixture(scope="module")
def links(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Links]:
    """The outcomes at the points that were selected, as they come."""
    items: list[Any] = [item for item in request.session.items if item.path == request.path]
    chosen = {item.callspec.params["point"] for item in items}
    points = [point for point in POINTS if point in chosen]
    queue = deque(point for point in points if not point.from_store and not point.on_iceberg)
    on_iceberg = deque(point for point in points if point.on_iceberg)
    from_store = deque(point for point in points if point.from_store)
    links: Links = {point: Future() for point in points}
    folder = tmp_path_factory.mktemp("killed runs")
    with watchdog(folder), object_store(folder / "store") if from_store else nullcontext() as store:
        chains = [
            Chain(folder / "0", queue, links, deque(), None),
            Chain(
                folder / "1", queue if len(queue) > POINTS_OF_ONE_CHAIN else deque(), links, from_store, store
            ),
            Chain(folder / "2", deque(), links, on_iceberg, None, target="iceberg"),
        ]
        yield from _outcomes(chains, links)


def _outcomes(chains: Sequence[Chain], links: Links) -> Iterator[Links]:

    def run(chain: Chain) -> None:
        try:
            chain.run()
        except Exception as error:
            for link in links.values():
                if not link.done():
                    link.set_exception(error)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        for chain in chains:
            threads.submit(run, chain)
        yield links
        for chain in chains:
            chain.stop()


@pytest.mark.parametrize(
    "point",
    [pytest.param(point, id=point.name, marks=[pytest.mark.core] * point.core) for point in CHOSEN],
)
def test_nothing_is_lost_or_doubled(point: Point, links: Links) -> None:
    """R1.5, R2.1, R4.2: killed at any point, one more run gives each table as an unkilled run would."""
    link = links[point].result()
    if link.missed:
        pytest.fail(f"not killed «{point.name}»: {link.missed}", pytrace=False)
    if link.wrong:
        table = "\n".join(link.wrong)
        pytest.fail(f"killed «{point.name}», then run once:\n{table}", pytrace=False)
