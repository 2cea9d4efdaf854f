"""The Python package libgguf: its validator, its reader, its quantizer.

A file is accepted if gguf-validate says so: no issue of severity error.
"""

import importlib.metadata
import pathlib
import sys
import zlib

import libgguf
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import protocol  # noqa: E402
from protocol import (TYPE_NAMES, Reject, array, attempt,  # noqa: E402
                      read_buffer, scalar, string, type_name, write_result)

Q8_0 = libgguf.GGMLQuantizationType.Q8_0


def dump_value(value):
    name = TYPE_NAMES[value.raw_type]
    if value.raw_array_type is not None:
        return array(type_name(value.raw_array_type), value.value)
    return (string(value.value) if name == "string"
            else scalar(name, value.value))


def dump_tensor(tensor):
    return {"name": tensor.name, "dims": [str(dim) for dim in tensor.shape],
            "type": tensor.qtype_value, "offset": str(tensor.offset),
            "size": None if tensor.nbytes is None else str(tensor.nbytes)}


def parse(request):
    result = attempt(libgguf.validate_gguf, request["file"],
                     max_array_values=None)
    if not result.ok:
        raise Reject("; ".join(f"{e.code}: {e.message}"
                               for e in result.errors))
    file = result.file
    return {"dump": {
        "version": file.version, "endian": None, "alignment": file.alignment,
        "data_offset": str(file.data_offset),
        "file_size": str(file.file_size),
        "kv": [{"key": key, "type": TYPE_NAMES[value.raw_type],
                "value": dump_value(value)}
               for key, value in file.metadata.items()],
        "tensors": [dump_tensor(tensor) for tensor in file.tensors],
        "policies": None}}


def tensor(request):
    file = attempt(libgguf.open_gguf, request["file"])
    data = attempt(lambda: file.read_tensor_bytes(
        file.tensors[int(request["index"])]))
    if "out" in request:
        write_result(request, "data", data)
    return {"size": str(len(data)), "crc32": zlib.crc32(data)}


def quantize(request):
    x = numpy.frombuffer(read_buffer(request["x"]), "<f4")
    rows = x.reshape(int(request.get("rows", 1)), int(request["n"]))
    y = attempt(libgguf.quantize_rows, rows, Q8_0)
    return write_result(request, "y", y.tobytes())


def dequantize(request):
    x = numpy.frombuffer(read_buffer(request["x"]), "u1")
    rows = x.reshape(int(request.get("rows", 1)), -1)
    y = attempt(libgguf.dequantize_rows, rows, Q8_0, int(request["n"]))
    return write_result(request, "y", y.astype("<f4").tobytes())


protocol.serve(
    {"gguf.parse": parse, "gguf.tensor": tensor,
     "q8_0.quantize": quantize, "q8_0.dequantize": dequantize},
    name="libgguf", version=importlib.metadata.version("libgguf"),
    language="Python",
    dump=("version", "alignment", "data_offset", "file_size", "kv", "tensors",
          "size", "order"))
