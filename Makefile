# The commands a newcomer needs. `make help` lists them.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
WORKERS ?= 2
FAMILY ?=
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help study test product test-all long shake check lint types imports declared warmup bench docs browser peers fuzz clean

help:  ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/bin/python:
	@echo "== virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# Installed for users: the package and what it needs at run time.
$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "== installing learnt (about a minute on a fresh machine)"
	@$(PIP) install -q -c constraints.txt -e .
	@$(BIN)/python -m compileall -qq src || true
	@touch $@

# Installed for developers: oracles, PyTorch's CPU build, Dask, linters. pip reads pages of releases and unpacks on one core:
# three of it install a third of the pins each, and a fourth the package and what no pin names (or what one of them could
# not); the package is built by what is there by then.
# It would also make bytecode of everything, on one core; most is never imported, and is compiled when it is.
UNREAD := [/\\](tests?|testing|pip|setuptools|sympy|mpmath|networkx|fontTools|pygments|mypyc?|playwright|_inductor|_dynamo|_functorch|ao|onnx|experimental|distutils|torchgen|pydantic)[/\\]
$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "== installing learnt with the dev extra (a few minutes on a fresh machine)"
	@for part in 1 2 3; do \
	  $(PIP) install -q --no-deps --no-compile $$(grep -v '^#' constraints.txt | sed -n "$${part}~3p") || true & \
	done; wait
	@$(PIP) install -q --no-compile --no-build-isolation -c constraints.txt -e '.[dev]' \
	  || $(PIP) install -q --no-compile -c constraints.txt -e '.[dev]'
	@$(BIN)/python -m compileall -qq -j 0 -x '$(UNREAD)' $(VENV)/lib src || true
	@touch $@ $(VENV)/.installed

study: $(VENV)/.installed  ## from a clone to a judged model: a study of the data set shipped in the package
	@$(BIN)/learnt study

browser:  # Debian's Chromium, which the report's tests open it in
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || { \
	  echo "== installing chromium"; \
	  if [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq chromium >/dev/null; \
	  elif command -v sudo >/dev/null; then sudo apt-get update -qq && sudo apt-get install -y -qq chromium >/dev/null; \
	  else echo "The report's tests need a browser: install Debian's chromium package and run make test again." >&2; exit 1; fi; }

# Two workers fill the cores: threads of BLAS and OpenMP that spin while they wait would take them from the other, so
# they sleep. Bytecode is kept in any case: tests start a hundred processes, and every worker reads every test.
PYTEST := PYTHONDONTWRITEBYTECODE= OPENBLAS_THREAD_TIMEOUT=4 OMP_WAIT_POLICY=passive \
  $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --durations=10

# The browser is fetched beside the packages.
test:  ## lint, import layers, and the tests that prove the product
	@$(MAKE) --no-print-directory -j 2 $(VENV)/.installed-dev browser
	@$(MAKE) --no-print-directory lint imports product

product:
	@echo "== tests" && $(PYTEST) -m "not long" $(ARGS)

test-all: test  ## make test, then types and the long tests
	@$(MAKE) --no-print-directory -j 2 types long  # mypy takes one core for a minute

long: $(VENV)/.installed-dev browser  ## the long tests alone: forged files, sweeps over threads and plain Python, long studies
	@echo "== long tests" && $(PYTEST) -m long $(ARGS)

shake: $(VENV)/.installed-dev  ## the tests under other processors' arithmetic, one thread, load, random order
	@$(BIN)/python tests/shaking/shake.py -n $(WORKERS) $(ARGS)

check: lint types imports  ## the quick checks alone

lint: $(VENV)/.installed-dev
	@echo "== ruff" && $(BIN)/ruff check . && $(BIN)/ruff format --check -q .

types: $(VENV)/.installed-dev
	@echo "== mypy" && $(BIN)/mypy

imports: $(VENV)/.installed-dev
	@echo "== import layers" && $(BIN)/lint-imports --no-cache | tail -n 3

declared: $(VENV)/.installed-dev  ## golden model files and the table of docs/coverage.md, from what the classes declare
	@$(BIN)/python tests/persistence/make_golden.py
	@$(BIN)/python docs/make_coverage.py

warmup: $(VENV)/.installed  ## compile every kernel ahead of time
	@$(BIN)/learnt warmup

bench: $(VENV)/.installed-dev  ## compare with the peers: make bench FAMILY=linear
	@$(BIN)/python benchmarks/run.py $(FAMILY)

# Nothing is installed where everything is there, so that the site is built without a network too. A warning is an error.
QUICK ?=
$(VENV)/.installed-docs: pyproject.toml constraints.txt | $(VENV)/bin/python
	@$(BIN)/python -c 'import dask, learnt, matplotlib, myst_parser, numpydoc, pandas, pydata_sphinx_theme, sphinx_design, \
	  sphinx_gallery, torch' 2>/dev/null || { echo "== installing what the site needs"; $(PIP) install -q -c constraints.txt -e '.[docs]'; }
	@touch $@

docs: $(VENV)/.installed-docs  ## the site into docs/_build/html; QUICK=1 runs no chapter and no example
	@echo "== site" && $(BIN)/python -m sphinx -q -W --keep-going -b html -D plot_gallery=$(if $(QUICK),0,1) docs docs/_build/html
	@echo "docs/_build/html/index.html"

peers: $(VENV)/.installed-dev  ## scikit-learn's own tests with our classes in place of theirs, and how many of them pass
	@$(BIN)/python tests/sklearn_own

fuzz: $(VENV)/.installed-dev  ## random estimators on random tables beside scikit-learn, by law, with a new seed
	@$(BIN)/python tests/fuzz $(ARGS)

clean:  ## remove the environment, caches and studies
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .hypothesis learnt-study* benchmarks/results docs/_build docs/api docs/lessons docs/gallery
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
