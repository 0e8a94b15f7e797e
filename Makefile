# Everything runs in .venv, which these targets set up themselves.
PYTHON ?= python3
BIN := .venv/bin

NATIVE := pyproject.toml $(wildcard stim_nonclifford/native/* stim_nonclifford/kernels/*)
# An editable installation knows the modules that there are: another list of files, another installation.
LIST := $(shell find stim_nonclifford sinter_plugin -name '*.py' | sort | cksum | cut -d' ' -f1)
INSTALLED := .venv/installed-$(LIST)

.PHONY: demo test check clean

# The main job: d=3 cultivation with T gates and its S-proxy through `sinter collect` and `sinter plot`.
demo: $(INSTALLED)
	$(BIN)/python -m examples.demo

# All tests, as CI runs them.
test: $(INSTALLED)-test
	$(BIN)/python -m pytest

# Style, types and compiler warnings.
check: $(INSTALLED)-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pip wheel -q --no-deps --wheel-dir build/strict \
	  --config-settings=cmake.define.SNC_WARNINGS_AS_ERRORS=ON .

.venv/bin/python:
	@$(PYTHON) -c "import sys; v = sys.version.split()[0]; \
	  sys.exit('Python 3.10 or later is needed, this is ' + v + '; try make PYTHON=python3.12' \
	  if sys.version_info < (3, 10) else 0)"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --upgrade pip

# In editable mode: changes of Python code need nothing, changes of C++ code a new build.
$(INSTALLED): .venv/bin/python $(NATIVE)
	$(BIN)/python -m pip install -q -e .
	touch $@

# These compile the C++ code too, so they do not wait for the one above.
$(INSTALLED)-test: .venv/bin/python $(NATIVE)
	$(BIN)/python -m pip install -q -e '.[test]'
	touch $(INSTALLED) $@

$(INSTALLED)-dev: .venv/bin/python $(NATIVE)
	$(BIN)/python -m pip install -q -e '.[dev]'
	touch $(INSTALLED) $(INSTALLED)-test $@

clean:
	rm -rf .venv build out
