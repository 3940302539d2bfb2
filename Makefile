# make serve   install, build and serve the site        make test   install and run all tests
PYTHON ?= python3
PORT ?= 8000
SITE ?= site
VENV := .venv
ORACLE_ENV ?= .cache/oracle
PY := $(VENV)/bin/python
SOURCES := $(shell find docs snippets live labs adr overrides tools bench -type f \
	-not -path docs/_headers -not -path 'docs/assets/*' -not -path 'docs/decisions/*' -not -path 'docs/labs/*.py' \
	-not -path '*/__pycache__/*' 2>/dev/null) mkdocs.yml Makefile
export NO_MKDOCS_2_WARNING := 1
export PYTHONDONTWRITEBYTECODE := 1

.DEFAULT_GOAL := help
FORCE:
.PHONY: help serve site test lint types chromium firefox browsers oracle oracle-answers bench audit labs-sync policy lock clean
help:
	@head -n 1 Makefile

$(VENV)/.site: requirements/site.lock
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(VENV)/.test: requirements/test.lock $(VENV)/.site
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

node_modules/.installed: package-lock.json .npmrc
	npm ci --silent
	@touch $@

# Written anew only when a source came or went, or the site is built for another address.
.cache/built-from: FORCE
	@mkdir -p .cache
	@printf '%s\n' 'SITE_URL=$(SITE_URL)' 'REPO_URL=$(REPO_URL)' $(sort $(SOURCES)) > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(SITE)/.built: $(VENV)/.site node_modules/.installed .cache/built-from $(SOURCES)
	$(PY) -m tools.build --site $(SITE)

site: $(SITE)/.built

serve: site
	$(PY) -m tools.serve --site $(SITE) --port $(PORT)

chromium:
	@command -v chromium chromium-browser google-chrome >/dev/null 2>&1 || tools/install_browser.sh chromium

firefox:
	@command -v firefox-esr firefox >/dev/null 2>&1 || tools/install_browser.sh firefox-esr

# What the page about browsers says was tested, and in which versions.
browsers: $(VENV)/.test site chromium firefox
	PYTHONPATH=. $(PY) tests/site/smoke.py $(SITE)

lint: $(VENV)/.test
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: $(VENV)/.test node_modules/.installed
	$(PY) -m mypy
	npx --no-install tsc --project live

test: $(VENV)/.test site chromium firefox lint types
	$(PY) -m pytest -n 2 --dist loadfile --no-loadscope-reorder

# vLLM's own planning code, without a GPU: about 1.7 GB. What can be asked without it is stored, for `make test`.
$(ORACLE_ENV)/.complete: tests/oracle/make_oracle_env.sh tests/oracle/requirements.txt
	PYTHON=$(PYTHON) tests/oracle/make_oracle_env.sh $(ORACLE_ENV)

oracle: $(VENV)/.test $(ORACLE_ENV)/.complete
	PYTHONPATH=. $(PY) tests/oracle/compare.py $(ORACLE_ENV)/bin/python

oracle-answers: $(VENV)/.test $(ORACLE_ENV)/.complete
	PYTHONPATH=. $(PY) tests/oracle/record.py $(ORACLE_ENV)/bin/python > .cache/spec_answers.jsonl
	mv .cache/spec_answers.jsonl tests/oracle/spec_answers.jsonl
	PYTHONPATH=. $(PY) tests/oracle/model_record.py $(ORACLE_ENV)/bin/python > .cache/model_answers.jsonl
	mv .cache/model_answers.jsonl tests/oracle/model_answers.jsonl

# `make bench PARTS=start,slider` runs some parts; all of them write bench/latest.json.
bench: $(VENV)/.test site chromium
	ORACLE_ENV=$(ORACLE_ENV) $(PY) -m tools.bench --site $(SITE) $(if $(PARTS),--parts $(PARTS))

audit: $(VENV)/.test node_modules/.installed
	$(PY) -m tools.audit

labs-sync: $(VENV)/.site
	$(PY) -m tools.labs_sync

policy: site
	$(PY) -m tools.policy $(SITE) --write

lock:
	uv pip compile --quiet --generate-hashes --universal --python-version 3.11 --no-emit-index-url --no-annotate --no-header requirements/site.in -o requirements/site.lock
	uv pip compile --quiet --generate-hashes --universal --python-version 3.11 --no-emit-index-url --no-annotate --no-header -c requirements/site.lock requirements/test.in -o requirements/test.lock
	uv pip compile --quiet --generate-hashes --universal --python-version 3.11 --no-emit-index-url --no-annotate --no-header requirements/audit.in -o requirements/audit.lock

clean:
	rm -rf site docs/_headers docs/assets docs/decisions docs/labs/*.py
