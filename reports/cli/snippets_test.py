"""Each snippet of an export tests a real reader, with nothing of ours.

  snippets_test.py BUILD_DIR SNIPPET    exit 77: not run, for want of a toolchain
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
DRIVERS = BUILD / "drivers"
SOURCE = pathlib.Path(__file__).resolve().parents[2] / "impls" / "drivers"


def not_run(why):
    print(f"NOT RUN: {why}")
    sys.exit(77)


def installed(folder, what):
    path = DRIVERS / folder / what
    if not path.exists():
        not_run(f"{folder} is not installed")
    return path


def tool(name, *places):
    for place in places:
        if place.exists():
            return str(place)
    return shutil.which(name) or not_run(f"{name} is missing")


def run(command, folder, export, **env):
    done = subprocess.run(
        command, cwd=folder, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "WEIGHTPROOF": str(export), **env}, timeout=540)
    return done.stdout


def count(pattern, text):
    found = re.search(pattern, text)
    return int(found.group(1)) if found else 0


def pytest(folder, export):
    python = str(installed("gguf-py", "venv/bin/python"))
    paths = [None, "/usr/lib/python3/dist-packages"]
    for path in paths:
        env = {"PYTHONPATH": path} if path else {}
        if subprocess.run([python, "-c", "import pytest"], env=env or None,
                          stderr=subprocess.DEVNULL).returncode == 0:
            break
    else:
        not_run("pytest is missing")
    out = run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider",
               "--tb=no", "test_gguf.py"], folder, export, **env)
    return count(r"(\d+) passed", out), count(r"(\d+) failed", out), out


def go(folder, export):
    installed("gguf-parser-go", "driver")
    command = tool("go", DRIVERS / ".go" / "bin" / "go")
    module = (SOURCE / "gguf-parser-go" / "go.mod").read_text()
    kept = [line for line in module.splitlines()
            if "weightproof.invalid/protocol" not in line]
    (folder / "go.mod").write_text("\n".join(kept) + "\n")
    shutil.copy(SOURCE / "gguf-parser-go" / "go.sum", folder)
    out = run([command, "test", "-v", "."], folder, export, GOFLAGS="-mod=mod",
              GOPROXY="off", GOTOOLCHAIN="local", CGO_ENABLED="0")
    return out.count("    --- PASS:"), out.count("    --- FAIL:"), out


def cargo(folder, export):
    installed("gguf-crate", "driver")
    command = tool("cargo")
    (folder / "tests").mkdir()
    shutil.move(folder / "gguf.rs", folder / "tests" / "gguf.rs")
    (folder / "src").mkdir()
    (folder / "src" / "lib.rs").write_text("")
    shutil.copy(SOURCE / "gguf-crate" / "Cargo.lock", folder)
    manifest = (SOURCE / "gguf-crate" / "Cargo.toml").read_text()
    version = re.search(r'^gguf = "=?([^"]*)"', manifest, re.M).group(1)
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "mine"\nversion = "0.1.0"\nedition = "2021"\n'
        f'[dev-dependencies]\ngguf = "={version}"\n')
    out = run([command, "test", "--offline", "--target-dir",
               str(folder / "target")], folder, export)
    of = count(r"of (\d+) vectors", out)
    failed = len(re.findall(r"(?m)^gguf\.\S+ gguf\.\S+: ", out))
    return of - failed, failed, out


def node(folder, export):
    command = tool("node", installed("huggingface.js", "node"))
    (folder / "node_modules").symlink_to(
        installed("huggingface.js", "node_modules"))
    out = run([command, "--test", "gguf.test.mjs"], folder, export)
    return (count(r"(?m)^. pass (\d+)", out), count(r"(?m)^. fail (\d+)", out),
            out)


RUNNERS = {"test_gguf.py": pytest, "gguf_test.go": go, "gguf.rs": cargo,
           "gguf.test.mjs": node}


def main():
    name = sys.argv[2]
    with tempfile.TemporaryDirectory() as scratch:
        export = pathlib.Path(scratch) / "export"
        subprocess.run([BUILD / "bin" / "weightproof", "export", export],
                       check=True, stdout=subprocess.DEVNULL)
        snippet = export / "snippets" / name
        lines = len(snippet.read_text().splitlines())
        assert lines <= 20, f"{name} has {lines} lines"
        folder = pathlib.Path(scratch) / "mine"
        folder.mkdir()
        shutil.copy(snippet, folder)
        passed, failed, out = RUNNERS[name](folder, export)
        print(f"{name}: {passed} passed, {failed} failed")
        cases = len((export / "verdicts.tsv").read_text().splitlines())
        # A real reader passes most and fails some; all of them ran.
        if passed + failed != cases or passed < cases // 4 or failed == 0:
            print(out[-3000:])
            sys.exit(f"{cases} vectors, but {passed} + {failed} outcomes")


main()
