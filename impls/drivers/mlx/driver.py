"""MLX's GGUF loader, mlx.core.load.

It gives metadata and arrays as dictionaries, so the order of the file is
lost. It parses in this very process: a file that kills it kills the driver.
"""

import importlib.metadata
import os
import pathlib
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


protocol.serve({"gguf.parse": parse}, name="mlx",
               version=importlib.metadata.version("mlx"), language="C++",
               dump=("kv", "tensors"))
