#!/usr/bin/env bash
# Makes the committed corpora again: for each target a run of fixed length and
# seed from an empty corpus, then the smallest inputs that together show what
# all of them show, at most 48 KiB and
# 400 files of them.
#
#   fuzzers/corpus/build.sh BUILD_FOLDER [TARGET...]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$(cd "$1/bin" && pwd)
shift
targets=("$@")
if [ ${#targets[@]} = 0 ]; then
  for program in "$bin"/fuzz_*; do targets+=("${program##*/fuzz_}"); done
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for target in "${targets[@]}"; do
  "$bin/fuzz_$target" --fuzz --seed 1 --executions 60000 --state "$work/$target"
  rm -rf "${here:?}/$target"
  "$bin/fuzz_$target" --minimise "$work/$target/corpus" "$here/$target" \
    --most 49152 --files 400
done
