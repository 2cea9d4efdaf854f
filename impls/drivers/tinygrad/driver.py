"""tinygrad's own GGUF loader, tinygrad.llm.gguf.gguf_load.

It returns untyped Python values and decoded tensors: value types, tensor
types, offsets and the version are lost.
"""

import importlib.metadata
import os
import pathlib
import sys

from tinygrad.llm.gguf import gguf_load

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import protocol  # noqa: E402
from protocol import NotRun, attempt, untyped  # noqa: E402

MAX_FILE_BYTES = 1 << 30


def parse(request):
    if os.path.getsize(request["file"]) > MAX_FILE_BYTES:
        raise NotRun("tinygrad copies the whole file into memory")
    kv, tensors = attempt(gguf_load, pathlib.Path(request["file"]))
    return {"dump": {
        "version": None, "endian": None, "alignment": None,
        "data_offset": None, "file_size": None,
        "kv": [{"key": key, "type": None, "value": untyped(value)}
               for key, value in kv.items()],
        "tensors": [{"name": name, "dims": [str(d) for d in t.shape[::-1]],
                     "type": None, "offset": None, "size": None}
                    for name, t in tensors.items()],
        "policies": None}}


protocol.serve({"gguf.parse": parse}, name="tinygrad",
               version=importlib.metadata.version("tinygrad"),
               language="Python", dump=("kv", "tensors", "order"))
