# The commands of Pratique; `make help` lists them. Each does its own set-up, which is instant when nothing has changed.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PY := .venv/bin/python
BIN := .venv/bin
INSTALLED := .venv/.installed
PYTEST_ARGS ?=

.PHONY: help setup install demo up down check test images bench bench-laundering model lock clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 18

setup: $(INSTALLED) ## the virtual environment with everything pinned

$(INSTALLED): requirements/dev.lock pyproject.toml sdk/pyproject.toml infra/venv.sh
	@infra/venv.sh
	@touch $@

install: setup ## Java, Maven and the broker's jars, where they are missing
	@$(PY) -m infra.stack install

demo: install ## the whole way on real Kafka: sample conversations in, a table of verdicts out; leaves nothing running
	@$(PY) -m infra.stack demo

up: install ## start the development stack and leave it running; .pratique/stack.json says where it is
	@$(PY) -m infra.stack up

down: setup ## stop the development stack
	@$(PY) -m infra.stack down

check: setup ## format, lint, types, import contracts, dead links
	@echo "pratique: format" >&2; $(BIN)/ruff format --check --quiet .
	@echo "pratique: lint" >&2; $(BIN)/ruff check --quiet .
	@echo "pratique: types" >&2; $(BIN)/mypy
	@echo "pratique: import contracts" >&2; $(BIN)/lint-imports --no-logo
	@echo "pratique: links" >&2; $(PY) -m infra.checks.dead_links

images: install ## a Docker engine and the images of the broker and of Redis
	@infra/images/ensure-docker.sh
	@infra/images/build-kafka-image.sh >/dev/null
	@infra/images/build-redis-image.sh >/dev/null

test: images ## the whole test suite; PYTEST_ARGS narrows it
	@$(PY) -m infra.stack install --for-tests
	@echo "pratique: tests" >&2; $(BIN)/pytest $(PYTEST_ARGS)

bench: install ## the benchmarks; writes a JSON result
	@$(PY) -m tests.bench

bench-laundering: setup ## what compaction makes of planted text, simulated over CORPORA (default ../shared/corpora); writes JSON
	@PRATIQUE_CORPORA=$(or $(CORPORA),../shared/corpora) $(PY) -m tests.bench.laundering

model: setup ## train the injection model anew, from CORPORA (default ../shared/corpora); minutes, about 4 GB
	@OPENBLAS_NUM_THREADS=1 $(PY) -m infra.models.injection.train $(or $(CORPORA),../shared/corpora)

lock: setup ## pin requirements/*.in anew
	@for name in run dev; do \
	  echo "pratique: locking $$name" >&2; \
	  $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --emit-build-options \
	    --custom-compile-command 'make lock' --output-file requirements/$$name.lock requirements/$$name.in; \
	done

clean: ## remove everything that these commands made; stops the stack first
	@if [[ -x $(PY) ]]; then $(PY) -m infra.stack down; fi
	@rm -rf .venv .pratique infra/kafka/target build dist sdk/dist .mypy_cache .ruff_cache .pytest_cache .hypothesis \
	  .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
