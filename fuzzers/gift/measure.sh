#!/usr/bin/env bash
# What the seeds and the dictionary of `weightproof export --fuzz` are worth to
# somebody else's fuzzer: edges of ggml's GGUF reader that plain libFuzzer
# reaches from them, against those from one empty model.
#
#   measure.sh GGML BUILD GIFT RUNS
#
# GGML: the folder ggml/ of a source tree of llama.cpp. BUILD: for objects.
# GIFT: what export --fuzz left. Needs clang-19. Both have the same number of
# executions, so that it does not matter how busy the machine is, and no custom
# mutator; edges are those of gguf.cpp and ggml.c, which alone are
# instrumented.
set -euo pipefail
ggml=$1 build=$2 gift=$3 runs=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$build"
printf '#define GGML_VERSION "measured"\n#define GGML_COMMIT "measured"\n' \
  >"$build/ggml-version.h"
flags=(-O1 -g1 -w -D_GNU_SOURCE -I"$build"
  -I"$ggml/include" -I"$ggml/src" -fsanitize=address)
objects=()
for source in ggml.c gguf.cpp ggml-quants.c ggml-alloc.c ggml-backend.cpp \
  ggml-backend-meta.cpp ggml-threading.cpp ggml-opt.cpp; do
  [ -f "$ggml/src/$source" ] || continue
  object=$build/${source%.*}.o
  objects+=("$object")
  [ ! -f "$object" ] || continue
  instrument=()
  case $source in ggml.c | gguf.cpp) instrument=(-fsanitize=fuzzer-no-link) ;; esac
  case $source in
    *.c) clang-19 -std=gnu11 "${flags[@]}" "${instrument[@]}" -c "$ggml/src/$source" -o "$object" ;;
    *) clang++-19 -std=c++17 "${flags[@]}" "${instrument[@]}" -c "$ggml/src/$source" -o "$object" ;;
  esac
done
clang++-19 -std=c++17 "${flags[@]}" -fsanitize=fuzzer "$here/ggml_reader.cc" \
  "${objects[@]}" -o "$build/ggml_reader" -lpthread -ldl -lm

# A crash of ggml is not what is measured here: fork mode goes on after it. The
# edges after a tenth, and at the end.
edges() {
  local name=$1; shift
  rm -rf "$build/$name"
  mkdir -p "$build/$name" "$build/$name.crashes"
  "$build/ggml_reader" -fork=1 -ignore_crashes=1 -ignore_ooms=1 -ignore_timeouts=1 \
    -runs="$runs" -max_len=4096 -seed=1 -rss_limit_mb=3000 \
    -artifact_prefix="$build/$name.crashes/" \
    "$@" "$build/$name" >"$build/$name.log" 2>&1 || true
  awk -v runs="$runs" '/cov:/ {for (i = 1; i < NF; ++i) if ($i == "cov:") cov = $(i + 1)
       done = substr($1, 2) + 0; if (done <= runs / 10 || early == "") early = cov
       last = cov} END {print early + 0, last + 0}' "$build/$name.log"
}

seed=$build/one_empty_model
rm -rf "$seed" "$build/seeds"
mkdir -p "$seed" "$build/seeds"
printf 'GGUF\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >"$seed/empty.gguf"
python3 -m zipfile -e "$gift/oss-fuzz/gguf_seed_corpus.zip" "$build/seeds"
read -r poor_early poor <<<"$(edges from_empty "$seed")"
read -r rich_early rich <<<"$(edges from_gift -dict="$gift/oss-fuzz/gguf.dict" "$build/seeds")"
times() { awk "BEGIN{printf \"%.2f\", $1/($2 == 0 ? 1 : $2)}"; }
echo "edges of ggml's GGUF reader from one empty model, and from the exported seeds and dictionary:"
echo "after $((runs / 10)) executions: $poor_early, $rich_early ($(times "$rich_early" "$poor_early")x)"
echo "after $runs: $poor, $rich ($(times "$rich" "$poor")x)"
