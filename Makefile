# Everything that is done to this repository. Needs Python 3.11 or newer, git and make; all else is
# installed into .venv, in the versions that requirements.lock names.

PYTHON  ?= python3
ADDRESS ?= 127.0.0.1:8000
ARGS    ?=

VENV := .venv
BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip --quiet

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Notices about MkDocs 2 on every build; we pin MkDocs 1.
export NO_MKDOCS_2_WARNING := 1
export DISABLE_MKDOCS_2_WARNING := true

# The kernel that runs notebooks while the site is built: encrypted, or it warns that it isn't.
export JUPYTER_CONFIG_PATH := $(CURDIR)/.jupyter

# Dates on the site are those of the commit, so that two builds of it are the same, byte for byte.
ifndef SOURCE_DATE_EPOCH
COMMITTED := $(shell git log -1 --format=%ct 2>/dev/null)
ifneq ($(COMMITTED),)
export SOURCE_DATE_EPOCH := $(COMMITTED)
endif
endif

.DEFAULT_GOAL := help
.PHONY: release-check help site site-zensical serve links test golden test-reproduce test-versions soak check format package lock reference vega \
	screenshots bench lighthouse clean
# Two installations into one .venv would get in each other's way.
.NOTPARALLEL:

help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' Makefile

site: $(VENV)/.installed-site ## Build the website into site/
	$(BIN)/mkdocs build --strict --clean
	@echo
	@echo "The website is in $(CURDIR)/site/index.html"
	@echo "To look at it: make serve"

# Its pages of notebooks are missing: mkdocs-jupyter makes them.
site-zensical: $(VENV)/.installed-test ## Build the website into site/ with Zensical
	$(BIN)/gridatlas build --site --strict --host zensical

# Notebooks stay without output: to run them takes longer than all the rest of a rebuild.
serve: $(VENV)/.installed-site ## Show the website and rebuild it as files change (ADDRESS=127.0.0.1:8000)
	EXECUTE_NOTEBOOKS=false $(BIN)/mkdocs serve --no-strict --dev-addr $(ADDRESS)

links: $(VENV)/.installed-site ## Follow all links of site/, as it is served (SITE_URL=https://…/ says where)
	$(BIN)/python tests/sites/check_links.py site

# A process per processor; one that has nothing left to do takes tests from the end of another's.
# Each of hundreds of processes would compile our code anew, where Python may not keep it.
test: $(VENV)/.installed-test ## Run the tests (ARGS="-k claims" for some of them)
	$(BIN)/python tests/browser/install.py
	$(BIN)/python -m compileall -q plugin
	$(BIN)/python -m pytest --numprocesses logical --dist worksteal $(ARGS)

golden: export CI := true
golden: $(VENV)/.installed-test ## Record the golden sites anew, after a change that pages are meant to show
	$(BIN)/python -m pytest --numprocesses logical --update tests/golden

# No model or data set is looked up: the tests make their own.
test-reproduce: export HF_HUB_OFFLINE := 1
test-reproduce: export TOKENIZERS_PARALLELISM := false
# Models are tiny: more threads take longer.
test-reproduce: export OMP_NUM_THREADS := 1
test-reproduce: $(VENV)/.installed-test $(VENV)/.installed-reproduce ## Run the tests of the evaluation scripts (installs PyTorch)
	$(BIN)/python -m pytest --numprocesses logical --dist loadfile --no-loadscope-reorder $(ARGS) tests/reproduce

# All kills, examples and seconds of fuzzing, of which `make test` runs a share; files in their order,
# since the kills take longest and are among the first.
SOAKED = tests/faults tests/hostile $(shell grep -lr --include="*.py" "import amount" tests/unit)
soak: export SOAK := 1
soak: $(VENV)/.installed-test $(VENV)/.installed-soak ## Run all of what faults and hostile input do (about an hour)
	$(BIN)/python tests/browser/install.py
	$(BIN)/python -m pytest --numprocesses logical --dist loadfile --no-loadscope-reorder $(ARGS) $(SOAKED)

test-versions: export PYTHON := $(PYTHON)
test-versions: export VERSIONS := $(or $(VERSIONS),lowest)
test-versions: ## Run the tests with other versions than the lock's (VERSIONS=lowest or newest)
	bash .github/scripts/test_versions.sh $(ARGS)

# The workflows that others get are held to the same.
EXAMPLE := owner/grid-atlas@0123456789abcdef0123456789abcdef01234567
check: $(VENV)/.installed-check ## Check format, style, types, layers, sizes, documents and workflows (AGAINST=origin/main: no budget rose)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/ratchet.py $${AGAINST:+--against "$$AGAINST"}
	rm -rf build/new && mkdir -p build
	$(BIN)/gridatlas new build/new/calls --github --source $(EXAMPLE) --yes > build/new.txt
	$(BIN)/gridatlas new build/new/vendored --github --vendored --source $(EXAMPLE) --yes > build/new.txt
	$(BIN)/pymarkdown scan --recurse docs README.md CONTRIBUTING.md
	$(BIN)/zizmor --offline --quiet --persona auditor .github build/new
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml build/new/*/.github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot build/new/*/.github/dependabot.yml

