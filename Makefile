# `make` lists the targets.
PYTHON ?= python3
BIN := .venv/bin
# images often set it; without compiled modules, each process takes 4 seconds more to start
export PYTHONDONTWRITEBYTECODE :=
QUICK_JAVA := TIDEMARK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1 # Java's quick compiler alone, for what ends soon
.DEFAULT_GOAL := help
.PHONY: cluster-test conformance help setup prepared demo tour test test-all test-nightly test-dbt-1.11 mutations bench bench-quick classes lint format docs site schedule lock notices sbom services services-stop clean
SCALES ?= 1,10,100
PYTEST := $(BIN)/python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 15

setup: .venv/.ready .jars/.ready ## create the virtual environment and download the jars, once

demo: .venv/.run .jars/.ready ## land the real purchase log in lake/ month by month, build its models, prove every table
	@$(QUICK_JAVA) $(BIN)/tidemark demo

tour: setup ## show R1 to R5 on small examples in lake-tour/, with its own PostgreSQL if it is installed
	@$(BIN)/python -m dev.servers run $(BIN)/tidemark tour

test: prepared ## lint, test each requirement R1 to R5 and the core, in about 12 minutes
	@$(PYTEST) -m "core or not spark"

test-all: prepared ## run everything that CI runs
	@$(PYTEST)

test-nightly: prepared ## run everything with more kill points, longer histories and a new random seed each day, then on dbt-core 1.11
	@TIDEMARK_NIGHTLY=1 TIDEMARK_HISTORIES=2000 TIDEMARK_QUERIES=200 TIDEMARK_SEED=$$(date +%Y%m%d) $(PYTEST)
	@$(MAKE) --no-print-directory test-dbt-1.11

test-dbt-1.11: prepared .venv-dbt-1.11/.ready ## run `make test-all` on dbt-core 1.11, in an environment of its own
	@PATH="$(CURDIR)/.venv-dbt-1.11/bin:$$PATH" $(subst $(BIN),.venv-dbt-1.11/bin,$(PYTEST))

cluster-test: prepared ## run the main job on a cluster with a worker killed, and on Connect and Thrift servers
	@TIDEMARK_NIGHTLY=1 $(BIN)/python -m pytest tests/lakehouse/test_cluster.py tests/lakehouse/test_servers.py tests/kills/test_stream.py

conformance: prepared ## run dbt's adapter tests on Tidemark and on stock dbt-spark, and write docs/conformance.md
	@$(BIN)/python -m tests.adapter.conformance

prepared: setup
	@$(MAKE) --no-print-directory --jobs 3 --output-sync=target lint .jars/classes.jsa .servers/.ready

mutations: setup .jars/classes.jsa .servers/.ready ## break the code once for each promise in docs/promises.md; a test must fail each time
	@$(BIN)/python -m tests.mutations $(ONLY)

bench: setup .venv-bench/.ready ## measure Tidemark and its peers up to 30 million rows, in an hour; SCALES=1,10,100,333: 100 million
	@.venv-bench/bin/python -m benchmarks.peers --scales $(SCALES)

bench-quick: setup .venv-bench/.ready ## the same with 300,000 rows, in 5 minutes, into target/peers.md
	@.venv-bench/bin/python -m benchmarks.peers --scales 1 --repetitions 1 --warm-ups 1 --out target/peers.md

lint: setup ## run ruff, mypy, dbt-bouncer, import-linter and sqlfluff
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python scripts/check_line_width.py
	@sh scripts/check_conventions.sh
	@TIDEMARK_LAKE=lake-lint TIDEMARK_CONNECTION_SHOP=none $(QUICK_JAVA) $(BIN)/sqlfluff lint models tests/dbt/silver
	@rm -rf lake-lint

format: setup ## fix what ruff can fix, and format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: setup ## build the dbt docs site of the current lake in site/
	@$(BIN)/dbt docs generate --static
	@mkdir -p site && cp target/static_index.html site/index.html
	@echo "site/index.html"

site: setup ## build the site of docs/ in target/docs/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "target/docs/index.html; .venv/bin/mkdocs serve shows it with search"

