# Everything runs in .venv, which these targets set up themselves.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check clean

# The main job: d=3 cultivation with T gates and its S-proxy through `sinter collect` and `sinter plot`.
demo: .venv/installed
	$(BIN)/python -m examples.demo

# All tests, as CI runs them.
test: .venv/installed-test
	$(BIN)/python -m pytest

# Style, types and compiler warnings.
check: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --strict circuits examples benchmarks
	$(BIN)/python -m pip wheel -q --no-deps --wheel-dir build/strict \
	  --config-settings=cmake.define.SNC_WARNINGS_AS_ERRORS=ON .

SOURCES := pyproject.toml $(wildcard stim_nonclifford/native/*)

.venv/bin/python:
	$(PYTHON) -c "import sys; sys.exit('Python 3.10 or later is needed, this is %s; try make PYTHON=python3.12' % sys.version.split()[0] if sys.version_info < (3, 10) else 0)"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --upgrade pip

# The package is installed in editable mode: only changes of C++ code need a new build.
.venv/installed: .venv/bin/python $(SOURCES)
	$(BIN)/python -m pip install -q -e .
	touch $@

.venv/installed-test: .venv/installed
	$(BIN)/python -m pip install -q -e '.[test]'
	touch $@

.venv/installed-dev: .venv/installed
	$(BIN)/python -m pip install -q -e '.[dev]'
	touch $@

clean:
	rm -rf .venv build out