format: $(VENV)/.installed-check ## Format the code, fix what can be fixed, and lower budgets to what there is
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format
	$(BIN)/python tools/ratchet.py --lower

release-check: ## Say what a tag of this version would publish, or what is missing for it
	$(PYTHON) .github/scripts/release_notes.py --check

package: export PYTHON := $(PYTHON)
package: $(VENV)/.installed-package ## Build wheel and sdist into dist/, and a site with each
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist
	bash .github/scripts/try_packages.sh

# Twice the same versions: to be installed by hash, and to hold others to.
LOCK := $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --fork-strategy fewest \
	--no-emit-index-url --custom-compile-command "make lock" --quiet
LOCKED := --extra mkdocs --extra excel --extra logs --extra notebooks --extra pandas --extra parquet --extra zensical --group install --group test --group check --group package \
	--group bench --group soak --group lock

lock: $(VENV)/.made ## Write requirements.lock and requirements-hashed.lock anew (ARGS=--upgrade for newer versions)
	$(PIP) install $(HASHED) --group lock
	$(LOCK) $(LOCKED) --extra reproduce --output-file requirements.lock $(ARGS)
	$(LOCK) $(LOCKED) --constraint requirements.lock --generate-hashes \
		--output-file requirements-hashed.lock

vega: $(VENV)/.installed-site ## Write Vega for browsers and the layers of charts anew
	$(BIN)/python tools/write_vega.py

reference: $(VENV)/.installed-site ## Write the reference in docs/ anew, from the code
	$(BIN)/python tools/write_reference.py
	$(BIN)/gridatlas schema > data/schema/study.v1.json

screenshots: $(VENV)/.installed-test ## Take pictures of the website
	$(BIN)/python tests/browser/install.py
	$(BIN)/python tests/browser/screenshots.py $(ARGS)

bench: $(VENV)/.installed-test $(VENV)/.installed-bench site ## Measure pages and builds beside other tools (ARGS="--only builds")
	$(BIN)/python tests/browser/install.py --whole
	$(BIN)/python tools/bench/bench.py $(ARGS)

lighthouse: $(VENV)/.installed-test $(VENV)/.installed-bench site ## Let Lighthouse judge pages of the website
	$(BIN)/python tests/browser/install.py --whole
	$(BIN)/python tools/bench/lighthouse.py $(ARGS)

clean: ## Remove what was built and cached (.venv stays)
	rm -rf site .cache build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -not -path './$(VENV)/*' -prune -exec rm -rf {} +

# A stamp per set of packages: nothing is installed again until pyproject.toml or a lock changes.
# Packages are installed by the hashes of requirements-hashed.lock: what isn't in it, or is another
# file than it was, is refused. pip comes first: older ones take no hashes from constraints.
# What builds a package that has no wheel is one of them.
HASHED := --constraint requirements-hashed.lock --no-build-isolation

$(VENV)/.made:
	@command -v $(PYTHON) >/dev/null || { \
		echo "$(PYTHON) isn't there. Grid Atlas needs Python 3.11 or newer; say which: make PYTHON=python3.12" >&2; \
		exit 1; }
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit( \
		"$(PYTHON) is Python %d.%d. Grid Atlas needs 3.11 or newer; say which: make PYTHON=python3.12" \
		% sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	awk '/^[^ #]/ { ours = /^pip==/ } ours && !/^ *#/' requirements-hashed.lock > $(VENV)/pip.txt
	$(PIP) install --require-hashes --requirement $(VENV)/pip.txt
	$(PIP) install $(HASHED) --group install
	@touch $@

$(VENV)/.installed-site: $(VENV)/.made pyproject.toml requirements-hashed.lock
	@echo "Installing into $(VENV): the first time takes a minute or two."
	$(BIN)/python .github/scripts/dependencies.py mkdocs notebooks pandas parquet > $(VENV)/site.txt
	$(PIP) install $(HASHED) --requirement $(VENV)/site.txt --group site
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

# Without hashes: PyTorch has several builds of one version, for each kind of GPU and for none.
$(VENV)/.installed-reproduce: $(VENV)/.installed-site requirements.lock
	@echo "Installing PyTorch and what else the evaluation scripts need: some minutes, the first time."
	$(PIP) install --constraint requirements.lock --editable ".[reproduce]"
	@touch $@

$(VENV)/.installed-test $(VENV)/.installed-check $(VENV)/.installed-package $(VENV)/.installed-bench $(VENV)/.installed-soak: $(VENV)/.installed-%: $(VENV)/.installed-site
	$(PIP) install $(HASHED) --group $*
	@touch $@
