#!/bin/sh
# Checks the dbt project against dbt-bouncer.yml, and the imports between rooms against pyproject.toml.
# dbt reads the project anew, which needs neither Spark nor a lake.
set -e
TIDEMARK_CONNECTION_SHOP=none .venv/bin/dbt parse --quiet --target-path target/lint
# where the output is no terminal, its table would be cut at 80 characters
[ -t 1 ] || export COLUMNS="${COLUMNS:-200}"
.venv/bin/dbt-bouncer --show-all-failures
.venv/bin/lint-imports --no-cache
