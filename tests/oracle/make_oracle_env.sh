#!/bin/sh
# usage: make_oracle_env.sh DIR
# An environment without GPU in which vLLM 0.26.0's own planning code runs: about a minute and 1.7 GB.
# vllm comes without its dependencies, so no CUDA package is fetched; requirements.txt is the whole list that planning needs.
set -eu
dir=$1
python=${PYTHON:-python3}
"$python" -m venv "$dir"
install() { "$dir/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile "$@"; }
install torch==2.13.0
install --no-deps vllm==0.26.0 xgrammar==0.2.9 apache-tvm-ffi==0.1.15.post2 compressed-tensors==0.17.0 loguru==0.7.3
install --no-deps -r "$(dirname "$0")/requirements.txt"
touch "$dir/.complete"
