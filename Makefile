# `make demo` and `make test` need Python >= 3.11, make and git; everything else they set up in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.ready

.PHONY: demo test lint benchmark golden sample clean

demo: $(SETUP)
	@$(BIN)/rubrics demo

test: $(SETUP) lint
	$(BIN)/python -m pytest -n 2 --ignore=tests/benchmarks

lint: $(SETUP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

benchmark: $(SETUP)
	$(BIN)/python -m pytest tests/benchmarks -s

golden: $(SETUP)
	REWRITE_GOLDEN=1 $(BIN)/python -m pytest tests/golden

sample: $(SETUP)
	$(BIN)/python data/sample/make_sample.py

$(SETUP): pyproject.toml
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --allow-existing --python $(PYTHON) $(VENV) && \
	  uv pip install --quiet --python $(BIN)/python --group dev --editable .; \
	else \
	  $(PYTHON) -m venv $(VENV) && \
	  $(BIN)/python -m pip install --quiet --upgrade "pip>=25.1" && \
	  $(BIN)/python -m pip install --quiet --group dev --editable .; \
	fi
	@touch $(SETUP)

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache
