"""gguf-py, the reader and the quantizer of llama.cpp's Python package.

Values are those of ReaderField.contents(), the accessor for users; an array
has the element type of the last entry of ReaderField.types.
"""

import importlib.metadata
import pathlib
import sys
import zlib

import gguf
import gguf.gguf_reader
import gguf.quants
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import protocol  # noqa: E402
from protocol import NotRun, Reject, attempt, read_buffer, scalar, string
from protocol import write_result

MAX_VALUE = 1 << 28

# The reader keeps these next to the keys of the file.
PSEUDO_FIELDS = ("GGUF.version", "GGUF.tensor_count", "GGUF.kv_count")

VALUE_TYPES = dict(zip(protocol.TYPE_NAMES, gguf.GGUFValueType))
PLAIN = {gguf.GGMLQuantizationType.F32: "<f4",
         gguf.GGMLQuantizationType.F16: "<f2"}

READERS = protocol.Keep(lambda path: attempt(gguf.GGUFReader, path))


# Releases before the accessor for users show values as they lie in the file.
TYPED = hasattr(gguf.gguf_reader.ReaderField, "contents")


def dump_value(field):
    if sum(part.nbytes for part in field.parts) > MAX_VALUE:
        raise NotRun(f"a value of more than {MAX_VALUE} bytes is not copied")
    contents = attempt(field.contents)
    name = protocol.TYPE_NAMES[field.types[-1]]
    if len(field.types) > 1:
        return protocol.array(name, contents)
    if name == "array":
        return {"elem": None, "len": "0", "items": contents}
    return string(contents) if name == "string" else scalar(name, contents)


def dump_kv(field):
    return {"key": field.name, "type": protocol.TYPE_NAMES[field.types[0]],
            "value": dump_value(field)}


def dump_tensor(tensor):
    offset = tensor.field.parts[-1]
    return {"name": tensor.name, "dims": [str(dim) for dim in tensor.shape],
            "type": int(tensor.tensor_type),
            "offset": str(attempt(lambda: offset[0])),
            "size": str(tensor.n_bytes)}


def parse(request):
    reader = READERS.get(request["file"])
    if not TYPED:
        return {"dump": {
            "version": None, "endian": None, "alignment": None,
            "data_offset": None, "file_size": None, "kv": None,
            "tensors": [dump_tensor(tensor) for tensor in reader.tensors],
            "policies": None}}
    big = reader.endianess == gguf.GGUFEndian.BIG
    return {"dump": {
        "version": attempt(reader.fields["GGUF.version"].contents),
        "endian": "big" if big else "little",
        "alignment": int(reader.alignment),
        "data_offset": str(reader.data_offset),
        "file_size": None,
        "kv": [dump_kv(field) for field in reader.fields.values()
               if field.name not in PSEUDO_FIELDS],
        "tensors": [dump_tensor(tensor) for tensor in reader.tensors],
        "policies": None}}


def tensor(request):
    reader = READERS.get(request["file"])
    index = int(request["index"])
    if index >= len(reader.tensors):
        raise Reject("no tensor of this number")
    if reader.tensors[index].n_bytes > protocol.MAX_LOAD:
        raise NotRun("more than 1 GiB of tensor data is not copied")
    data = reader.tensors[index].data.tobytes()
    if "out" in request:
        write_result(request, "data", data)
    return {"size": str(len(data)), "crc32": zlib.crc32(data)}


def rows_of(request, dtype, row_items):
    data = numpy.frombuffer(read_buffer(request["x"]), dtype)
    return data.reshape(int(request.get("rows", 1)), row_items)


def quantize(request):
    x = rows_of(request, "<f4", int(request["n"]))
    y = attempt(gguf.quants.quantize, x, gguf.GGMLQuantizationType.Q8_0)
    return write_result(request, "y", y.tobytes())


def dequantize(request):
    n = int(request["n"])
    if n % 32 != 0:
        raise NotRun("its rows are whole blocks; it is told no length")
    x = rows_of(request, "u1", n // 32 * 34)
    y = attempt(gguf.quants.dequantize, x, gguf.GGMLQuantizationType.Q8_0)
    return write_result(request, "y", y.astype("<f4").tobytes())


def write(request):
    kv, tensors = protocol.write_contents(request)
    values = {key: value for key, _, value in kv}
    writer = attempt(gguf.GGUFWriter, request["out"],
                     values["general.architecture"])
    for key, kind, value in kv:
        if key == "general.architecture":
            continue  # the constructor's
        if key == "general.alignment":
            attempt(writer.add_custom_alignment, value)
        elif isinstance(kind, tuple):
            attempt(writer.add_key_value, key, value, VALUE_TYPES["array"],
                    sub_type=VALUE_TYPES[kind[1]])
        else:
            attempt(writer.add_key_value, key, value, VALUE_TYPES[kind])
    for name, dims, kind, data in tensors:
        kind = gguf.GGMLQuantizationType(kind)
        shape = tuple(reversed(dims))
        if kind in PLAIN:
            array = numpy.frombuffer(data, PLAIN[kind]).reshape(shape)
            attempt(writer.add_tensor, name, array)
            continue
        array = numpy.frombuffer(data, "u1").reshape(*shape[:-1], -1)
        attempt(writer.add_tensor, name, array, raw_dtype=kind)
    attempt(writer.write_header_to_file)
    attempt(writer.write_kv_data_to_file)
    attempt(writer.write_tensors_to_file)
    attempt(writer.close)
    return {}


protocol.serve(
    {"gguf.parse": parse, "gguf.tensor": tensor, "gguf.write": write,
     "q8_0.quantize": quantize, "q8_0.dequantize": dequantize},
    name="gguf-py", version=importlib.metadata.version("gguf"),
    language="Python",
    dump=("version", "endian", "alignment", "data_offset", "kv", "tensors",
          "size", "order"))
