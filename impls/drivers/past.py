"""The lock files of a past release, from a driver's versions.json.

  past.py FOLDER VERSION OUT    writes them into OUT
"""
import json
import pathlib
import re
import sys
import tomllib


def npm(lock, version, folder):
    name = lock["package"]
    top = {"name": "weightproof-driver-past", "version": "1.0.0",
           "private": True, "dependencies": {name: version}}
    return {
        "package.json": top,
        "package-lock.json": {
            "name": top["name"], "version": "1.0.0", "lockfileVersion": 3,
            "requires": True,
            "packages": {
                "": {k: top[k] for k in ("name", "version", "dependencies")},
                **{f"node_modules/{dependency}": entry for dependency, entry
                   in lock.get("dependencies", {}).items()},
                f"node_modules/{name}": {
                    "version": version, "integrity": lock["integrity"],
                    "dependencies": {
                        dependency: entry["version"] for dependency, entry
                        in lock.get("dependencies", {}).items()}}}}}


def pip(lock, version, folder):
    """The folder's own requirements with other versions of some packages."""
    new = {lock["package"]: lock["sha256"], **lock.get("with", {})}
    kept, dropping = [], False
    for line in (folder / "requirements.txt").read_text().splitlines():
        if line.split("==")[0].strip().lower() in new:
            dropping = True
        if not dropping:
            kept.append(line)
        dropping = dropping and line.rstrip().endswith("\\")
    for name, sums in new.items():
        hashes = " ".join(f"--hash=sha256:{h}" for h in sums)
        kept.append(f"{name}=={version} {hashes}")
    return {"requirements.txt": "\n".join(kept) + "\n"}


def go(lock, version, folder):
    """The folder's own modules with one of another version."""
    name = lock["package"]
    mod = re.sub(rf"{re.escape(name)} v\S+", f"{name} v{version}",
                 (folder / "go.mod").read_text())
    kept = [line for line in (folder / "go.sum").read_text().splitlines()
            if line.split()[0] != name]
    kept += [f"{name} v{version} {lock['module']}",
             f"{name} v{version}/go.mod {lock['mod']}"]
    return {"go.mod": mod, "go.sum": "\n".join(sorted(kept)) + "\n"}


def cargo(lock, version, folder):
    """The folder's own crates without some and with others. The program has a
    name of its own: all are built in one place."""
    toml = (folder / "Cargo.toml").read_text()
    name, driver = lock["package"], f"driver-{folder.name}"
    current = tomllib.loads(toml)["package"]["version"]
    binary = f"{driver}-{version.replace('.', '-')}"
    for old, new in (
            (f'version = "{current}"', f'version = "{version}"'),
            (f'[[bin]]\nname = "{driver}"', f'[[bin]]\nname = "{binary}"'),
            ('path = "driver.rs"', f'path = "{folder.resolve()}/driver.rs"'),
            ('path = "..', f'path = "{folder.resolve().parent}'),
            (f'{name} = "={current}"', f'{name} = "={version}"')):
        assert old in toml, old
        toml = toml.replace(old, new)
    text = (folder / "Cargo.lock").read_text()
    head, *crates = text.removesuffix("\n").split("\n\n[[package]]\n")
    crates = {crate_name(c): c for c in crates}
    for gone in lock["without"]:
        del crates[gone]
    del crates[f"{driver} {current}"]
    for crate in lock["crates"] + [{
            "name": driver, "version": version,
            "dependencies": sorted([name, "weightproof-driver"])}]:
        crates[f"{crate['name']} {crate['version']}"] = crate_text(crate)
    return {"Cargo.toml": toml, "Cargo.lock": "\n\n[[package]]\n".join(
        [head] + [crates[key] for key in sorted(crates, key=str.split)]) + "\n"}


def crate_name(text):
    crate = tomllib.loads(text)
    return f"{crate['name']} {crate['version']}"


def crate_text(crate):
    lines = [f'{key} = "{crate[key]}"' for key in ("name", "version")]
    if "checksum" in crate:
        lines += ['source = "registry+https://github.com/rust-lang/'
                  'crates.io-index"', f'checksum = "{crate["checksum"]}"']
    if crate.get("dependencies"):
        lines += ["dependencies = [", *(
            f' "{name}",' for name in crate["dependencies"]), "]"]
    return "\n".join(lines)


KINDS = {"integrity": npm, "sha256": pip, "module": go, "crates": cargo}


def releases(folder):
    """Of a driver folder, in its order."""
    file = folder / "versions.json"
    return json.loads(file.read_text())["versions"] if file.exists() else []


def files(folder, version):
    """Name and text of each lock file."""
    found = [r for r in releases(folder) if r["version"] == version]
    if not found:
        raise SystemExit(f"past.py: {folder.name} has no release {version}")
    lock = found[0]["lock"]
    kind = next(kind for kind in KINDS if kind in lock)
    return {name: content if isinstance(content, str)
            else json.dumps(content, indent=2) + "\n" for name, content
            in KINDS[kind](lock, version, folder).items()}


def main():
    out = pathlib.Path(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files(pathlib.Path(sys.argv[1]), sys.argv[2]).items():
        (out / name).write_text(text)


if __name__ == "__main__":
    main()
