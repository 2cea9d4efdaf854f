#!/usr/bin/env python3
"""Planted bugs in the judge, each of which its own tests must notice.

  run.py BUILD [--sample N] [NAME...]

NAME.toml beside this file states file, test (the program that must fail),
story, old, new; old must occur exactly once. The file is compiled with the bug
as BUILD compiles it, the test is linked with it in front of the libraries,
and run. A test that passes without the bug and fails with it kills the mutant.
Exit code: 0 all are killed, 1 one survives, 2 something cannot be built.
"""
import json
import pathlib
import shlex
import subprocess
import sys
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class Trouble(Exception):
    pass


def plant(name, out):
    """The description, and where the file with the bug was written."""
    about = tomllib.loads((HERE / f"{name}.toml").read_text())
    if set(about) != {"file", "test", "story", "old", "new"}:
        raise Trouble(f"{name}.toml: other members than file, test, story, old, new")
    source = (ROOT / about["file"]).read_text()
    if source.count(about["old"]) != 1:
        raise Trouble(f"{name}: old occurs {source.count(about['old'])} times in {about['file']}")
    path = out / name / pathlib.Path(about["file"]).name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#line 1 "{about["file"]}"\n' + source.replace(about["old"], about["new"]))
    return about, path


def run(command, cwd, what):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        raise Trouble(f"{what}:\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def compiled_with(build, file):
    """The compile command of file, or of the batch that includes it."""
    wanted = str(ROOT / file)
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if "fuzz" in entry["command"].split(entry["file"])[0].split(" -o ")[-1]:
            continue
        batch = pathlib.Path(entry["file"])
        if entry["file"] == wanted or (batch.parent.name == "Unity"
                                       and f'"{wanted}"' in batch.read_text()):
            return entry
    raise Trouble(f"{file} is in no compile command")


def compile_command(build, file, source, target):
    """How BUILD compiles file, for source."""
    entry = compiled_with(build, file)
    if entry["file"] != str(ROOT / file):
        batch = source.with_name(f"batch_{source.name}")
        batch.write_text(pathlib.Path(entry["file"]).read_text().replace(
            str(ROOT / file), str(source)))
        source = batch
    kept, skip = [], False
    for word in shlex.split(entry["command"]):
        if skip:
            skip = False
        elif word in ("-o", "-c", "-MF", "-MT"):
            skip = True
        elif word not in ("-MD", entry["file"]):
            kept.append(word)
    return kept + ["-w", "-O0", "-o", str(target), "-c", str(source)], entry["directory"]


def link_command(build, test, target, program):
    lines = run(["ninja", "-t", "commands", f"bin/{test}"], build, "ninja").splitlines()
    for line in reversed(lines):
        if f" -o bin/{test} " in line:
            break
    else:
        raise Trouble(f"{test} is not linked here")
    # ": && CXX ... -o bin/TEST ... && (more)": the linking itself.
    words = shlex.split(line.split("&&")[1])
    at = words.index("-o")
    return words[:at] + [str(target), "-o", str(program)] + words[at + 2:]


def judge(build, out, name):
    about, source = plant(name, out)
    target, program = source.with_suffix(".o"), out / name / about["test"]
    command, directory = compile_command(build, about["file"], source, target)
    run(command, directory, f"{name}: compiling")
    run(link_command(build, about["test"], target, program), build, f"{name}: linking")
    done = subprocess.run([program, "--gtest_brief=1"], cwd=build, capture_output=True,
                          text=True, timeout=300)
    program.unlink()
    failed = [line.split("]", 1)[1].strip() for line in done.stdout.splitlines()
              if line.startswith("[  FAILED  ]") and "." in line]
    return about, done.returncode != 0, failed


def main():
    arguments = sys.argv[1:]
    if not arguments:
        print(__doc__)
        return 2
    build = pathlib.Path(arguments.pop(0)).resolve()
    every = 1
    if arguments[:1] == ["--sample"]:
        every = int(arguments[1])
        del arguments[:2]
    names = arguments or sorted(path.stem for path in HERE.glob("*.toml"))[::every]
    out = build / "judge_mutants"
    sound, survivors, start = set(), 0, time.monotonic()
    try:
        for name in names:
            test = tomllib.loads((HERE / f"{name}.toml").read_text())["test"]
            if test not in sound:
                run([build / "bin" / test, "--gtest_brief=1"], build, f"{test} fails without a bug")
                sound.add(test)
            about, killed, failed = judge(build, out, name)
            survivors += not killed
            by = f"{about['test']}: {failed[0].split(',')[0] if failed else 'died'}"
            print(f"{'killed' if killed else 'SURVIVES':8}  {name:32}  {by if killed else about['story'].strip()}", flush=True)
    except (Trouble, OSError, subprocess.TimeoutExpired) as trouble:
        print(f"judge mutants: {trouble}", file=sys.stderr)
        return 2
    print(f"{len(names) - survivors} of {len(names)} planted bugs of the judge are killed "
          f"by its own tests, in {time.monotonic() - start:.0f} s")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
