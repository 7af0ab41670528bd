"""What other tools read in dbt's artifacts, as stock dbt-spark writes it: docs/packages.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

# of a result: elementary uploads these at the end of a run; None is a value of stock, too
RESULT: dict[str, tuple[type, ...]] = {
    "unique_id": (str,),
    "status": (str,),
    "message": (str, type(None)),  # None for a test that passes
    "failures": (int, type(None)),  # a number for each test
    "adapter_response": (dict,),  # empty for an error
    "execution_time": (float,),
    "thread_id": (str,),
    "timing": (list,),
    "compiled": (bool, type(None)),
    "compiled_code": (str, type(None)),  # None for a seed
    "relation_name": (str, type(None)),  # None for a test
    "batch_results": (dict, type(None)),  # of `microbatch` only
}
# of a node: recce compares two manifests by these, and elementary uploads them
NODE: dict[str, tuple[type, ...]] = {
    "unique_id": (str,),
    "resource_type": (str,),
    "name": (str,),
    "alias": (str,),
    "schema": (str,),
    "package_name": (str,),
    "path": (str,),
    "original_file_path": (str,),
    "checksum": (dict,),
    "columns": (dict,),
    "depends_on": (dict,),
    "raw_code": (str,),
    "config": (dict,),
    "tags": (list,),
    "meta": (dict,),
    "description": (str,),
}


def check_results(folder: Path) -> dict[str, Any]:
    """Check the results of a command; return them by node."""
    results = json.loads((folder / "run_results.json").read_text())["results"]
    for result in results:
        _check(result, RESULT)
        names = [one["name"] for one in result["timing"]]
        assert names in (["compile", "execute"], ["compile"], []), names  # skipped: none
        assert all(one["started_at"] and one["completed_at"] for one in result["timing"])
        rows = result["adapter_response"].get("rows_affected", 0)
        assert isinstance(rows, int), "elementary's column is a number"
    return {result["unique_id"]: result for result in results}


def check_nodes(folder: Path) -> None:
    """Check the nodes of the manifest."""
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["metadata"]["adapter_type"] == "tidemark", "the name of a dialect: test_dbt_features.py"
    for node in manifest["nodes"].values():
        _check(node, NODE)


def check_catalog(folder: Path) -> None:
    """Check the tables of the catalog, of which recce reads the columns and their types."""
    for table in json.loads((folder / "catalog.json").read_text())["nodes"].values():
        assert table.keys() == {"metadata", "columns", "stats", "unique_id"}
        assert table["metadata"].keys() == {"type", "schema", "name", "database", "comment", "owner"}
        for name, column in table["columns"].items():
            assert column.keys() == {"type", "index", "name", "comment"}
            assert (column["name"], type(column["type"]), type(column["index"])) == (name, str, int)
        assert "has_stats" in table["stats"]


def _check(entry: dict[str, Any], expected: dict[str, tuple[type, ...]]) -> None:
    wrong = {
        key: entry.get(key, "missing") for key, of in expected.items() if type(entry.get(key, ...)) not in of
    }
    assert wrong == {}, entry["unique_id"]
