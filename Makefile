# make demo    a chat on an in-process DynamoDB; no account, nothing to start
# make test    every gate, then the tests with coverage
# make check   the gates alone          make fmt     formats
# make setup   installs into .venv      make sync    writes the sync twins of the async code
# make infra   writes what in infra/ is derived from the entities
# make costs   writes docs/COSTS.md from what calls of a store consume
#
# All of it happens in .venv, which need not be activated.  PYTHON=... picks the interpreter .venv is made with.

.DEFAULT_GOAL := test
.NOTPARALLEL:
.PHONY: setup demo test check sync infra costs fmt \
	check-sync check-infra check-costs check-format check-lint check-mypy check-pyright check-imports

PYTHON ?=
WORKERS ?= 2
PYTEST_ARGS ?=
BIN = .venv/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check -qq
export PYRIGHT_PYTHON_IGNORE_WARNINGS = 1

setup: .venv/.installed-dev

demo: .venv/.installed-demo
	@$(BIN)/singletable demo examples/transcripts/*.jsonl

test: check
	@echo "== pytest"
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --cov --cov-report=term $(PYTEST_ARGS)

check: check-sync check-infra check-costs check-format check-lint check-mypy check-pyright check-imports

check-sync: setup
	@echo "== sync twins"
	@$(BIN)/python scripts/generate_sync.py --check

check-infra: setup
	@echo "== infra"
	@$(BIN)/python scripts/generate_infra.py --check

check-costs: setup
	@echo "== costs"
	@$(BIN)/python -m scripts.generate_costs --check

check-format: setup
	@echo "== ruff format"
	@$(BIN)/ruff format --check

check-lint: setup
	@echo "== ruff check"
	@$(BIN)/ruff check

check-mypy: setup
	@echo "== mypy"
	@$(BIN)/python -m mypy

check-pyright: setup
	@echo "== pyright"
	@$(BIN)/python -m pyright

check-imports: setup
	@echo "== import-linter"
	@$(BIN)/lint-imports --no-logo

sync: setup
	@$(BIN)/python scripts/generate_sync.py

infra: setup
	@$(BIN)/python scripts/generate_infra.py

costs: setup
	@$(BIN)/python -m scripts.generate_costs

fmt: setup
	@$(BIN)/ruff check --fix --select I
	@$(BIN)/ruff format
	@$(BIN)/python scripts/generate_sync.py

# The demo needs a third of what the tests need, so each installs its own; both into one .venv, once per pyproject.toml.
.venv/.installed-demo: pyproject.toml
	@$(MAKE_VENV)
	@echo "== installing singletable and its demo into .venv"
	@$(PIP) install --editable '.[local,cli]'
	@touch $@

.venv/.installed-dev: pyproject.toml
	@$(MAKE_VENV)
	@echo "== installing singletable and its tools into .venv"
	@$(PIP) install --editable '.[dev]'
	@touch .venv/.installed-demo $@

# The first interpreter that is new enough and can make a venv with pip; asking it sorts out shims with nothing behind.
define MAKE_VENV
if ! $(BIN)/python -c 'import pip' >/dev/null 2>&1; then \
	for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python; do \
		if "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
			echo "== making .venv with $$("$$python" --version)"; \
			exec "$$python" -m venv --clear .venv; \
		fi; \
	done; \
	echo "make: no Python 3.11 or newer with venv and ensurepip on PATH; on Debian: apt-get install python3-venv" >&2; \
	exit 1; \
fi
endef
