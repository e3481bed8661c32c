# Every target does its own set-up: a virtual environment in .venv with the versions in constraints.txt.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
SITE   := $(VENV)/.ready-docs
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check
BASE   ?= HEAD

.PHONY: help demo quick test test-slow fuzz browser lint format bench results docs sbom clean
.DEFAULT_GOAL := help

help:  ## Show what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 14

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "unnoted needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'
	$(PIP) install --no-compile -c constraints.txt -e . --group dev
	touch $(READY)

demo: $(READY)  ## Generate documents, hide most labels, train by three methods, and show what each finds
	$(BIN)/unnoted experiment demo

quick: $(READY)  ## Check style, and run the unit tests of what changed since the last commit (BASE=main: since main)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest -q -m 'not slow' $$($(BIN)/python tools/changed_tests.py $(BASE))

# Browser tests use the system's Chromium, which is fetched while the other checks run. Where there is none, the
# end of every run says how many tests were left out.
test: $(READY)  ## Run the linters and all tests but the slow ones
	@$(MAKE) --silent browser > /dev/null 2>&1 &
	@$(MAKE) --silent lint
	$(BIN)/python -m pytest -n 2 -m 'not slow'

browser:  ## Install Chromium for the browser tests, where that can be done with apt-get
	@if ! { command -v chromium || command -v chromium-browser || command -v google-chrome; } > /dev/null \
		&& command -v apt-get > /dev/null && [ "$$(id -u)" = 0 ]; then \
		timeout 300 apt-get install -qq -y chromium < /dev/null \
			|| { timeout 120 apt-get update -qq && timeout 300 apt-get install -qq -y chromium < /dev/null; }; \
	fi

test-slow: $(READY)  ## Run the slow tests: kills, load, 8 bits, long simulations
	$(BIN)/python -m pytest -m slow

fuzz: $(READY)  ## Feed 100,000 damaged and hostile files to every reader; FUZZ="--seed 7" repeats a run
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.attacks $(FUZZ)

lint: $(READY)  ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)  ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)  ## Measure speed, as figures and as ratios within one run
	$(BIN)/python -m benchmarks speed
	$(BIN)/python -m benchmarks report

results: $(READY)  ## Train and score on the real data in ../shared, for hours; writes the tables of docs/results
	$(BIN)/python -m benchmarks train
	$(BIN)/python -m benchmarks analyse
	$(BIN)/python -m benchmarks report

$(SITE): $(READY)
	$(PIP) install -c constraints.txt --group docs
	touch $(SITE)

docs: $(SITE)  ## Build the documentation as a web site in site/; a broken link or name is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

sbom:  ## List everything that an installation brings, with its licences, in build/sbom/unnoted.cdx.json
	rm -rf build/sbom
	$(PYTHON) -m venv build/sbom/installed
	build/sbom/installed/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt .
	$(PYTHON) -m venv build/sbom/tool
	build/sbom/tool/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt cyclonedx-bom
	build/sbom/tool/bin/cyclonedx-py environment build/sbom/installed --pyproject pyproject.toml \
		--mc-type library --output-reproducible --output-file build/sbom/unnoted.cdx.json

clean:  ## Remove what was made
	rm -rf $(VENV) build dist demo site .mypy_cache .ruff_cache .hypothesis
