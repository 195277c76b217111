# Every target sets up its own virtual environment in .venv; all that is needed is Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin
OLDEST := .venv-oldest
DIST := .venv-dist
# tests start many processes of Python: compiled files are kept even where the shell says otherwise
export PYTHONDONTWRITEBYTECODE :=
WORKERS := -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: demo test test-all test-oldest torture bench lint docs notebooks dist clean

demo: .venv/ready
	@$(BIN)/besvm demo

test: .venv/test-ready
	@$(BIN)/python -m pytest -m "not slow" $(WORKERS)

test-all: .venv/docs-ready
	@$(BIN)/python -m pytest $(WORKERS)

# the oldest packages that pyproject.toml allows, as wheels: they are made for Python 3.11 and 3.12, and use what newer
# packages below them deprecate
test-oldest: $(OLDEST)/ready
	@NUMBA_CACHE_DIR="$(CURDIR)/$(OLDEST)/numba" $(OLDEST)/bin/python -m pytest -m "not slow" $(WORKERS) \
		-W ignore::DeprecationWarning

lint: .venv/test-ready
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

torture: .venv/test-ready
	@$(BIN)/python -m torture

bench: .venv/test-ready
	@$(BIN)/python -m benchmarks

docs: .venv/docs-ready
	@echo "Building the site (about a minute) ..."
	@$(BIN)/python docs/build.py
	@$(BIN)/python -m sphinx -q -W --keep-going -j 3 -d build/doctrees docs site
	@$(BIN)/python docs/check_links.py site
	@echo "open site/index.html"

# the sdist and the wheel, into dist/; without a network once $(DIST) is there
dist: $(DIST)/ready
	@$(DIST)/bin/python .ci/dist.py

# examples/notebooks, from the tutorials of the same names
notebooks: .venv/test-ready
	@$(BIN)/python docs/notebooks.py

clean:
	rm -rf .venv $(OLDEST) $(DIST) build dist site bench-out src/*.egg-info docs/tutorials docs/reference/commands.rst \
		docs/reference/modules docs/reference/names docs/reference/uses docs/sg_execution_times.rst

.venv/ready: pyproject.toml
	@echo "Setting up .venv (once, about a minute) ..."
	@$(PYTHON) -c 'import sys; sys.exit("besvm needs Python 3.11 or later; run make PYTHON=/path/to/python3.11" if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install -qq --disable-pip-version-check -e ".[plots,report]"
	@touch $@

.venv/test-ready: .venv/ready
	@echo "Installing what the tests need (once, about a minute) ..."
	@$(BIN)/pip install -qq --disable-pip-version-check -e ".[test]"
	@touch $@

.venv/docs-ready: .venv/test-ready
	@echo "Installing what makes the site (once, a few seconds) ..."
	@$(BIN)/pip install -qq --disable-pip-version-check -e ".[docs]"
	@touch $@

$(OLDEST)/ready: pyproject.toml
	@echo "Setting up $(OLDEST) (once, about a minute) ..."
	@$(PYTHON) -m venv --clear $(OLDEST)
	@$(PYTHON) .ci/floors.py > $(OLDEST)/floors.txt
	@$(OLDEST)/bin/pip install -qq --disable-pip-version-check --only-binary :all: -c $(OLDEST)/floors.txt -e ".[test]"
	@touch $@

$(DIST)/ready: pyproject.toml
	@echo "Setting up $(DIST) (once, a few seconds) ..."
	@$(PYTHON) -m venv --clear $(DIST)
	@$(DIST)/bin/pip install -qq --disable-pip-version-check "build>=1.2" "setuptools>=77"
	@touch $@
