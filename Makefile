# Two commands do everything on a fresh machine with Python 3.11 to 3.13: `make run` and `make test`.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3 python; do \
	if command -v $$name >/dev/null 2>&1 && $$name -c 'import sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; \
	then echo $$name; break; fi; done)
MKDOCS ?= $(BIN)/mkdocs
# Of tests side by side. Whole stacks and kills run one after the other: they take ports that others free, and all cores.
PROCESSES ?= 2
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help setup run test check format format-check lint types contracts dependencies audit unit tools dashboards reference docs bench hot-path bench-scale bench-judge bench-detector bench-round detection-picture mutate-detector mutate-rules chaos lock clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "ragsonde needs Python 3.11, 3.12 or 3.13; set PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "$(PYTHON) cannot make a virtual environment; on Debian: apt install python3-venv" >&2; exit 1; }

$(VENV)/.run: requirements/run.lock pyproject.toml | $(BIN)/python
	@echo "installing ragsonde into $(VENV) (a minute or two, once)"
	@$(BIN)/python deploy/tools/install.py requirements/run.lock
	@$(PIP) install --no-deps -e .
	@touch $@

$(VENV)/.dev: requirements/dev.lock pyproject.toml | $(BIN)/python
	@echo "installing ragsonde and its development tools into $(VENV) (a minute or two, once)"
	@$(BIN)/python deploy/tools/install.py requirements/dev.lock
	@$(PIP) install --no-deps -e .
	@touch $@ $(VENV)/.run

setup: $(VENV)/.dev  ## make .venv with everything that development needs

run: $(VENV)/.run  ## start everything here, with demo traces; Ctrl-C stops it
	@$(BIN)/ragsonde up --demo

test: $(VENV)/.dev  ## the checks and the whole test suite, as far as the services at hand allow
	@$(MAKE) --no-print-directory format-check lint types contracts dependencies
	@failed=0; \
	$(BIN)/pytest -n $(PROCESSES) --dist loadfile tests/unit tests/golden tests/contract tests/integration || failed=1; \
	$(BIN)/pytest tests/e2e tests/chaos || failed=1; \
	exit $$failed

check: $(VENV)/.dev  ## format, lint, types, import contracts, dependencies, unit tests: under 2 minutes
	@$(MAKE) --no-print-directory format-check lint types contracts dependencies unit

format: $(VENV)/.dev  ## format the code
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --fix --quiet .

format-check: $(VENV)/.dev
	@$(BIN)/ruff format --check --quiet . || { \
		$(BIN)/ruff format --check . >&2; echo "not formatted: run 'make format'" >&2; exit 1; }

lint: $(VENV)/.dev
	@$(BIN)/ruff check --quiet .

types: $(VENV)/.dev
	@$(BIN)/mypy --no-error-summary

contracts: $(VENV)/.dev
	@$(BIN)/lint-imports --no-cache >$(VENV)/contracts.log || { cat $(VENV)/contracts.log >&2; exit 1; }

dependencies: $(VENV)/.dev
	@$(BIN)/python deploy/tools/audit.py

audit: $(VENV)/.dev  ## ask a public database for vulnerabilities of what is locked, where the network allows
	@$(BIN)/python deploy/tools/audit.py --vulnerabilities $(BIN)/uv tool run --from 'pip-audit>=2.7,<3' pip-audit

unit: $(VENV)/.dev
	@$(BIN)/pytest -n $(PROCESSES) --dist loadfile tests/unit tests/golden -q

tools:  ## unpack Debian's promtool, Prometheus and Alertmanager into .tools/ (no service is started)
	@deploy/tools/unpack.sh .tools

dashboards: $(VENV)/.dev  ## write deploy/grafana/*.json; elsewhere: make dashboards ARGS='FOLDER --page https://rag.example'
	@PYTHONPATH=deploy/grafana $(BIN)/python -m dashboards $(ARGS)

reference: $(VENV)/.dev  ## write the pages of docs/reference that come from the code
	@PYTHONPATH=deploy/docs $(BIN)/python -m reference_pages

docs: $(VENV)/.dev  ## build the documentation into build/site; by another MkDocs: make docs MKDOCS=PATH
	@# not --quiet: that keeps --strict from seeing warnings
	@NO_MKDOCS_2_WARNING=true $(MKDOCS) build --strict --site-dir build/site

bench: $(VENV)/.dev  ## one table: measured figures beside their bars, as ratios in one run
	@$(BIN)/python tests/benchmarks/bench.py

hot-path: $(VENV)/.dev  ## where a worker's CPU goes, by package and library: needs RabbitMQ, Postgres and root
	@$(BIN)/python tests/benchmarks/hot_path.py $(BIN)/uv tool run --from 'py-spy>=0.4,<1' py-spy

bench-scale: $(VENV)/.dev  ## inserts and reads at 0.3, 1 and 3 million stored traces: an hour, 25 GB of disk
	@nice -n 10 $(BIN)/python tests/benchmarks/scale/measure_scale.py $(ARGS)

bench-judge: $(VENV)/.dev  ## accuracy of the lexical judge on labelled data: make bench-judge DATA=file.jsonl
	@test -n "$(DATA)" || { echo "usage: make bench-judge DATA=file.jsonl" >&2; exit 2; }
	@$(BIN)/python tests/benchmarks/judge/measure_judge.py $(DATA)

bench-detector: $(VENV)/.dev  ## the regression detector beside the usual rules on made-up streams: some minutes
	@nice -n 10 $(BIN)/python tests/benchmarks/detector/measure_detector.py $(ARGS)

detection-picture: $(VENV)/.dev  ## docs/images/detection.svg anew: one detection on a made-up stream
	@$(BIN)/python tests/benchmarks/detector/draw_detection.py

bench-round: $(VENV)/.dev  ## CPU of the monitor's round over a thousand streams beside its bar; needs Postgres
	@$(BIN)/python tests/benchmarks/detector/round_costs.py $(ARGS)

mutate-detector: $(VENV)/.dev  ## rules of the detector broken one at a time: which ones do its unit tests miss?
	@nice -n 10 $(BIN)/python tests/benchmarks/detector/mutate_detector.py $(ARGS)

mutate-rules: $(VENV)/.dev tools  ## faults in the alert rules, one at a time: which ones do their tests miss?
	@$(BIN)/python tests/benchmarks/rules/mutate_rules.py $(ARGS)

chaos: $(VENV)/.dev  ## kills, restarts, cut networks and a long load; ends with a table, also in build/chaos.md
	@CHAOS=long CHAOS_REPORT=build/chaos.md $(BIN)/pytest tests/chaos tests/integration/judging/test_many_faults.py \
		-m 'chaos or integration' -q

lock: | $(BIN)/python  ## pin all dependencies with hashes again
	@$(PIP) install 'uv>=0.8,<1'
	@$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--no-emit-index-url --extra embedded --extra otlp pyproject.toml -o requirements/run.lock --quiet
	@$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--no-emit-index-url --all-extras -c requirements/run.lock pyproject.toml -o requirements/dev.lock --quiet

clean:  ## remove what was installed and built, not the data
	@rm -rf $(VENV) .tools build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
