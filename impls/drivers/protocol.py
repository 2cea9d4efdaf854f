"""The driver protocol for drivers written in Python.

A driver hands serve() a table of operations. An operation takes the request
and returns the fields of an accepting answer; it raises Reject or NotRun
otherwise. Whatever else it raises ends the process: a defect of a driver must
not look like a verdict. Calls into the library under test go through
attempt(), which turns the library's exceptions into rejections.
"""

import json
import math
import os
import struct
import sys
import zlib

TYPE_NAMES = ("u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string",
              "array", "u64", "i64", "f64")
FORMATS = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I",
           "i32": "i", "f32": "f", "bool": "?", "u64": "Q", "i64": "q",
           "f64": "d"}
# Longer strings (bytes) and arrays are abbreviated; ends of a string are kept.
MAX_STRING, STRING_ENDS, MAX_ARRAY = 4096, 64, 256
# What a driver loads or copies at most; beyond it an operation is not run.
MAX_LOAD = 1 << 30
# Deeper arrays are not reported: answers are JSON, which nests only so far.
MAX_LEVELS = 80
# Longer arrays without a type are not reported; they cannot be abbreviated.
MAX_UNTYPED = 1 << 22


class Reject(Exception):
    """The library refuses the input; the text says how."""


class NotRun(Exception):
    """The operation says nothing about this input; the text says why."""


def attempt(function, *arguments, **keywords):
    """Calls the library. Its exceptions are refusals; no memory is not."""
    try:
        return function(*arguments, **keywords)
    except MemoryError:
        raise
    except Exception as error:
        raise Reject(f"{type(error).__name__}: {error}") from error


def read_buffer(buffer):
    """The bytes of {"hex"} or {"file", "offset", "bytes"}."""
    if "hex" in buffer:
        return bytes.fromhex(buffer["hex"])
    with open(buffer["file"], "rb") as file:
        file.seek(int(buffer.get("offset", 0)))
        return file.read(int(buffer["bytes"]))


def write_result(request, name, data):
    """The answer field for result bytes: to the request's out, or as hex."""
    if "out" in request:
        with open(request["out"], "wb") as file:
            file.write(data)
        return {}
    return {name: {"hex": data.hex()}}


def scalar(type_name, value):
    """A number as the canonical dump writes it."""
    if type_name in ("u64", "i64"):
        return str(value)
    if type_name in ("f32", "f64"):
        if value != value:
            return "nan"
        double = type_name == "f64"
        bits = int.from_bytes(struct.pack(">d" if double else ">f", value))
        return f"0x{bits:016x}" if double else f"0x{bits:08x}"
    return value


def string(value):
    """A string as the canonical dump writes it."""
    data = value.encode()
    if len(data) <= MAX_STRING:
        return value
    return {"len": str(len(data)), "crc32": zlib.crc32(data),
            "head": _text(data[:STRING_ENDS]),
            "tail": _text(data[-STRING_ENDS:])}


def _text(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"hex": data.hex()}


def array(type_name, items):
    """An array of strings or numbers as the canonical dump writes it."""
    write = (string if type_name == "string"
             else lambda item: scalar(type_name, item))
    count = {"elem": type_name, "len": str(len(items))}
    if len(items) <= MAX_ARRAY:
        return {**count, "items": [write(item) for item in items]}
    crc = 0
    for i in range(0, len(items), 4096):
        crc = zlib.crc32(_encode(type_name, items[i:i + 4096]), crc)
    return {**count, "items": [write(item) for item in items[:3] + items[-1:]],
            "crc32": crc}


def _encode(type_name, items):
    """Array elements as in a little-endian file of version 3."""
    if type_name == "string":
        encoded = (item.encode() for item in items)
        return b"".join(struct.pack("<Q", len(data)) + data
                        for data in encoded)
    if type_name in ("f32", "f64"):
        items = [math.nan if item != item else item for item in items]
    return struct.pack(f"<{len(items)}{FORMATS[type_name]}", *items)


def type_name(number):
    """The name of a value type; of one that is none, its number."""
    return TYPE_NAMES[number] if number < len(TYPE_NAMES) else str(number)


def untyped(value, level=1):
    """A value of a library that lost the types: an array without an element
    type, an integer, a float of unknown width as a JSON number."""
    if isinstance(value, list):
        told = level <= MAX_LEVELS and len(value) <= MAX_UNTYPED
        return {"elem": None, "len": str(len(value)),
                "items": [untyped(item, level + 1) for item in value]
                if told else None}
    if isinstance(value, str):
        return string(value)
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else None
    return value


def parse_value(type_name, value):
    """A value of a canonical dump given in full, as Python has it."""
    if type_name in ("u64", "i64"):
        return int(value)
    if type_name in ("f32", "f64"):
        if value == "nan":
            return math.nan
        width = 8 if type_name == "f64" else 4
        bits = int(value, 16).to_bytes(width)
        return struct.unpack(">d" if width == 8 else ">f", bits)[0]
    if type_name == "array":
        return [parse_value(value["elem"], item) for item in value["items"]]
    return value


def write_contents(request):
    """What gguf.write is to write: [(key, type, value)], where the type of an
    array is ("array", element type), and [(name, dims, type, bytes)]."""
    dump = request["dump"]
    kv = []
    for entry in dump["kv"]:
        name, value = entry["type"], entry["value"]
        kind = (name, value["elem"]) if name == "array" else name
        kv.append((entry["key"], kind, parse_value(name, value)))
    tensors = [(tensor["name"], [int(dim) for dim in tensor["dims"]],
                tensor["type"], read_buffer(data))
               for tensor, data in zip(dump["tensors"], request["data"])]
    return kv, tensors


class Keep:
    """The last large file stays open: its tensors are asked for one by one.

    Small files are opened anew for every request.
    """

    def __init__(self, opener, minimum=16 << 20):
        self._open = opener
        self._minimum = minimum
        self._key = None
        self._value = None

    def get(self, path):
        state = os.stat(path)
        key = (path, state.st_ino, state.st_size, state.st_ctime_ns)
        if key != self._key:
            self._key = self._value = None
            self._value = self._open(path)
            self._key = key if state.st_size >= self._minimum else None
        return self._value


def _answer(hello, operations, request):
    name = request["op"]
    if name == "hello":
        return hello
    if name not in operations:
        return {"status": "not-implemented"}
    try:
        if int(request.get("base") or 0) != 0:
            raise NotRun("reads files from their start")
        fields = operations[name](request)
    except Reject as refusal:
        return {"status": "ok", "verdict": "reject", "detail": str(refusal)}
    except NotRun as reason:
        return {"status": "not-run", "why": str(reason)}
    return {"status": "ok", "verdict": "accept", **fields}


def serve(operations, *, name, version, language, dump=()):
    """Answers requests until standard input ends."""
    # Whatever the library prints must not end up among the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    hello = {"protocol": 1, "name": name, "version": version,
             "language": language, "operations": sorted(operations),
             "verdicts": ["accept", "reject"], "dump": list(dump),
             "variants": [], "profile": None}
    for line in sys.stdin.buffer:
        request = json.loads(line)
        answer = {"id": request["id"], **_answer(hello, operations, request)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
