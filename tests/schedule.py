"""The order in which test files start: the longest first, so that the processes end together.

`pytest --durations=0` gives the times; files that are not in the list take less than half a minute.
"""

from __future__ import annotations

import pytest

LONGEST_FIRST = (
    "tests/month/test_month.py",
    "tests/lakehouse/test_medallion.py",
    "tests/lakehouse/test_reading.py",
    "tests/kills/test_kills.py",
    "tests/lakehouse/test_change_records.py",
    "tests/lakehouse/test_audit.py",
    "tests/tidemark/test_orchestration.py",
    "tests/lakehouse/test_code_changes.py",
    "tests/lakehouse/test_shop_models.py",
    "tests/lakehouse/test_recovery.py",
    "tests/lakehouse/test_undo.py",
    "tests/tidemark/scaffold/test_scaffold.py",
    "tests/lakehouse/test_plain_models.py",
    "tests/repository/test_wheel.py",
    "tests/python_ingest/postgresql/test_landing.py",
    "tests/lakehouse/test_merging.py",
    "tests/kills/test_stream.py",
    "tests/lakehouse/test_servers.py",
    "tests/lakehouse/test_data_tests.py",
    "tests/lakehouse/test_devices.py",
    "tests/lakehouse/test_iceberg.py",
    "tests/python_ingest/test_lost_rows.py",
    "tests/fuzz/test_hostile.py",
    "tests/lakehouse/test_clustering.py",
    "tests/python_ingest/kafka/test_landing.py",
    "tests/kills/test_table.py",
    "tests/lakehouse/test_ways.py",
    "tests/python_ingest/test_contract.py",
    "tests/lakehouse/test_histories.py",
    "tests/lakehouse/test_erase.py",
    "tests/tidemark/cli/test_cli.py",
    "tests/lakehouse/test_shop.py",
    "tests/adapter/test_basic.py",
    "tests/python_ingest/test_discovery.py",
    "tests/python_ingest/test_landing.py",
    "tests/lakehouse/test_dbt_features.py",
    "tests/lakehouse/test_snapshots.py",
    "tests/python_ingest/test_quarantine.py",
    "tests/lakehouse/test_model_settings.py",
    "tests/python_ingest/test_formats.py",
    "tests/lakehouse/test_reproduce.py",
    "tests/fuzz/test_strange_feeds.py",
    "tests/lakehouse/test_names_and_types.py",
    "tests/lakehouse/test_maintenance.py",
    "tests/lakehouse/test_retraction.py",
    "tests/lakehouse/test_inventory.py",
    "tests/fuzz/test_fuzz.py",
    "tests/lakehouse/test_erase_sources.py",
    "tests/lakehouse/test_status.py",
    "tests/tidemark/engine/incremental/test_random_queries.py",
    "tests/lakehouse/test_proofs.py",
    "tests/lakehouse/test_rebuilt_columns.py",
    "tests/tidemark/engine/incremental/test_constructs.py",
    "tests/tidemark/operate/test_erase.py",
    "tests/lakehouse/test_contracts.py",
    "tests/tidemark/scaffold/test_sampling.py",
    "tests/tidemark/lake/test_delta_log.py",
    "tests/python_ingest/test_typed_values.py",
    "tests/python_ingest/postgresql/test_errors.py",
)
_PLACE = {name: place for place, name in enumerate(LONGEST_FIRST)}


def start_longest_first(items: list[pytest.Item]) -> None:
    """Sort tests by their files, in place; within a file the order stays.

    Args:
        items: the collected tests.
    """
    items.sort(key=lambda item: _PLACE.get(item.nodeid.partition("::")[0], len(_PLACE)))
