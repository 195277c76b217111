# Every target sets up its own virtual environment in .venv; all that is needed is Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin
OLDEST := .venv-oldest
WORKERS := -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: demo test test-all test-oldest torture bench lint docs clean

demo: .venv/ready
	@$(BIN)/besvm demo

test: .venv/ready
	@$(BIN)/python -m pytest -m "not slow" $(WORKERS)

test-all: .venv/ready
	@$(BIN)/python -m pytest $(WORKERS)

# the oldest packages that pyproject.toml allows, as wheels: they are made for Python 3.11 and 3.12, and use what newer
# packages below them deprecate
test-oldest: $(OLDEST)/ready
	@NUMBA_CACHE_DIR="$(CURDIR)/$(OLDEST)/numba" $(OLDEST)/bin/python -m pytest -m "not slow" $(WORKERS) \
		-W ignore::DeprecationWarning

lint: .venv/ready
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

torture: .venv/ready
	@$(BIN)/python -m torture

bench: .venv/ready
	@$(BIN)/python -m benchmarks

docs: .venv/ready
	@$(BIN)/python docs/build.py

clean:
	rm -rf .venv $(OLDEST) build dist site bench-out src/*.egg-info

.venv/ready: pyproject.toml
	@echo "Setting up .venv (once, about a minute) ..."
	@$(PYTHON) -c 'import sys; sys.exit("besvm needs Python 3.11 or later; run make PYTHON=/path/to/python3.11" if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install -qq --disable-pip-version-check -e ".[test]"
	@touch $@

$(OLDEST)/ready: pyproject.toml
	@echo "Setting up $(OLDEST) (once, about a minute) ..."
	@$(PYTHON) -m venv --clear $(OLDEST)
	@$(PYTHON) .ci/floors.py > $(OLDEST)/floors.txt
	@$(OLDEST)/bin/pip install -qq --disable-pip-version-check --only-binary :all: -c $(OLDEST)/floors.txt -e ".[test]"
	@touch $@
