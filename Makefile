# Everything one does with this house, as verbs. `make demo` and `make test` set up all they need.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet
NODE := .build/node/node
NPM_PARTS := .build/node/node_modules
SHIPPED := pyproject.toml README.md LICENSE \
  $(shell find sidechat_mcp -type f ! -path '*/__pycache__/*' 2>/dev/null)
export PYTHON

.PHONY: help demo test check lint types rooms sizes format parts bench bench-quick lock changes clean clients soak cache
.DELETE_ON_ERROR:

help: ## what there is
	@sed -n 's/^\([a-z-]*\):.*## /  make \1 \t/p' Makefile | expand -t 20

demo: .venv/run.ok ## the main job on a shipped conversation: fork, two turns, one note
	@$(BIN)/sidechat demo

test: .venv/dev.ok parts ## the whole suite (ARGS=... goes to pytest)
	$(BIN)/python -m pytest $(ARGS)

check: lint types rooms sizes ## lint, types, rooms, sizes

lint: .venv/dev.ok
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/dev.ok $(NPM_PARTS)/.ok
	$(NODE) $(NPM_PARTS)/pyright/index.js --pythonpath $(BIN)/python

rooms: .venv/dev.ok
	$(BIN)/lint-imports --no-cache --no-logo

sizes: .venv/dev.ok
	$(BIN)/python .ci/sizes.py

format: .venv/dev.ok ## what a machine can put right by itself
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The parts that some tests need. A person whose machine cannot have them is told so and sees
# those tests skipped with the reason; in CI nothing may be missing.
parts: .venv/dev.ok
	@$(MAKE) --no-print-directory $(NPM_PARTS)/.ok .build/legacy/.ok || test -z "$$CI"

bench: .venv/dev.ok .build/bench/.ok ## what it costs, every figure with its bar (minutes)
	@$(BIN)/python -m benchmarks $(ARGS)

bench-quick: .venv/dev.ok .build/bench/.ok ## the same in a minute and a half
	@$(BIN)/python -m benchmarks --quick $(ARGS)

lock: .venv/dev.ok ## renew the locks: newest versions that fit, hashes, no addresses
	rm -f .ci/lock/*.txt
	$(LOCK) pyproject.toml --group build -o .ci/lock/run.txt
	$(LOCK) pyproject.toml --group build --extra dev -o .ci/lock/dev.txt
	$(LOCK) --group legacy -o .ci/lock/legacy.txt
	$(LOCK) --group bench -o .ci/lock/bench.txt
	$(LOCK) pyproject.toml --group build --group cache -o .ci/lock/cache.txt
	$(BIN)/python .ci/node/install.py --renew

LOCK = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-header --no-annotate

cache: .build/cache/.ok ## what a child finds in a real prefix cache (MODEL=file.gguf for a real one)
	.build/cache/bin/python -m benchmarks.cache $(if $(MODEL),--model $(MODEL))

clients: .venv/dev.ok ## all journeys in the real clients (RIG=a copy of the rig, set up; JOBS=1 KILLS=2)
	@test -n "$(RIG)" || { echo "Say where the rig is: make clients RIG=path/to/rig"; exit 2; }
	@JOBS=$(JOBS) KILLS=$(KILLS) $(BIN)/python tests/rig/table.py $(abspath $(RIG)) .build/rig $(ARGS)

JOBS ?= 1
KILLS ?= 2

soak: .venv/dev.ok parts ## kills, races and endings, over and over (ROUNDS=20)
	@for round in $$(seq $(ROUNDS)); do echo "round $$round of $(ROUNDS)"; \
	  $(BIN)/python -m pytest -q -x tests/feature/test_crashes.py tests/stores \
	    tests/mcp/test_endings.py tests/mcp/test_apart.py || exit 1; done

ROUNDS ?= 20

changes: .venv/dev.ok ## move the change fragments into the changelog
	$(BIN)/python .ci/changes.py

clean: ## remove what the other verbs made
	rm -rf .venv .build .pytest_cache .ruff_cache .hypothesis dist

# An environment with the development parts runs the demo too, from the sources as they are.
.venv/run.ok: .ci/lock/run.txt $(SHIPPED)
	@sh .ci/system
	@if test -f .venv/dev.ok; then $(MAKE) --no-print-directory .venv/dev.ok; else \
	  echo "Setting up in .venv (once) ..." && \
	  $(PYTHON) -m venv .venv && \
	  $(PIP) install --require-hashes -r .ci/lock/run.txt && \
	  $(PIP) install --no-deps --no-build-isolation .; fi
	@touch $@

.venv/dev.ok: .ci/lock/dev.txt pyproject.toml
	@sh .ci/system --install
	@echo "Setting up in .venv (once) ..."
	@$(PYTHON) -m venv .venv
	@$(PIP) install --require-hashes -r .ci/lock/dev.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(NPM_PARTS)/.ok: .ci/node/package-lock.json .ci/node/install.py .venv/dev.ok
	@echo "Setting up Node checks in .build/node (once) ..."
	@$(BIN)/python .ci/node/install.py
	@touch $@

.build/cache/.ok: .ci/lock/cache.txt
	@echo "Setting up llama.cpp in .build/cache (once) ..."
	@$(PYTHON) -m venv .build/cache
	@.build/cache/bin/python -m pip --disable-pip-version-check --quiet --quiet install \
	  --require-hashes -r .ci/lock/cache.txt
	@.build/cache/bin/python -m pip --disable-pip-version-check --quiet --quiet install \
	  --no-deps --no-build-isolation -e .
	@touch $@

.build/legacy/.ok: .ci/lock/legacy.txt
	@echo "Setting up the older client in .build/legacy (once) ..."
	@$(PYTHON) -m venv .build/legacy
	@.build/legacy/bin/python -m pip --disable-pip-version-check --quiet --quiet install \
	  --require-hashes -r .ci/lock/legacy.txt
	@touch $@

# Only what is used of these is ever compiled.
.build/bench/.ok: .ci/lock/bench.txt
	@echo "Setting up what a fork is compared with in .build/bench (once) ..."
	@$(PYTHON) -m venv .build/bench
	@.build/bench/bin/python -m pip --disable-pip-version-check --quiet --quiet install \
	  --no-compile --require-hashes -r .ci/lock/bench.txt
	@touch $@