schedule: setup ## start Dagster: the daily schedule, the sensor for new files, a web page on port 3000
	@DAGSTER_HOME="$(CURDIR)/.dagster" $(BIN)/dagster dev

lock: setup ## update the locks from pyproject.toml
	@$(BIN)/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 \
		--no-strip-extras --generate-hashes --no-emit-index-url --custom-compile-command "make lock" \
		--quiet --output-file requirements.lock
	@printf 'setuptools>=77\n' | $(BIN)/uv pip compile pyproject.toml - --extra erase --extra lineage --extra report \
		--constraint requirements.lock --universal --python-version 3.11 --no-strip-extras --generate-hashes --no-annotate \
		--no-emit-index-url --custom-compile-command "make lock" --quiet --output-file requirements-run.lock
	@printf 'dbt-core>=1.11.14,<1.12\ndbt-semantic-interfaces>=0.9,<0.10\n' | $(BIN)/uv pip compile - --no-deps --universal \
		--python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url \
		--custom-compile-command "make lock" --quiet --output-file requirements-dbt-1.11.lock

notices: setup ## update THIRD_PARTY_NOTICES.md from the locks
	@$(BIN)/python -m scripts.notices

sbom: .venv/.ready ## write the bill of materials of the locks (CycloneDX) to dist/sbom.cdx.json
	@$(BIN)/python -m scripts.sbom dist/sbom.cdx.json

services: setup .servers/.ready ## start an empty PostgreSQL (port 55432) and Kafka (port 19092)
	@$(BIN)/python -m dev.servers start

services-stop: ## stop PostgreSQL and Kafka, and delete their data
	@$(BIN)/python -m dev.servers stop

classes: .jars/classes.jsa ## archive the classes that Spark loads, so that Spark starts in a third less time

.jars/classes.jsa: .jars/.ready tidemark/spark/spark.yml
	@mkdir -p logs
	@echo "Archiving the classes that Spark loads (once, about a minute)"
	@$(QUICK_JAVA) $(BIN)/python -m tidemark.cli.class_archive > logs/class_archive.log 2>&1 || { cat logs/class_archive.log; exit 1; }

clean: ## delete everything that was created here, including the lakes
	@rm -rf .venv .venv-bench .venv-dbt-1.11 .jars .servers lake lake-* target logs site dist build *.egg-info .dagster/history .dagster/schedules .dagster/storage

# the demo needs no tools of development
.venv/.run: requirements-run.lock pyproject.toml scripts/install_packages.sh
	@sh scripts/check_machine.sh "$(PYTHON)"
	@echo "Installing the Python packages into .venv (about half a minute)"
	@sh scripts/install_packages.sh "$(PYTHON)" .venv requirements-run.lock
	@touch $@

.venv/.ready: requirements.lock .venv/.run
	@echo "Installing the tools of development into .venv (some seconds)"
	@sh scripts/install_packages.sh "$(PYTHON)" .venv requirements.lock
	@touch $@

.venv-dbt-1.11/.ready: requirements.lock requirements-dbt-1.11.lock pyproject.toml scripts/install_packages.sh
	@echo "Installing the packages with dbt-core 1.11 into .venv-dbt-1.11 (about half a minute)"
	@sh scripts/install_packages.sh "$(PYTHON)" .venv-dbt-1.11 requirements.lock requirements-dbt-1.11.lock
	@touch $@

.venv-bench/.ready: pyproject.toml .venv/.ready
	@echo "Installing the peers' packages into .venv-bench (about a minute)"
	@$(BIN)/python -m venv .venv-bench
	@$(BIN)/uv pip install --quiet --python .venv-bench/bin/python --editable '.[bench]' 2>.venv-bench/uv.log \
		|| .venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

.servers/.ready: servers.lock .venv/.ready
	@$(BIN)/python -m tidemark.spark.jars servers.lock .servers
	@touch $@

.jars/.ready: tidemark/spark/jars.lock .venv/.run
	@sh scripts/check_machine.sh "$(PYTHON)"
	@$(BIN)/python -m tidemark.spark.jars
	@touch $@
