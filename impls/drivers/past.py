"""The lock files of a past release, from a driver's versions.json.

  past.py FOLDER VERSION OUT    writes them into OUT
"""
import json
import pathlib
import sys


def npm(lock, version):
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


def main():
    folder, version, out = (pathlib.Path(sys.argv[1]), sys.argv[2],
                            pathlib.Path(sys.argv[3]))
    releases = json.loads((folder / "versions.json").read_text())["versions"]
    found = [r for r in releases if r["version"] == version]
    if not found:
        raise SystemExit(f"past.py: {folder.name} has no release {version}")
    lock = found[0]["lock"]
    files = npm(lock, version) if "integrity" in lock else pip(
        lock, version, folder)
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(
            content, indent=2) + "\n"
        (out / name).write_text(text)


main()
