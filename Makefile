# Everything runs in .venv, which these targets set up themselves.
PYTHON ?= python3
BIN := .venv/bin
# Shows which file is being compiled; what pip says is shown if it fails.
COMPILE := $(BIN)/python .ci/with_progress "Compiling, 1 to 6 minutes the first time" \
  $(BIN)/python -m pip install -v --no-build-isolation --no-deps
DOWNLOAD = @$(BIN)/python .ci/requirements $* >$@.txt && \
  $(BIN)/python .ci/with_progress "Installing what is in $@.txt" $(BIN)/python -m pip install -r $@.txt && mv $@.txt $@
STARTED := $(shell date +%s)

NATIVE := pyproject.toml $(shell find stim_nonclifford/native -type f)
# An editable installation holds a list of the modules. If the list of files changes, it is installed again.
LIST := $(shell find stim_nonclifford sinter_plugin -name '*.py' | sort | cksum | cut -d' ' -f1)
COMPILED := .venv/installed-$(LIST)
INSTALLED := .venv/requirements $(COMPILED)

.PHONY: demo compiled install quick test test-all gpu-check fuzz check docs results notebooks portable wheel sanitize clean

# The main example: cultivation with T gates and its S-proxy, sampled through `sinter collect` at d=3, computed from
# fault sets at d=3 and d=5, and plotted with `sinter plot`.
demo: $(INSTALLED)
	$(BIN)/python -m examples.demo --started $(STARTED)

# The package alone; what it needs may be downloaded beside.
compiled: $(COMPILED)

# What all targets below need, at once.
install: $(INSTALLED) .venv/requirements-dev .venv/requirements-docs

# The tests in two processes; the one that is done first takes tests from the other. Shows how many of them have run, and
# at the end which were slow and why some were skipped. TESTS are arguments of pytest, such as the files to run. NumPy's
# products of matrices would take all cores in each process, and mostly wait for each other there.
PYTEST := PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal -o console_output_style=count -rs --durations=25
# With DAY, a date, a tenth of the slow tests run, too: another one on each of ten days.
test: $(INSTALLED) .venv/requirements-test
	$(if $(DAY),STIM_NONCLIFFORD_SLOW_DAY=$(DAY)) $(PYTEST) $(if $(DAY),,-m "not slow") $(TESTS)

# The tests of some rooms, which are folders of tests/: make quick rooms="dialect simulation/engines". Without names, those
# of what differs from the branch main. See .ci/rooms.
quick: $(INSTALLED) .venv/requirements-test
	$(PYTEST) -m "not slow" $$(.ci/rooms $(rooms))

# And the tests that take long: examples and tutorials from beginning to end, more seeds, larger codes. CI runs these
# where it runs in parts, on several machines.
test-all: test
	$(PYTEST) -m slow $(TESTS)

# The kernels of the GPU engine, run without a GPU from the PTX that NVRTC makes of them, on many more circuits than `make
# test` does. Needs g++ and Linux on x86-64; takes half an hour.
gpu-check: $(INSTALLED) .venv/requirements-test
	$(PYTEST) tests/simulation/gpu/test_ptx_engine.py tests/simulation/gpu/test_ptx_emulator.py

# What `make test` has a few thousand of: circuit texts and tags after random changes, and texts that are large in
# structure. CASES is the number of the former; of the latter, which take longer, there are a tenth as many.
CASES ?= 100000
fuzz: $(INSTALLED) .venv/requirements-test
	STIM_NONCLIFFORD_FUZZ=$(CASES) $(BIN)/python -m pytest tests/simulation/limits/test_fuzzed_input.py tests/simulation/limits/test_structured_input.py

# Style, types and compiler warnings.
check: $(INSTALLED) .venv/requirements-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pip wheel -q --no-build-isolation --no-deps --wheel-dir build/strict \
	  --config-settings=cmake.define.SNC_WARNINGS_AS_ERRORS=ON .

# The documentation site, in build/site: open build/site/index.html. A broken link is an error, which --quiet would hide. It
# works without a network.
docs: $(INSTALLED) .venv/requirements-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The numbers of docs/results, computed and counted again where their tables in docs/plots/data are missing: about five hours
# on two idle cores, as estimated from the rows. It may be interrupted, and goes on where it stopped; `python -m benchmarks.results --list` shows what is left.
results: $(INSTALLED)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.results $(RESULTS)

# Executes the tutorials and stores their outputs; `make test` compares these with those of a fresh run.
notebooks: $(INSTALLED) .venv/requirements-docs
	$(BIN)/jupyter nbconvert --to notebook --execute --inplace docs/tutorials/*.ipynb

# The native module, compiled for the machines that CI does not have: see .ci/portable.
portable: .venv/build-tools
	.ci/portable

# The wheels for this machine and the source distribution, in dist/: see .ci/wheel.
wheel:
	.ci/wheel

# For developers: tests of the engines with a native module that checks itself, for memory and undefined behaviour, and
# then for races of threads (GCC on Linux; some 15 minutes). CI does not run it.
sanitize: $(INSTALLED) .venv/requirements-test
	.ci/sanitize memory
	.ci/sanitize threads

.venv/bin/python:
	@$(PYTHON) -c "import sys; v = sys.version.split()[0]; \
	  sys.exit('Python 3.10 or later is needed, this is ' + v + '; try make PYTHON=python3.12' \
	  if sys.version_info < (3, 10) else 0)"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --upgrade pip

# The tools that build wheels, with CMake and Ninja if the machine has none. Builds run without build isolation:
# they find the headers in the same place as the last time, and compile only what has changed.
.venv/build-tools: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install -q 'scikit-build-core>=0.10'
	$(BIN)/python -m pip install -q 'nanobind>=2.4' $$($(BIN)/python -c \
	  'from scikit_build_core.build import get_requires_for_build_wheel as more; print(*more())')
	touch $@

# Editable mode: changes of Python code take effect at once, changes of C++ code need a new build.
$(COMPILED): .venv/build-tools $(NATIVE)
	$(COMPILE) -e .
	touch $@

# What the package needs, and its extras. These are built, where they come as sources, as their authors built them: with
# build isolation.
.venv/requirements: .venv/build-tools
	$(DOWNLOAD)

.venv/requirements-%: .venv/build-tools
	$(DOWNLOAD)

clean:
	rm -rf .venv build out
