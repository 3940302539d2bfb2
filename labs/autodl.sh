#!/usr/bin/env bash
# From a blank AutoDL image (or any Ubuntu box with an NVIDIA driver) to the first result of a lab.
# What it needs and why: the page "From a blank box to the first result" of this site.
# Every step looks first at what is there: run it again after a failure, and it goes on where it stopped.
set -euo pipefail

VLLM=0.26.0                  # the release that every lab was checked against
DRIVER=580                   # vLLM 0.26.0 asks for torch 2.11.0, which PyPI has for CUDA 13
ENVIRONMENT_GB=15            # 10 GB on disk, and the wheels while they are unpacked; GB is 10^9 bytes, as for disks
MODELS="Qwen/Qwen2.5-7B-Instruct-AWQ Qwen/Qwen2.5-7B-Instruct"  # what the labs use unless told otherwise
CN_PIP=https://pypi.tuna.tsinghua.edu.cn/simple
CN_HF=https://hf-mirror.com
MODELSCOPE=1.40.2

usage() {
  cat <<'HELP'
usage: bash autodl.sh [options] STEP

steps, in their order
  check            say what is there and what is missing; changes nothing
  setup            check, then Python environment, vLLM 0.26.0 and the models, all on the data disk
  run LAB [flags]  start LAB.py, which lies beside this file, in a tmux session; flags go to the lab
  pack             put all results into one file, and say how to fetch it
  stop             shut the box down, so that an AutoDL box costs nothing more for its card

options
  --dir DIR        where everything goes (default: ~/autodl-tmp/llm-labs on AutoDL, else ~/llm-labs)
  --from WHERE     where the models come from: hub, mirror (hf-mirror.com) or modelscope
                   (default: mirror on AutoDL, else hub)
  --pip-index URL  package index (default: Tsinghua's on AutoDL, else what pip is set to)
  --model NAME     only this model, not Qwen2.5-7B-Instruct in 4 bits and in BF16 (22 GB)
  --model-gb N     its size in GB, for the check of the disk, where it is neither of the two
  --no-gpu         setup without a card: on AutoDL a box without its card is cheaper to install on
  --off            with run: shut the box down when the lab has ended, well or not
  --yes            with stop or --off: also on a box that is not AutoDL's
HELP
}

say() { printf '%s\n' "$*"; }
stop_with() { printf 'autodl.sh: %s\n' "$*" >&2; exit 1; }
usage_error() { printf 'autodl.sh: %s (--help lists what there is)\n' "$*" >&2; exit 2; }

DATA_DISK=${HOME:?HOME is not set}/autodl-tmp  # AutoDL's path: its user is root
is_autodl() { [ -d "$DATA_DISK" ]; }

DIR='' FROM='' PIP_INDEX='' MODEL_GB=0 NO_GPU='' OFF='' YES='' STEP=''
while [ $# -gt 0 ]; do
  case $1 in
    --dir | --from | --pip-index | --model | --model-gb)
      [ $# -ge 2 ] || usage_error "$1 needs a value"
      case $1 in
        --dir) DIR=$2 ;;
        --from) FROM=$2 ;;
        --pip-index) PIP_INDEX=$2 ;;
        --model) MODELS=$2 ;;
        --model-gb) MODEL_GB=$2 ;;
      esac
      shift 2 ;;
    --no-gpu) NO_GPU=1; shift ;;
    --off) OFF=1; shift ;;
    --yes) YES=1; shift ;;
    -h | --help) usage; exit 0 ;;
    -*) usage_error "there is no option $1" ;;
    *) STEP=$1; shift; break ;;
  esac
done
[ -n "$STEP" ] || { usage >&2; exit 2; }
case $MODEL_GB in '' | *[!0-9]*) usage_error "--model-gb takes a whole number of GB, not '$MODEL_GB'" ;; esac
if is_autodl; then : "${DIR:=$DATA_DISK/llm-labs}" "${FROM:=mirror}" "${PIP_INDEX:=$CN_PIP}"; fi
: "${DIR:=$HOME/llm-labs}" "${FROM:=hub}"
case $FROM in hub | mirror | modelscope) ;; *) usage_error "--from is hub, mirror or modelscope, not '$FROM'" ;; esac
case $DIR in / | //*) usage_error "--dir is a folder of its own, not '$DIR'" ;; /*) ;; *) DIR=$PWD/$DIR ;; esac
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
VENV=$DIR/venv RESULTS=$DIR/results
for model in $MODELS; do
  case $model in */*/* | /* | */ | *..* | *[!A-Za-z0-9._/-]*) usage_error "--model is a name such as org/model, not '$model'" ;; esac
