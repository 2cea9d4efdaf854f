#!/usr/bin/env bash
# Builds the fuzz targets as OSS-Fuzz and ClusterFuzzLite ask for it: by CC, CXX,
# CFLAGS, CXXFLAGS and LIB_FUZZING_ENGINE, into OUT, from SRC. Each target gets
# its corpus as TARGET_seed_corpus.zip, and the targets of GGUF files a
# dictionary. Libraries that a bare runner lacks go to OUT/lib.
#
# .ci/clusterfuzzlite runs this with the same environment on this machine.
set -euo pipefail
source=$SRC/weightproof
work=${WORK:-$(mktemp -d)}/weightproof
engine=${FUZZING_ENGINE:-libfuzzer}

# clang's own library where the flags ask for it: fmt then comes as headers.
flags=${CXXFLAGS:-}
case $flags in *-stdlib=libc++*) flags="$flags -DFMT_HEADER_ONLY=1" ;; esac

cmake -S "$source" -B "$work" -G Ninja \
  -DCMAKE_BUILD_TYPE=None -DWEIGHTPROOF_WERROR=OFF \
  -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" \
  -DCMAKE_C_FLAGS="${CFLAGS:-}" -DCMAKE_CXX_FLAGS="$flags" \
  "-DCMAKE_EXE_LINKER_FLAGS=-Wl,-rpath,'\$ORIGIN/lib'" \
  -DWEIGHTPROOF_FUZZ=engine \
  "-DWEIGHTPROOF_FUZZ_ENGINE=$LIB_FUZZING_ENGINE" \
  "-DWEIGHTPROOF_FUZZ_MUTATOR=$([ "$engine" = libfuzzer ] && echo ON || echo OFF)"
ninja -C "$work" engine_targets

mkdir -p "$OUT/lib"
for program in "$work"/bin/engine_*; do
  target=${program##*/engine_}
  cp "$program" "$OUT/$target"
  corpus=$source/fuzzers/corpus/$target
  [ ! -d "$corpus" ] ||
    (cd "$corpus" && python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" *)
  case $target in
    gguf_raw | gguf_diff) cp "$source/fuzzers/gguf/gguf.dict" "$OUT/$target.dict" ;;
  esac
  ldd "$program" | awk '$3 ~ "^/" && $1 ~ /^lib(fmt|simdjson|crypto|ssl|z)\./ {print $3}' |
    while read -r library; do cp -Ln "$library" "$OUT/lib/"; done
done
