#!/bin/sh
# usage: make_cpu_env.sh DIR
# vLLM 0.26.0 as it runs on a CPU, for the labs: about 3 minutes and 6 GB. Every package is pinned with its hash.
set -eu
dir=$1
here=$(dirname "$0")
"${PYTHON:-python3}" -m venv "$dir"
# The lock is complete, and pip would refuse it: the wheel asks for a torch build that PyPI does not have.
"$dir/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes \
    -r "$here/../../requirements/labs-cpu.lock"
"$dir/bin/python" "$here/make_tiny_model.py" "$dir/tiny-model"
touch "$dir/.complete"
