# `make` lists the targets.
PYTHON ?= python3
BIN := .venv/bin
QUICK_JAVA := TIDEMARK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1 # Java's quick compiler alone, for what ends soon
.DEFAULT_GOAL := help
.PHONY: help setup prepared demo tour test test-all test-nightly mutations classes lint format docs schedule lock services services-stop clean
PYTEST := $(BIN)/python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 15

setup: .venv/.ready .jars/.ready ## make the virtual environment and fetch the jars, once

demo: setup ## land the real purchase log in lake/ month by month and build it
	@$(BIN)/tidemark demo

tour: setup ## play R1 to R5 on small examples in lake-tour/, with a PostgreSQL of its own where it is installed
	@$(BIN)/python -m tests.servers beside $(BIN)/tidemark tour

test: prepared ## lint, each requirement R1 to R5, the core's proofs, in about 12 minutes
	@$(PYTEST) -m "core or not spark"

test-all: prepared ## run everything that CI runs
	@$(PYTEST)

test-nightly: prepared ## the same with more kill points, longer histories, another seed each day
	@TIDEMARK_NIGHTLY=1 TIDEMARK_HISTORIES=2000 TIDEMARK_SEED=$$(date +%Y%m%d) $(PYTEST)

prepared: setup
	@$(MAKE) --no-print-directory --jobs 3 --output-sync=target lint .jars/classes.jsa .servers/.ready

mutations: setup .jars/classes.jsa .servers/.ready ## break the code once for each promise of docs/promises.md: a test must fail each time
	@$(BIN)/python -m tests.mutations $(ONLY)

lint: setup ## ruff, mypy, dbt-bouncer and sqlfluff
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@sh scripts/check_conventions.sh
	@TIDEMARK_LAKE=lake-lint TIDEMARK_CONNECTION_SHOP=none $(QUICK_JAVA) $(BIN)/sqlfluff lint models tests/dbt/silver
	@rm -rf lake-lint

format: setup ## mend what ruff can mend
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: setup ## build the dbt docs site of the present lake into site/
	@$(BIN)/dbt docs generate --static
	@mkdir -p site && cp target/static_index.html site/index.html
	@echo "site/index.html"

schedule: setup ## start Dagster: the daily schedule, the sensor for new files, a page on port 3000
	@DAGSTER_HOME="$(CURDIR)/.dagster" $(BIN)/dagster dev

lock: setup ## renew requirements.lock from pyproject.toml
	@$(BIN)/uv pip compile pyproject.toml --extra dev --universal --python-version 3.10 \
		--no-strip-extras --generate-hashes --no-emit-index-url --custom-compile-command "make lock" \
		--quiet --output-file requirements.lock

services: setup .servers/.ready ## start PostgreSQL (port 55432) and Kafka (port 19092) with nothing in them
	@$(BIN)/python -m tests.servers start

services-stop: ## stop them and delete what they hold
	@$(BIN)/python -m tests.servers stop

classes: .jars/classes.jsa ## archive the classes that Spark loads: each start of Spark takes a third less

.jars/classes.jsa: .jars/.ready profiles.yml
	@mkdir -p logs
	@echo "Archiving the classes that Spark loads (once, about a minute)"
	@$(QUICK_JAVA) $(BIN)/python -m python_ingest.class_archive > logs/class_archive.log 2>&1 || { cat logs/class_archive.log; exit 1; }

clean: ## remove everything that was made here, lakes included
	@rm -rf .venv .jars .servers lake lake-* target logs site *.egg-info .dagster/history .dagster/schedules .dagster/storage

.venv/.ready: requirements.lock pyproject.toml scripts/install_packages.sh
	@sh scripts/check_machine.sh "$(PYTHON)"
	@echo "Installing the Python packages into .venv (about half a minute)"
	@sh scripts/install_packages.sh "$(PYTHON)"
	@touch $@

.servers/.ready: servers.lock .venv/.ready
	@$(BIN)/python -m python_ingest.jars servers.lock .servers
	@touch $@

.jars/.ready: jars.lock .venv/.ready
	@sh scripts/check_machine.sh "$(PYTHON)"
	@$(BIN)/python -m python_ingest.jars
	@touch $@
