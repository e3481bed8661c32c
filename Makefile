# Every target does its own set-up: a virtual environment in .venv with the versions in constraints.txt.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
SITE   := $(VENV)/.ready-docs
CHROME := $(VENV)/.ready-browser

.PHONY: help demo test test-slow fuzz attacks lint format bench results tables docs sbom clean
.DEFAULT_GOAL := help

help:  ## Show what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 14

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "unnoted needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)

demo: $(READY)  ## Generate documents, hide most labels, train by three methods, and show what each finds
	$(BIN)/unnoted demo

# Browser tests use the system's Chromium. Where it cannot be installed they are skipped, and say so.
$(CHROME): $(READY)
	@if ! { command -v chromium || command -v chromium-browser || command -v google-chrome; } > /dev/null \
		&& command -v apt-get > /dev/null && [ "$$(id -u)" = 0 ]; then \
		echo "installing Chromium for the browser tests"; \
		(timeout 300 apt-get install -qq -y chromium || { timeout 120 apt-get update -qq && timeout 300 apt-get install -qq -y chromium; }) \
			> /dev/null 2>&1 < /dev/null || echo "Chromium could not be installed: the browser tests will be skipped"; \
	fi
	@touch $(CHROME)

test: $(READY) $(CHROME) lint  ## Run the linters and all tests but the slow ones
	$(BIN)/python -m pytest -n 2 -m 'not slow'

test-slow: $(READY)  ## Run the slow tests
	$(BIN)/python -m pytest -m slow

fuzz: $(READY)  ## Feed 100,000 damaged and hostile files to every reader; FUZZ="--seed 7" repeats a run
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.attacks $(FUZZ)

attacks: $(READY)  ## Kill trainings, predictions and reviews, let two write one file, share an extractor among threads
	$(BIN)/python -m tests.attacks.kill_predict --kills 30
	$(BIN)/python -m tests.attacks.kill_train --kills 20
	$(BIN)/python -m tests.attacks.two_writers
	$(BIN)/python -m tests.attacks.threads --threads 8 --documents 200
	$(BIN)/python -m tests.attacks.kill_review --kills 10 --decisions 1000

lint: $(READY)  ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)  ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)  ## Measure speed, as figures and as ratios within one run
	$(BIN)/python -m benchmarks

results: $(READY)  ## Train and score on the real data in ../shared, for hours: docs/results.md
	$(BIN)/python -m benchmarks.results runs

tables: $(READY)  ## Run the paper's tables on the real data in ../shared, for hours: docs/results.md
	$(BIN)/python -m benchmarks.results tables

$(SITE): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
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
	rm -rf $(VENV) build demo site .mypy_cache .ruff_cache .hypothesis