done

# --- what is there; each part that is missing adds one sentence ---
MISSING=''
missing() { MISSING="$MISSING$*"$'\n'; }

has_vllm() { [ -x "$VENV/bin/python" ] && [ "$("$VENV/bin/python" -c "$VERSION_OF_VLLM" 2>/dev/null)" = "$VLLM" ]; }
VERSION_OF_VLLM='from importlib.metadata import version; print(version("vllm"))'
mark_of() { printf '%s/models/%s.from' "$DIR" "${1//\//--}"; }  # holds where the model was fetched from, when it is whole
has_model() {
  case $(cat "$(mark_of "$1")" 2>/dev/null) in
    '') return 1 ;;
    modelscope) [ -d "$DIR/modelscope" ] ;;
    *) compgen -G "$DIR/hf/hub/models--${1//\//--}/snapshots/*/config.json" >/dev/null ;;
  esac
}
gb_of() {
  case ${1##*/} in
    Qwen2.5-7B-Instruct-AWQ) echo 6 ;;   # 5.57 GB
    Qwen2.5-7B-Instruct) echo 16 ;;      # 15.23 GB
    *) echo "$MODEL_GB" ;;
  esac
}

check_system() {
  [ "$(uname -s)" = Linux ] || missing "This is $(uname -s); the wheels of vLLM $VLLM are for Linux: use a Linux box."
  case $(uname -m) in
    x86_64 | aarch64) ;;
    *) missing "The processor is $(uname -m); the wheels of vLLM $VLLM are for x86_64 and aarch64." ;;
  esac
}

check_card() {
  if [ -n "$NO_GPU" ]; then
    say "card: not looked for (--no-gpu); labs need one"
    return
  fi
  local line name driver total free
  if ! command -v nvidia-smi >/dev/null; then
    missing "No NVIDIA driver: nvidia-smi is not here; rent a box with a card, or install on this one with --no-gpu."
    return
  fi
  line=$(nvidia-smi --query-gpu=name,driver_version,memory.total,memory.free --format=csv,noheader,nounits 2>/dev/null |
    head -n 1) || line=''
  if [ -z "$line" ]; then
    missing "nvidia-smi finds no card: start the box with its card (on AutoDL not in the mode without a card)."
    return
  fi
  IFS=, read -r name driver total free <<<"$line"
  driver=${driver// /} total=${total// /} free=${free// /}
  say "card: $name, driver $driver, $free of $total MiB free"
  case ${driver%%.*} in
    '' | *[!0-9]*) missing "The driver's version reads '$driver', which is no version: look at nvidia-smi." ;;
    *) [ "${driver%%.*}" -ge "$DRIVER" ] ||
      missing "Driver $driver is too old for torch 2.11.0 (CUDA 13): rent a box whose highest CUDA version is 13.0 or newer, or update the driver to $DRIVER." ;;
  esac
  case $free in
    '' | *[!0-9]*) ;;
    *) [ "$free" -ge $((total * 9 / 10)) ] ||
      missing "Only $free of $total MiB of the card are free: end what nvidia-smi lists, or pass the lab a smaller --gpu-memory-utilization." ;;
  esac
}

above() { # the nearest folder of a path that exists
  local at=$1
  until [ -d "$at" ]; do at=$(dirname "$at"); done
  printf '%s' "$at"
}

check_disk() {
  local need=0 at kb gb model
  has_vllm || need=$((need + ENVIRONMENT_GB))
  for model in $MODELS; do
    has_model "$model" || need=$((need + $(gb_of "$model")))
  done
  at=$(above "$DIR")
  kb=$(df -Pk "$at" | awk 'NR == 2 {print $4}')
  case $kb in '' | *[!0-9]*) missing "df does not say how much is free at $at: choose another --dir."; return ;; esac
  gb=$((kb * 1024 / 1000000000))
  say "disk: $gb GB free at $at, $need GB needed still"
  [ "$gb" -ge "$need" ] ||
    missing "The disk of $at has $gb GB free and $need are needed: enlarge the data disk, or name a folder on a larger one with --dir."
  [ -w "$at" ] || missing "Nothing can be written to $at: choose another --dir."
}

python_at() { # the first Python that vLLM's wheel takes, with what makes an environment
  local one
  for one in python3.12 python3.13 python3.11 python3.10 python3 "$HOME/miniconda3/bin/python" "${CONDA_PREFIX:-/none}/bin/python"; do
    command -v "$one" >/dev/null || continue
    if "$one" -c 'import sys, venv, ensurepip; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; then
      command -v "$one"
      return
    fi
  done
}

