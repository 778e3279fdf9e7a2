# Every target sets up what it needs: the first run takes a minute, later ones start at once.
#
#   PYTHON   the interpreter the environment is made from (3.11 or newer)
#   VENV     where the environment is
#   ARGS     more arguments for what a target runs:  make test ARGS="-k window"
#   ARCH     processor that is built for: arm64 or x86_64

PYTHON ?= python3
VENV ?= .venv
SAM_VENV ?= .venv-sam
MEMOS_VENV ?= .venv-memos
ARCH ?= arm64
ARGS ?=
DEMO ?= $(BIN)/strata demo
SERVE ?= $(BIN)/strata local up

BIN := $(VENV)/bin
MEMOS_MODELS := .servers/memos-models/memos/api/product_models.py
PROJECT := pyproject.toml layers/strata/requirements.txt
SAM_ENV := SAM_CLI_TELEMETRY=0 AWS_DEFAULT_REGION=eu-west-1 PATH="$(abspath $(VENV))/bin:$(abspath $(SAM_VENV))/bin:$$PATH"

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
export PYTHONUTF8 := 1

.PHONY: help demo serve test test-slow test-real-memos test-real-mem0 check format bench build lock clean

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 24

demo: $(VENV)/.local ## a household's day with three agents, on this machine, checked as it goes
	@$(DEMO) $(ARGS)

serve: $(VENV)/.local ## the whole product on 127.0.0.1:8610, until interrupted
	@$(SERVE) $(ARGS)

test: $(VENV)/.dev $(MEMOS_MODELS) ## the tests; says which servers were missing, if any
	@$(BIN)/python -m pytest -m "not slow" -n auto --dist loadfile $(ARGS)

test-slow: $(VENV)/.dev $(MEMOS_MODELS) ## the tests that take longer: killed workers and servers, built functions
	@$(BIN)/python -m pytest -m slow $(ARGS)

test-real-memos: $(VENV)/.dev $(MEMOS_VENV)/.memos ## the provider suite on a real MemOS server, with a stand-in for its model
	@$(BIN)/python -m tests.real.run_memos $(MEMOS_VENV)/bin/python $(ARGS)

test-real-mem0: $(VENV)/.dev ## the provider suite on the Mem0 server at MEM0_URL (MEM0_KEY if it wants one)
	@test -n "$(MEM0_URL)" || { echo "make test-real-mem0 MEM0_URL=http://127.0.0.1:8888"; exit 2; }
	@MEM0_URL="$(MEM0_URL)" $(BIN)/python -m pytest tests/contract/test_providers.py -k mem0-real $(ARGS)

check: $(VENV)/.dev ## format, lint, types, import contracts, template
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python infra/lint.py template.yaml

format: $(VENV)/.dev ## rewrite the sources in the house's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only .

bench: $(VENV)/.dev ## times against the floor: raw SQL, raw matrix product
	@$(BIN)/python -m pytest tests/benchmarks -q -s $(ARGS)

build: $(VENV)/.local $(SAM_VENV)/.sam ## what `sam deploy` uploads, in .aws-sam/build
	@$(SAM_ENV) LAYER_PLATFORM=$(ARCH:arm64=aarch64)-manylinux_2_34 \
		sam build --parameter-overrides Architecture=$(ARCH) $(ARGS)

lock: $(BIN)/uv ## resolve the lock files anew
	$(call lock,.ci/locks/installer.lock,--group installer)
	$(call lock,.ci/locks/sam.lock,--group sam)
	$(call lock,.ci/locks/memos.lock,--group memos)
	$(call lock,.ci/locks/dev.lock,pyproject.toml --all-extras --group build --group dev)
	$(call lock,.ci/locks/local.lock,pyproject.toml --all-extras --group build --constraint .ci/locks/dev.lock)
	$(call lock,layers/strata/requirements.lock,layers/strata/requirements.txt --constraint .ci/locks/dev.lock $(RUNTIME_HAS))

clean: ## remove environments, builds and caches
	rm -rf $(VENV) $(SAM_VENV) $(MEMOS_VENV) .aws-sam build .coverage* .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One lock for every supported Python and processor, without the address of anything.
# $(1) the lock · $(2) what goes into it
lock = $(BIN)/uv pip compile --quiet --no-config --universal --python-version 3.11 --upgrade --generate-hashes \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links --output-file $(1) $(2)

# Lambda's own runtime brings these, compiled already.
RUNTIME_HAS := --no-emit-package boto3 --no-emit-package botocore --no-emit-package s3transfer

# uv where it can be had, for speed; pip does the same without it.
# $(1) the environment · $(2) the lock
install = $(1)/bin/python -m uv --quiet pip install --python $(1)/bin/python --require-hashes -r $(2) \
	|| $(1)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(2)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed; set PYTHON=")'
	@echo "Making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

$(BIN)/uv: .ci/locks/installer.lock | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes -r $< || true
	@touch -c $@

$(VENV)/.local: .ci/locks/local.lock $(PROJECT) | $(BIN)/python $(BIN)/uv
	@echo "Installing Strata into $(VENV)"
	@$(call install,$(VENV),.ci/locks/local.lock)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: .ci/locks/dev.lock $(VENV)/.local
	@echo "Installing what the tests need into $(VENV)"
	@$(call install,$(VENV),.ci/locks/dev.lock)
	@touch $@

$(SAM_VENV)/.sam: .ci/locks/sam.lock | $(BIN)/python $(BIN)/uv
	@echo "Installing the SAM command line into $(SAM_VENV)"
	@$(PYTHON) -m venv $(SAM_VENV)
	@$(BIN)/python -m uv --quiet pip install --python $(SAM_VENV)/bin/python --require-hashes -r $< \
		|| $(SAM_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(MEMOS_VENV)/.memos: .ci/locks/memos.lock | $(BIN)/python $(BIN)/uv
	@echo "Installing the MemOS server into $(MEMOS_VENV), about a gigabyte"
	@$(PYTHON) -m venv $(MEMOS_VENV)
	@$(BIN)/python -m uv --quiet pip install --python $(MEMOS_VENV)/bin/python --require-hashes -r $< \
		|| $(MEMOS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

# The request models of the real server without what the server depends on: the requests of the tests are held to them.
$(MEMOS_MODELS): .ci/locks/memos.lock | $(BIN)/python
	@mkdir -p .servers
	@sed -n '/^memoryos==/,/[^\\]$$/p' $< > .servers/memos-models.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --upgrade \
		--target .servers/memos-models -r .servers/memos-models.txt && touch $@ \
		|| echo "The request models of MemOS could not be fetched"
