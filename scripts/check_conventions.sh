#!/bin/sh
# Checks the project against dbt-bouncer.yml. dbt reads the project anew, which needs neither Spark nor a lake.
set -e
TIDEMARK_CONNECTION_SHOP=none .venv/bin/dbt parse --quiet --target-path target/lint
if .venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    # where the output is no terminal, its table would be cut at 80 characters
    [ -t 1 ] || export COLUMNS="${COLUMNS:-200}"
    .venv/bin/dbt-bouncer --show-all-failures
else
    echo "dbt-bouncer needs Python 3.11 or later: the conventions are not checked"
fi
