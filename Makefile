# Needs Linux, Python 3.11+ with venv, and make; everything else comes from here.
PYTHON ?= python3
PIP_ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.DELETE_ON_ERROR:
.PHONY: install serve check test fuzz bench clean

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt $(PIP_ARGS) --editable '.[dev]'
	touch $@

# PORT, DATA and ONCE=1 are passed on: make serve PORT=9000 DATA=/srv/attest
serve: install
	$(if $(DATA),ATTEST_DATA='$(DATA)') $(BIN)/attest serve --demo $(if $(PORT),--port '$(PORT)') $(if $(ONCE),--once)

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: install
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile $(TEST)

# SECONDS=60 for a short one; what it finds goes into the corpus that make test replays
fuzz: install
	$(BIN)/python -m tests.sandbox.fuzz $(or $(SECONDS),600)

bench: install
	$(BIN)/python -m tests.bench

clean:
	rm -rf $(VENV) var
