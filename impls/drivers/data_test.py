"""Checks driver.json and deviations.json of every folder.

    data_test.py SOURCE_DIR
"""

import datetime
import fnmatch
import json
import pathlib
import re
import sys
import tomllib

import past
import registry

SOURCE = pathlib.Path(sys.argv[1])
VERDICTS = {"accept", "reject", "unsupported", "limit", "crash", "hang",
            "out-of-memory", "protocol-error", "nondeterministic",
            "not-implemented"}
DRIVER_KEYS = {"name", "homepage", "license", "package", "version", "language",
               "install", "requires", "env", "limits", "instances"}
DEVIATION_KEYS = {"verdicts", "reason", "upstream", "versions", "owner",
                  "until"}
OPTIONAL_KEYS = {"rule", "vector", "instance", "operation"}


def rule_ids():
    for table in SOURCE.glob("reference/*/rules.tsv"):
        for line in table.read_text().splitlines()[1:]:
            yield line.split("\t")[0]


def vector_ids():
    for file in (SOURCE / "conformance/vectors").glob("*.json"):
        for vector in json.loads(file.read_text())["vectors"]:
            yield vector["id"]


def check_driver(name, data):
    assert set(data) == DRIVER_KEYS, set(data) ^ DRIVER_KEYS
    assert data["name"] == name
    assert data["install"]["kind"] in ("pip", "npm", "cargo", "go", "none")
    names = [instance["name"] for instance in data["instances"]]
    assert names and len(set(names)) == len(names), names
    for instance in data["instances"]:
        assert instance["command"], instance
        assert instance["name"].split("/")[0] == name, instance
    for text in re.findall(r"\{(\w+)\}", json.dumps(data)):
        assert text in ("source", "build", "bin", "lib", "driver",
                        "installed"), text
    return names


def check_deviation(entry, instances, rules, vectors):
    keys = set(entry)
    assert DEVIATION_KEYS <= keys <= DEVIATION_KEYS | OPTIONAL_KEYS, keys
    assert ("rule" in entry) != ("vector" in entry), "one of rule, vector"
    assert entry.get("rule", None) is None or entry["rule"] in rules
    assert entry.get("vector", None) is None or entry["vector"] in vectors
    pattern = entry.get("instance", "*")
    assert fnmatch.filter(instances, pattern), f"no instance {pattern}"
    assert entry["verdicts"] and set(entry["verdicts"]) <= VERDICTS
    for key in ("reason", "upstream", "versions", "owner"):
        assert isinstance(entry[key], str), key
    assert entry["reason"] and entry["versions"] and entry["owner"]
    datetime.date.fromisoformat(entry["until"])


def check_past(folder, current, version):
    """The lock files of a release name it, and only what is pinned."""
    made = past.files(folder, version)
    for name, text in made.items():
        if (folder / name).exists() and version == current and (
                name in ("go.mod", "go.sum")):
            assert text == (folder / name).read_text(), name
    if "Cargo.lock" in made:
        crates = tomllib.loads(made["Cargo.lock"])["package"]
        known = {c["name"] for c in crates} | {
            f"{c['name']} {c['version']}" for c in crates}
        for crate in crates:
            assert "checksum" in crate or "source" not in crate, crate
            assert known.issuperset(crate.get("dependencies", [])), crate
        assert made["Cargo.lock"].count(f'"{version}"') >= 2, version
    else:
        assert any(version in text for text in made.values()), version


def main():
    rules, vectors = set(rule_ids()), set(vector_ids())
    assert rules, "no rules found"
    failed = 0
    for name in registry.folder_names():
        path = registry.DRIVERS / name
        driver = json.loads((path / "driver.json").read_text())
        instances = check_driver(name, driver)
        for release in past.releases(path):
            check_past(path, driver["version"], release["version"])
        entries = json.loads((path / "deviations.json").read_text())
        for i, entry in enumerate(entries):
            try:
                check_deviation(entry, instances, rules, vectors)
            except (AssertionError, KeyError, ValueError) as error:
                print(f"{name}/deviations.json[{i}]: {error}: {entry}")
                failed += 1
        print(f"{name}: {len(instances)} instances, {len(entries)} deviations")
    return 1 if failed else 0


sys.exit(main())
