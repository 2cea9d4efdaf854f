"""Do all installed readers read real files alike?

    agree.py BUILD_DIR [FILE...]       default: BUILD_DIR/models/*.gguf

Asks every instance that parses GGUF for each file, and compares the dumps
field by field; what a reader does not report is not compared. Where readers
hand out tensor data, the CRC-32 of each tensor is compared as well.
agree_known.json lists what is known; the rest counts. Exit status 1 if two
readers differ or one refuses a file, 2 on usage, 77 (NOT RUN) if no file or
fewer than two readers are there.
"""

import fnmatch
import json
import pathlib
import struct
import subprocess
import sys
import zlib

import registry

NOT_RUN = 77
FORMATS = {"u8": "<B", "i8": "<b", "u16": "<H", "i16": "<h", "u32": "<I",
           "i32": "<i", "bool": "<?", "u64": "<Q", "i64": "<q"}
KNOWN = json.loads((registry.DRIVERS / "agree_known.json").read_text())
MAX_ITEMS = 256
MAX_STRING = 4096


class Reader:
    """One running driver."""

    def __init__(self, folder, instance):
        self.name = instance["name"]
        self._process = subprocess.Popen(
            folder.command(instance), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=folder.environment(instance))
        self.hello = self.ask(op="hello", protocol=1)

    def offers(self, operation):
        return operation in self.hello["operations"]

    def ask(self, **request):
        line = json.dumps({"id": 1, **request}) + "\n"
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self._process.stdout.readline()
        if not answer:
            return {"status": "died", "why": f"exit {self._process.wait()}"}
        return json.loads(answer)

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def encode(element, item):
    """An array element as in a little-endian file of version 3."""
    if element == "string":
        data = (bytes.fromhex(item["hex"]) if isinstance(item, dict)
                else item.encode())
        return struct.pack("<Q", len(data)) + data
    if element in ("f32", "f64"):
        width = 4 if element == "f32" else 8
        return int(item, 16).to_bytes(width, "little")
    return struct.pack(FORMATS[element],
                       int(item) if element != "bool" else item)


def abbreviate(value):
    """Long arrays and strings as the canonical dump has them."""
    if isinstance(value, str) and len(value.encode()) > MAX_STRING:
        data = value.encode()
        return {"len": str(len(data)), "crc32": zlib.crc32(data)}
    if not isinstance(value, dict) or "head" in value:
        return ({"len": value["len"], "crc32": value["crc32"]}
                if isinstance(value, dict) else value)
    if "items" not in value or "crc32" in value:
        return value
    items = value["items"]
    if len(items) <= MAX_ITEMS:
        return {**value, "items": [abbreviate(item) for item in items]}
    crc = 0
    for item in items:
        crc = zlib.crc32(encode(value["elem"], item), crc)
    return {**value, "items": items[:3] + items[-1:], "crc32": crc}


def normal(dump):
    dump = dict(dump)
    if dump.get("kv") is not None:
        dump["kv"] = [{**entry, "value": abbreviate(entry["value"])}
                      for entry in dump["kv"]]
    if not dump.get("tensors"):
        dump["data_offset"] = None
    return dump


def differences(path, left, right):
    """Paths at which two values differ; null agrees with everything."""
    if left is None or right is None:
        return
    if isinstance(left, dict) and isinstance(right, dict):
        for key in left.keys() & right.keys():
            yield from differences(f"{path}.{key}", left[key], right[key])
    elif isinstance(left, list) and isinstance(right, list):
        if len(left) != len(right):
            yield f"{path}: {len(left)} and {len(right)} entries"
        for i, (one, other) in enumerate(zip(left, right)):
            yield from differences(f"{path}[{i}]", one, other)
    elif str(left) != str(right):
        yield f"{path}: {str(left)[:60]!r} and {str(right)[:60]!r}"


def compare(left, right):
    if left.get("ordered") is False or right.get("ordered") is False:
        for list_name, key in (("kv", "key"), ("tensors", "name")):
            for dump in (left, right):
                if dump.get(list_name):
                    dump[list_name].sort(key=lambda entry: entry[key])
    return list(differences("dump", left, right))


def known(reader, file, difference):
    """Why a difference is expected, or None."""
    for entry in KNOWN:
        # fnmatch knows [...]: the brackets of a path stand for themselves.
        pattern = entry["difference"].replace("[", "[[]")
        if (entry["reader"] == reader
                and fnmatch.fnmatchcase(file.name, entry["files"])
                and fnmatch.fnmatchcase(difference, pattern)):
            return entry["reason"]
    return None


def report(reader, file, found):
    """Prints differences; how many of them are not known."""
    unknown = 0
    for difference in found:
        why = known(reader, file, difference)
        unknown += why is None
        print(f"{file.name}: {reader}: {difference}"
              + (f" - known: {why}" if why else ""))
    return unknown


def check_dumps(readers, file):
    """Returns the first dump, and how many things are wrong."""
    wrong, first = 0, None
    for reader in readers:
        answer = reader.ask(op="gguf.parse", file=str(file))
        if answer.get("verdict") != "accept":
            text = json.dumps(answer)[:200]
            wrong += report(reader.name, file, [f"refused: {text}"])
        elif answer.get("dump"):
            dump = normal(answer["dump"])
            if first is None:
                first = dump
            else:
                found = compare(json.loads(json.dumps(first)), dump)
                wrong += report(reader.name, file, found[:5])
    return first, wrong


def check_tensors(readers, file, count):
    readers = [reader for reader in readers if reader.offers("gguf.tensor")]
    wrong = 0
    for index in range(count if len(readers) > 1 else 0):
        answers = [reader.ask(op="gguf.tensor", file=str(file), index=index)
                   for reader in readers]
        sums = {(str(answer.get("size")), answer.get("crc32"))
                for answer in answers}
        if len(sums) > 1 or None in next(iter(sums)):
            print(f"{file.name}: tensor {index}: "
                  f"{[json.dumps(answer)[:120] for answer in answers]}")
            wrong += 1
    return wrong


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    build = pathlib.Path(sys.argv[1])
    files = [pathlib.Path(name).resolve() for name in sys.argv[2:]]
    files = files or sorted((build / "models").resolve().glob("*.gguf"))
    readers = []
    for name in registry.folder_names():
        folder = registry.Folder(name, build)
        why = folder.why_not()
        if why is not None:
            print(f"NOT RUN: {name}: {why}")
            continue
        started = [Reader(folder, one) for one in folder.instances()
                   if "/cpu-" not in one["name"]]
        readers += [one for one in started if one.offers("gguf.parse")]
    if not files or len(readers) < 2:
        print(f"NOT RUN: {len(files)} files, {len(readers)} readers")
        return NOT_RUN
    wrong = tensors = 0
    for file in files:
        dump, found = check_dumps(readers, file)
        count = len(dump.get("tensors") or []) if dump else 0
        wrong += found + check_tensors(readers, file, count)
        tensors += count
    for reader in readers:
        reader.close()
    print(f"{len(files)} files, {tensors} tensors, {len(readers)} readers "
          f"({', '.join(reader.name for reader in readers)}): "
          f"{wrong} differences")
    return 1 if wrong else 0


sys.exit(main())