check_tools() {
  if [ -x "$VENV/bin/python" ]; then
    say "python: $VENV"
  elif [ -n "$(python_at)" ]; then
    say "python: $(python_at)"
  else
    missing "No Python from 3.10 to 3.14 that can make an environment: apt-get install python3-venv, or conda create -y -n labs python=3.12 and conda activate labs."
  fi
  command -v cc >/dev/null || command -v gcc >/dev/null ||
    missing "No C compiler, which Triton needs when the engine starts: apt-get install build-essential."
  command -v tmux >/dev/null ||
    missing "No tmux, without which a lost connection ends the lab: apt-get install tmux."
  command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] ||
    say "note: no CUDA compiler (nvcc); where a lab says that it needs one, pass --attention-backend TRITON_ATTN"
}

check() {
  if is_autodl; then say "box: AutoDL, data disk $DATA_DISK"; else say "box: no AutoDL data disk at $DATA_DISK"; fi
  check_system
  check_disk
  check_card
  check_tools
  if has_vllm; then say "vllm: $VLLM in $VENV"; else say "vllm: not installed yet"; fi
  local model
  for model in $MODELS; do
    if has_model "$model"; then say "model: $model"; else say "model: $model not here yet"; fi
  done
  [ -z "$MISSING" ] && return
  printf '\nmissing:\n%s' "$MISSING" >&2
  exit 1
}

# --- what is made ---
settings() { # for every program of ours: caches on the data disk, since AutoDL's system disk is small
  export HF_HOME=$DIR/hf VLLM_CACHE_ROOT=$DIR/vllm VLLM_NO_USAGE_STATS=1
  mkdir -p "$DIR/hf" "$DIR/models" "$RESULTS"
  [ "$FROM" != mirror ] || export HF_ENDPOINT=$CN_HF
  [ "$FROM" != modelscope ] || export VLLM_USE_MODELSCOPE=True MODELSCOPE_CACHE=$DIR/modelscope
}

pip_settings() {
  export TMPDIR=$DIR/pip-tmp PIP_DISABLE_PIP_VERSION_CHECK=1
  mkdir -p "$TMPDIR"
  [ -z "$PIP_INDEX" ] || export PIP_INDEX_URL=$PIP_INDEX
}

install() {
  if has_vllm; then
    return
  fi
  [ -x "$VENV/bin/python" ] || "$(python_at)" -m venv "$VENV" ||
    stop_with "the environment $VENV could not be made: remove that folder, and try again"
  say "installing vllm==$VLLM (about 10 GB)"
  "$VENV/bin/python" -m pip install --no-cache-dir "vllm==$VLLM" ||
    stop_with "vllm==$VLLM could not be installed: where the index cannot be reached, name another with --pip-index; what is here already is kept"
  has_vllm || stop_with "pip ended well, and $VENV has no vllm $VLLM: remove that folder, and try again"
}

fetch() {
  local model=$1 other=mirror
  if has_model "$model"; then
    return
  fi
  say "fetching $model from $FROM"
  if [ "$FROM" = modelscope ]; then
    [ -x "$VENV/bin/modelscope" ] || "$VENV/bin/python" -m pip install --no-cache-dir "modelscope==$MODELSCOPE" ||
      stop_with "modelscope could not be installed: try --from mirror"
    "$VENV/bin/modelscope" download "$model" || stop_with "$model could not be fetched from ModelScope: check the name, or try --from mirror"
  else
    [ "$FROM" = hub ] || other=modelscope
    "$VENV/bin/hf" download "$model" ||
      stop_with "$model could not be fetched: check the name, or try --from $other; what has come already is kept"
  fi
  printf '%s\n' "$FROM" >"$(mark_of "$model")"
  has_model "$model" || stop_with "the download of $model ended well and the model is not in $DIR: try --from $other"
}

setup() {
  check
  settings
  pip_settings
  install
  local model
  for model in $MODELS; do
    fetch "$model"
  done
  rm -rf "$DIR/pip-tmp"
  say ""
  say "ready: bash $0 run serve_kv"
}

lab_file() {
  local at
  for at in "$HERE/$1.py" "$PWD/$1.py"; do
    [ -f "$at" ] && { printf '%s' "$at"; return; }
  done
  stop_with "there is no $1.py beside autodl.sh or in $PWD: download it from the lab's page and copy it here"
}

