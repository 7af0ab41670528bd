"""A report of a fortnight without a lake, with hostile names and reasons."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tidemark.engine.verify.proofs import Share
from tidemark.operate.report.facts import (
    OUTCOMES,
    Feed,
    Landing,
    Lateness,
    LostRows,
    ModelPeriod,
    Rejection,
    Report,
    Run,
    SchemaChange,
    Size,
)
from tidemark.operate.report.periods import periods
from tidemark.operate.status.freshness import Limits

NOW = datetime(2025, 1, 15, 7, 30, tzinfo=UTC)
SINCE = NOW - timedelta(days=30)
FIRST = datetime(2025, 1, 2, 6, tzinfo=UTC)
HOSTILE = "</script><script>alert(1)</script>\x00\u202e&\"'"
DAYS = range(13)


def sample() -> Report:
    """One run a day, of which that of 8 January failed, of two silver models and a gold model."""
    spans = periods(SINCE, FIRST, NOW)
    runs = tuple(_run(day) for day in reversed(DAYS))
    models = tuple(one for day in DAYS for one in _models(spans.first + day, day))
    landings = tuple(Landing("people", spans.first + day, 100 + day, 2) for day in DAYS)
    return Report(
        project="shop",
        lake=f"lake {HOSTILE}",
        made_at=NOW,
        periods=spans,
        runs=runs,
        run_count=len(runs),
        models=5,
        feeds=(
            Feed(
                "people",
                "bronze.people",
                "csv",
                Limits(timedelta(hours=36), timedelta(hours=72)),
                rows=1378,
                landed_at=_at(12),
                lateness=Lateness(26, 30.0, 600.0, 7200.0, 200_000.0),
            ),
            Feed("orders", "bronze.orders", "kafka", Limits(timedelta(hours=1)), 10, NOW - timedelta(days=9)),
            Feed("goods", "bronze.goods", "postgresql", Limits()),
        ),
        unfinished=("orders",),
        landings=landings,
        model_periods=models,
        rejections=(
            Rejection("record", "people", HOSTILE, 40, 30, f"{HOSTILE}.csv"),
            Rejection("row", "silver.rejected_people", "city is missing", 13),
            Rejection("file", "people", "it has no header", 2, 0, "a.csv"),
        ),
        sizes=(Size("gold.by_city", 3, 4_500_000), Size("silver.people", 12, 1_500_000)),
        schema_changes=(
            SchemaChange(_at(3), "people", "new_column", f"city{HOSTILE}", None, "string", "b.csv"),
        ),
        schema_change_count=1,
        lost_rows=(LostRows(_at(4), "people", "landed_again", "a DELETE", 7),),
        lineage="the site/index.html",
        ids={"gold.by_city": "model.shop.by_city", "bronze.people": "source.shop.bronze.people"},
        keys={"gold.by_city": ("city", f"at{HOSTILE}")},
        proved=Share({"gold.by_city": 98, "silver.people": 0}, 982, 1000),
    )


def _at(day: int) -> datetime:
    return FIRST + timedelta(days=day, minutes=7 * day)


def _run(day: int) -> Run:
    failed = day == 6
    return Run(
        f"run-{day}",
        "build",
        _at(day),
        _at(day) + timedelta(seconds=20 + day),
        not failed,
        3,
        int(failed),
        0,
        0,
    )


def _models(period: int, day: int) -> list[ModelPeriod]:
    """Silver reads 100 rows and `day`; all but 40 of them are inserted."""
    silver = (60 + day, 30, 0, 6, 3, 1)
    failed = day == 6
    message = f"no such column {HOSTILE}" if failed else None
    status = "error" if failed else "success"

    def one(model: str, rows: tuple[int, ...], *, fails: bool = False) -> ModelPeriod:
        return ModelPeriod(
            model,
            period,
            runs=1,
            failed=int(fails),
            seconds=2.0 + day / 4,
            longest=2.0 + day / 4,
            rows_read=100 + day,
            rows=dict(zip(OUTCOMES, rows, strict=True)),
            unaccounted=0,
            uncompared=0,
            last_at=_at(day),
            last_status=status if fails else "success",
            last_message=message if fails else None,
        )

    return [
        one("silver.people", silver),
        one("silver.rejected_people", (1, 0, 0, 0, 0, 0)),
        one("gold.by_city", (2, 5, 1, 0, 0, 0), fails=failed),
        one(f"gold.{HOSTILE}", (1, 0, 0, 0, 0, 0)),
    ]
