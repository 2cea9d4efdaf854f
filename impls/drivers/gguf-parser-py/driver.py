"""The Python package gguf-parser: GGUFParser(path).parse().

It returns untyped Python values. Its attribute alignment is not reported: it
is 1 where the file has no such key, and only its load_tensors, which is not
driven, reads it.
"""

import importlib.metadata
import pathlib
import sys

from gguf_parser import GGUFParser

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import protocol  # noqa: E402
from protocol import attempt, untyped  # noqa: E402


def parse(request):
    parser = GGUFParser(request["file"])
    attempt(parser.parse)
    return {"dump": {
        "version": parser.version, "endian": None, "alignment": None,
        "data_offset": None, "file_size": None,
        "kv": [{"key": key, "type": None, "value": untyped(value)}
               for key, value in parser.metadata.items()],
        "tensors": [{"name": t["name"],
                     "dims": [str(dim) for dim in t["dimensions"]],
                     "type": t["type"], "offset": str(t["offset"]),
                     "size": None} for t in parser.tensors_info],
        "policies": None}}


protocol.serve({"gguf.parse": parse}, name="gguf-parser-py",
               version=importlib.metadata.version("gguf-parser"),
               language="Python", dump=("version", "kv", "tensors", "order"))
