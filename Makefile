# Every target first brings .venv up to date. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt $(shell find native -name '*.[ch]pp')
STAMP := $(VENV)/.installed
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check -c constraints.txt
BUILD_TOOLS := scikit-build-core nanobind cmake ninja
EXTRAS := [test,lint,peers,browser,ray,gym,sb3]

.PHONY: help setup demo models test lint bench test-sanitize clean

help:  ## Show this list.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(STAMP)  ## Create or update .venv.

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP): $(VENV)/bin/python pyproject.toml constraints.txt $(NATIVE)
	$(BIN)/python $(PIP_INSTALL) $(BUILD_TOOLS)
	$(BIN)/python $(PIP_INSTALL) --no-build-isolation --editable '.$(EXTRAS)'
	cp "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/asnets/_native.pyi" src/asnets/
	touch $@

demo: $(STAMP)  ## Train on small Triangle Tireworld problems and act on large ones.
	$(BIN)/python scripts/demo.py

PROBLEMS ?=

models: $(STAMP)  ## Train the shipped models again; PROBLEMS=DIR also measures them on published files.
	$(BIN)/python scripts/make_models.py $(if $(PROBLEMS),--problems-dir $(PROBLEMS))

lint: $(STAMP)  ## Style, types and import layers.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

test: lint  ## Lint, then all tests.
	$(BIN)/python -m pytest

bench: $(STAMP)  ## Measure against other tools, in one run on this machine.
	$(BIN)/python -m benchmarks

SANITIZE_VENV := .venv-sanitize
SANITIZE_STAMP := $(SANITIZE_VENV)/.installed

$(SANITIZE_STAMP): pyproject.toml constraints.txt $(NATIVE)
	$(PYTHON) -m venv $(SANITIZE_VENV)
	$(SANITIZE_VENV)/bin/python $(PIP_INSTALL) $(BUILD_TOOLS)
	$(SANITIZE_VENV)/bin/python $(PIP_INSTALL) --no-build-isolation --editable '.[test,gym]' \
	  --config-settings=cmake.define.ASNETS_SANITIZE=ON --config-settings=build-dir=build-sanitize
	touch $@

test-sanitize: $(SANITIZE_STAMP)  ## The native-facing tests with address and undefined-behaviour sanitizers.
	LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libasan.so) $$($${CXX:-g++} -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	  $(SANITIZE_VENV)/bin/python -m pytest -m native

clean:  ## Remove everything that was built.
	rm -rf $(VENV) $(SANITIZE_VENV) build build-sanitize demo src/asnets/_native.pyi