run_lab() {
  [ $# -ge 1 ] || usage_error "run needs the name of a lab, such as serve_kv"
  local name=${1%.py} file words variable
  shift
  case $name in *[!A-Za-z0-9_]* | '') usage_error "'$name' is not the name of a lab, such as serve_kv" ;; esac
  file=$(lab_file "$name")
  has_vllm || stop_with "vLLM $VLLM is not in $VENV yet: bash $0 setup"
  command -v tmux >/dev/null || stop_with "no tmux, without which a lost connection ends the lab: apt-get install tmux"
  if tmux has-session -t labs 2>/dev/null; then
    stop_with "a lab is running in the tmux session 'labs' already: tmux attach -t labs shows it"
  fi
  settings
  case " $* " in *" --out "* | *" --out="*) ;; *) set -- --out "$RESULTS/$name.result.json" "$@" ;; esac
  if [ -n "$OFF" ] && ! is_autodl && [ -z "$YES" ]; then
    stop_with "--off would shut down a box that is not AutoDL's: add --yes if you mean it"
  fi
  words=$(printf '%q ' "$VENV/bin/python" "$file" "$@")
  {
    printf '#!/usr/bin/env bash\nset -o pipefail\ncd %q\n' "$RESULTS"
    for variable in HF_HOME HF_ENDPOINT VLLM_CACHE_ROOT VLLM_NO_USAGE_STATS VLLM_USE_MODELSCOPE MODELSCOPE_CACHE; do
      [ -z "${!variable:-}" ] || printf 'export %s=%q\n' "$variable" "${!variable}"
    done
    printf '%s2>&1 | tee -a %q\necho "ended with status $?" | tee -a %q\n' "$words" "$RESULTS/$name.log" "$RESULTS/$name.log"
    # A minute in which Ctrl-C keeps the box; AutoDL's shutdown takes no arguments.
    [ -z "$OFF" ] || printf 'echo "shutting down in 60 s; Ctrl-C keeps the box"\nsleep 60 && shutdown%s\n' "$(is_autodl || printf ' -h now')"
  } >"$RESULTS/$name.sh"
  tmux new-session -d -s labs "bash $(printf '%q' "$RESULTS/$name.sh")"  # it ends with the lab
  say "started in tmux: it goes on when the connection is lost"
  say "  watch:   tmux attach -t labs      (leave it running with Ctrl-B, then D)"
  say "  read:    tail -n 40 $RESULTS/$name.log"
  say "  then:    bash $0 pack"
}

pack() {
  local file
  [ -d "$RESULTS" ] && [ -n "$(find "$RESULTS" -name '*.result.json' -print -quit)" ] ||
    stop_with "there are no results in $RESULTS yet: bash $0 run serve_kv"
  file=$DIR/results-$(date +%Y%m%d-%H%M%S).tar.gz
  (cd "$RESULTS" && find . -name '*.result.json' -o -name '*.log' | tar czf "$file" -T -)
  say "$file"
  say "on your own machine, with the port and the host of the box's SSH command:"
  say "  scp -P PORT root@HOST:$file ."
  say "or take it from the file browser of JupyterLab; then: bash $0 stop"
}

stop() {
  local packed
  if [ -d "$RESULTS" ] && [ -z "$YES" ]; then
    packed=$(find "$DIR" -maxdepth 1 -name 'results-*.tar.gz' | sort | tail -n 1)
    if [ -n "$(find "$RESULTS" -name '*.result.json' ${packed:+-newer "$packed"} -print -quit)" ]; then
      stop_with "there are results that were not packed: bash $0 pack, fetch the file, then stop (or stop with --yes)"
    fi
  fi
  if ! is_autodl && [ -z "$YES" ]; then
    stop_with "this is no AutoDL box: whether shutting down ends the billing is for its owner to say (many want it released in their console); --yes shuts it down"
  fi
  command -v shutdown >/dev/null || stop_with "there is no shutdown command here: stop the box in its console"
  say "shutting down; look in the console that the box is off"
  if is_autodl; then shutdown; else shutdown -h now; fi
}

case $STEP in
  check | setup | pack | stop)
    [ "${1:-}" != --yes ] || { YES=1; shift; }
    [ $# -eq 0 ] || usage_error "$STEP takes nothing after it: options come before the step" ;;
esac
case $STEP in
  check) check ;;
  setup) setup ;;
  run) run_lab "$@" ;;
  pack) pack ;;
  stop) stop ;;
  *) usage_error "there is no step $STEP" ;;
esac
