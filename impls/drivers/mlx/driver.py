"""MLX's GGUF loader, mlx.core.load.

It gives metadata and arrays as dictionaries, so the order of the file is
lost. It parses in this very process: a file that kills it kills the driver.
"""

import importlib.metadata
import os
import pathlib
import struct
import sys

import mlx.core as mx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import protocol  # noqa: E402
from protocol import NotRun, attempt, scalar

VALUE_TYPES = {mx.uint8: "u8", mx.int8: "i8", mx.uint16: "u16",
               mx.int16: "i16", mx.uint32: "u32", mx.int32: "i32",
               mx.float32: "f32", mx.bool_: "bool", mx.uint64: "u64",
               mx.int64: "i64"}

# Where an array's type tells the file's. Other types become float16.
TENSOR_TYPES = {mx.float32: 0, mx.int8: 24, mx.int16: 25, mx.int32: 26}

# Tensor types that it writes, the integers that carry their bits, and those as
# struct has them.
WRITTEN = {0: (mx.float32, mx.uint32, "I", 4),
           1: (mx.float16, mx.uint16, "H", 2), 24: (mx.int8, mx.uint8, "B", 1),
           25: (mx.int16, mx.uint16, "H", 2), 26: (mx.int32, mx.uint32, "I", 4)}


def dump_kv(key, value):
    if isinstance(value, str):
        return {"key": key, "type": "string",
                "value": protocol.string(value)}
    if isinstance(value, list):
        return {"key": key, "type": "array",
                "value": protocol.array("string", value)}
    if value is None:
        return {"key": key, "type": None, "value": None}
    name = VALUE_TYPES[value.dtype]
    items = value.tolist()
    if value.ndim == 0:
        return {"key": key, "type": name, "value": scalar(name, items)}
    return {"key": key, "type": "array", "value": protocol.array(name, items)}


def dump_tensors(arrays):
    # A quantized tensor comes back as three arrays, one of them u32, a type
    # that no tensor of a file has: then the list is not that of the file.
    if any(array.dtype == mx.uint32 for array in arrays.values()):
        return None
    return [{"name": name, "dims": [str(dim) for dim in reversed(array.shape)],
             "type": TENSOR_TYPES.get(array.dtype), "offset": None,
             "size": None}
            for name, array in arrays.items()]


def parse(request):
    if os.stat(request["file"]).st_size > protocol.MAX_LOAD:
        raise NotRun("it loads all data; files over 1 GiB are not run")
    arrays, metadata = attempt(mx.load, request["file"], format="gguf",
                               return_metadata=True)
    return {"dump": {
        "version": None, "endian": None, "alignment": None,
        "data_offset": None, "file_size": None, "ordered": False,
        "kv": [dump_kv(key, value) for key, value in metadata.items()],
        "tensors": dump_tensors(arrays), "policies": None}}


def write(request):
    """It writes what its dictionaries can hold: numbers as arrays without a
    dimension, lists of strings, and tensors of four types."""
    kv, tensors = protocol.write_contents(request)
    metadata, arrays = {}, {}
    kinds = {name: dtype for dtype, name in VALUE_TYPES.items()}
    for key, kind, value in kv:
        name = kind[1] if isinstance(kind, tuple) else kind
        if name == "string":
            metadata[key] = value
        elif name in kinds:
            metadata[key] = attempt(mx.array, value, dtype=kinds[name])
        else:
            raise NotRun(f"it has no array type for {name}")
    for name, dims, kind, data in tensors:
        if kind not in WRITTEN:
            raise NotRun(f"it writes no tensors of type {kind}")
        dtype, raw, code, width = WRITTEN[kind]
        items = struct.unpack(f"<{len(data) // width}{code}", data)
        arrays[name] = mx.array(items, dtype=raw).view(dtype).reshape(
            tuple(reversed(dims)))
    attempt(mx.save_gguf, request["out"], arrays, metadata)
    return {}


protocol.serve({"gguf.parse": parse, "gguf.write": write}, name="mlx",
               version=importlib.metadata.version("mlx"), language="C++",
               dump=("kv", "tensors"))
