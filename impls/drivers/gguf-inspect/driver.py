"""The Python package gguf-inspect: parse_gguf(path). Its warnings accept."""

import importlib.metadata
import pathlib
import sys

from gguf_inspect import parse_gguf

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import protocol  # noqa: E402
from protocol import (MAX_LEVELS, TYPE_NAMES, array,  # noqa: E402
                      attempt, scalar, string)


def dump_value(value, level=1):
    name = TYPE_NAMES[value.elem_type if value.is_array else value.type]
    if not value.is_array:
        return (string(value.value) if name == "string"
                else scalar(name, value.value))
    if name != "array":
        return array(name, value.value)
    items = None
    if level < MAX_LEVELS:
        items = [dump_value(item, level + 1) for item in value.value]
    return {"elem": name, "len": str(value.count), "items": items}


def dump_tensor(tensor):
    size = attempt(lambda: tensor.nbytes)
    return {"name": tensor.name, "dims": [str(dim) for dim in tensor.dims],
            "type": tensor.ggml_type, "offset": str(tensor.offset),
            "size": None if size is None else str(size)}


def parse(request):
    file = attempt(parse_gguf, request["file"])
    return {"dump": {
        "version": file.version, "endian": None, "alignment": file.alignment,
        "data_offset": str(file.tensor_data_offset),
        "file_size": str(file.file_size),
        "kv": [{"key": key, "type": TYPE_NAMES[value.type],
                "value": dump_value(value)}
               for key, value in file.metadata.items()],
        "tensors": [dump_tensor(tensor) for tensor in file.tensors],
        "policies": None}}


protocol.serve({"gguf.parse": parse}, name="gguf-inspect",
               version=importlib.metadata.version("gguf-inspect"),
               language="Python",
               dump=("version", "alignment", "data_offset", "file_size", "kv",
                     "tensors", "size", "order"))
