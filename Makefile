# `make demo` grades a small class. `make test` runs the fast tests, `make test-e2e` the slow ones with
# nbgrader, a browser and a database server, `make test-all` everything; docs/architecture.md says what
# runs when. Each sets up what it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
E2E_STAMP := $(VENV)/.installed-e2e

# Tests that measure limits, or kill what runs: beside others they would measure those, too.
ALONE := tests/sandbox/test_cgroup.py tests/sandbox/test_hostile.py tests/sandbox/test_sandbox.py \
    tests/sandbox/test_memory_in_common.py tests/grading/test_faults.py
# The selftest of one of the assignments.
LATER := $(foreach test,the_suites_of_the_assignment_hold the_diagnosis_names_what_is_there_and_nothing_else,\
    'tests/e2e/test_selftest.py::test_$(test)[transformer_block]')
# With that variable every process that a test starts would compile this package anew.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest
SHARED := -n 2 --dist loadfile --no-loadscope-reorder
# By themselves these two are left out, for they need extras.
EVERYWHERE := -o 'norecursedirs=classes courses hostile .*'

.PHONY: demo pictures test test-alone test-e2e test-e2e-alone test-e2e-later test-all test-all-shared selftest lint bench oracle determinism stubs docs clean

demo: $(STAMP)
	@$(BIN)/autograder demo --root .

# The tests that run alone have one core to themselves, and what reads the code the other.
test: $(STAMP)
	$(PYTEST) $(SHARED) -m 'not slow and not release' --hypothesis-profile=quick --durations=10 \
	    $(patsubst %,--ignore=%,$(ALONE))
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint test-alone

test-alone: $(STAMP)
	$(PYTEST) -m 'not slow and not release' --durations=5 $(ALONE)

# nbgrader, PostgreSQL, JupyterLab and a browser, for real; what is missing here is skipped loudly.
# One selftest waits for the tests that run alone: it takes what they leave of both cores.
test-e2e: $(E2E_STAMP)
	$(PYTEST) $(SHARED) -m 'slow and not release' --durations=40 $(EVERYWHERE) \
	    $(patsubst %,--ignore=%,$(ALONE)) $(patsubst %,--deselect=%,$(LATER))
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-e2e-alone test-e2e-later

test-e2e-alone: $(E2E_STAMP)
	$(PYTEST) -m 'slow and not release' --durations=5 $(ALONE)

test-e2e-later: $(E2E_STAMP)
	nice -n 10 $(PYTEST) $(LATER)

# Everything, before a release: two hours on two idle cores. The selftests run beside the
# tests; tests/e2e/test_selftest.py is a part of them. What needs a browser comes by itself: its event
# loop stays in the process, where others then cannot run one.
test-all: $(E2E_STAMP) lint
	$(MAKE) --no-print-directory --jobs=2 selftest test-all-shared
	$(PYTEST) --durations=20 $(ALONE)

test-all-shared: $(E2E_STAMP)
	$(PYTEST) $(SHARED) -m 'not slow' --durations=20 $(EVERYWHERE) $(patsubst %,--ignore=%,$(ALONE))
	$(PYTEST) $(SHARED) -m slow --durations=40 $(EVERYWHERE) \
	    $(patsubst %,--ignore=%,$(ALONE) tests/e2e/test_selftest.py)

# Mutants and pairs prove the suites and not the sandbox, so they are graded on one tier. Nothing is
# kept from earlier runs.
SELFTEST = $(BIN)/autograder selftest $$name --root . --fresh --sandbox
selftest: $(STAMP)
	ended=0; for name in $(notdir $(wildcard assignments/*)); do \
	    $(SELFTEST) tier1 || ended=1; \
	    for tier in tier2 tier3; do \
	        $(SELFTEST) $$tier --quick || ended=1; \
	    done; \
	done; exit $$ended

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.docs.words

bench: $(E2E_STAMP)
	$(BIN)/python -m tests.benchmarks.bench
	$(BIN)/python -m tests.benchmarks.beside

# Whether marks, names or messages differ from those of another commit: make oracle BEFORE=main~3
oracle: $(STAMP)
	$(BIN)/python -m tests.benchmarks.oracle $(BEFORE)

# Whether results hang on caches, workers, order, load or company.
determinism: $(STAMP)
	$(BIN)/python -m tests.benchmarks.determinism

# Writes what the code knows into the pages, and the table of README.md, for which it grades the demo class.
docs: $(STAMP)
	$(BIN)/python -m tests.docs.written

# Draws the pictures of README.md: the page of the demo class, and a student's pytest. Needs Chromium.
pictures: $(E2E_STAMP)
	$(BIN)/python -m tests.docs.pictures

stubs: $(STAMP)
	for name in $(notdir $(wildcard assignments/*)); do $(BIN)/autograder stubs $$name --root . || exit 1; done

comma := ,
define installed
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] + ": name another with PYTHON=...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt --editable '.[$(1)]'
	@# By all cores, where pip takes one. Templates that only look like Python do not compile.
	@$(BIN)/python -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib || true
endef

$(STAMP): pyproject.toml constraints.txt
	$(call installed,dev)
	@touch $(STAMP)

# All at once, where nothing was installed yet: to look for each package twice takes half a minute.
$(E2E_STAMP): pyproject.toml constraints.txt
	$(call installed,dev$(comma)e2e)
	@touch $(STAMP) $(E2E_STAMP)

clean:
	rm -rf $(VENV) build demo-results *.egg-info .mypy_cache .ruff_cache .pytest_cache .oracle
