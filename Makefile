# Every target sets up its own virtual environment in .venv; all that is needed is Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-all bench lint docs clean

demo: .venv/ready
	@$(BIN)/besvm demo

test: .venv/ready
	@$(BIN)/python -m pytest -m "not slow" -n 2 --dist loadfile

test-all: .venv/ready
	@$(BIN)/python -m pytest -n 2 --dist loadfile

lint: .venv/ready
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

bench: .venv/ready
	@$(BIN)/python -m benchmarks

docs: .venv/ready
	@$(BIN)/python docs/build.py

clean:
	rm -rf .venv build dist site bench-out *.egg-info

.venv/ready: pyproject.toml
	@echo "Setting up .venv (once, about a minute) ..."
	@$(PYTHON) -c 'import sys; sys.exit("besvm needs Python 3.11 or later; run make PYTHON=/path/to/python3.11" if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install -qq --disable-pip-version-check -e ".[test]"
	@touch $@
