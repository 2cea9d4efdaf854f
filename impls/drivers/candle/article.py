"""Redoes the experiments of an article about Q8_0 in candle, with our data.

    article.py BUILD_DIR [--check PAGE] [GGUF_FILE...]

Quantizes 4,096 random blocks and six special ones by candle and by a plain
translation of its code to Python, byte for byte; counts what changes if the
reciprocal is taken of the stored scale; compares dot products to the bit;
counts how often candle's reader of headers seeks. Prints the lines of
ARTICLE.md and, to standard error, times. --check: exit status 1 if the page
lacks a line. Exit status 77 (NOT RUN) if candle is not installed.
"""

import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import registry  # noqa: E402

BLOCKS = 4096


def f32(value):
    """The nearest f32."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def f16(value):
    """The bits of the nearest f16."""
    try:
        return struct.unpack("<H", struct.pack("<e", value))[0]
    except OverflowError:
        return 0xfc00 if value < 0 else 0x7c00


def f16_value(bits):
    return struct.unpack("<e", struct.pack("<H", bits))[0]


def draws(seed):
    """reference/q8_0/generator.h."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 33


def uniform(seed, count):
    random = draws(seed)
    return [((next(random) >> 7) - 2**23) * 2.0**-21 for _ in range(count)]


def special():
    inf = [math.inf if i == 3 else float(i) for i in range(32)]
    nan = [math.nan if i == 3 else float(i) for i in range(32)]
    return [("zeros", [0.0] * 32), ("tiny", [f32(f32(1e-9) * i) for i in range(32)]),
            ("huge", [f32(1e7 * i) for i in range(32)]), ("inf", inf),
            ("nan", nan), ("half", [127.0] + [i + 0.5 for i in range(1, 32)])]


def code(t):
    """Half away from zero, saturated; NaN is 0."""
    if math.isnan(t):
        return 0
    if math.isinf(t):
        return 127 if t > 0 else -128
    rounded = math.copysign(math.floor(abs(t) + 0.5), t)  # exact in binary64
    return max(-128, min(127, int(rounded)))


def quantize(x, stored):
    """One block; stored: the reciprocal of the stored scale, not of d."""
    amax = max((abs(v) for v in x if not math.isnan(v)), default=0.0)
    d = f32(amax / 127)
    scale = f16(d)
    of = f16_value(scale) if stored else d
    reciprocal = 0.0 if of == 0 else f32(1 / of)
    codes = [code(f32(v * reciprocal)) for v in x]
    return struct.pack("<H32b", scale, *codes)


def dequantize(block):
    scale = f16_value(struct.unpack("<H", block[:2])[0])
    return [c * scale for c in struct.unpack("<32b", block[2:])]


def mean_squared_error(blocks, x):
    total = 0.0
    for b, block in enumerate(blocks):
        total += sum((v - w)**2
                     for v, w in zip(dequantize(block), x[32 * b:32 * b + 32]))
    return total / len(x)


def dot(w, x):
    """Block after block, each sum times one scale and then the other."""
    total = 0.0
    for a, b in zip(w, x):
        p, q = struct.unpack("<e32b", a), struct.unpack("<e32b", b)
        isum = sum(u * v for u, v in zip(p[1:], q[1:]))
        total = f32(total + f32(f32(isum * p[0]) * q[0]))
    return total


def published(w, x):
    """reference/q8_0/SPEC.md: 32 lanes, one tree."""
    lanes = [0.0] * 32
    for i, (a, b) in enumerate(zip(w, x)):
        p, q = struct.unpack("<e32b", a), struct.unpack("<e32b", b)
        isum = sum(u * v for u, v in zip(p[1:], q[1:]))
        lanes[i % 32] = f32(lanes[i % 32] + f32(p[0] * q[0] * isum))
    for half in (16, 8, 4, 2, 1):
        for i in range(half):
            lanes[i] = f32(lanes[i] + lanes[i + half])
    return lanes[0]


def split(data, size):
    return [data[i:i + size] for i in range(0, len(data), size)]


class Candle:
    def __init__(self, driver, scratch):
        self.driver, self.scratch = driver, scratch

    def ask(self, **request):
        buffers = {}
        for name, value in request.items():
            if isinstance(value, bytes):
                file = self.scratch / name
                file.write_bytes(value)
                buffers[name] = {"file": str(file), "offset": 0, "bytes": len(value)}
        line = json.dumps({"id": 1, **request, **buffers}, default=str)
        done = subprocess.run([self.driver], input=line + "\n", text=True,
                              capture_output=True, check=True, timeout=120)
        answer = json.loads(done.stdout)
        assert answer.get("verdict") == "accept", answer
        return bytes.fromhex(answer["y"]["hex"])

    def header(self, file):
        done = subprocess.run([self.driver, "header", file], text=True,
                              capture_output=True, check=True, timeout=300)
        return json.loads(done.stdout)


def quantizing(candle):
    x = uniform(1, 32 * BLOCKS)
    blocks = x + [v for _, block in special() for v in block]
    image = struct.pack(f"<{len(blocks)}f", *blocks)
    theirs = split(candle.ask(op="q8_0.quantize", x=image, n=32,
                              rows=len(blocks) // 32), 34)
    groups = split(blocks, 32)
    ours = [quantize(group, False) for group in groups]
    stored = [quantize(group, True) for group in groups]
    differ = sum(a != b for a, b in zip(b"".join(ours), b"".join(theirs)))
    yield (f"{len(blocks)} values, {len(theirs)} blocks, "
           f"{sum(map(len, theirs))} bytes: {differ} bytes differ")
    for (name, _), block in zip(special(), theirs[BLOCKS:]):
        d = struct.unpack("<H", block[:2])[0]
        codes = struct.unpack("<5b", block[2:7])
        yield f"block {name}: scale {d:04x}, codes {list(codes)} ..."
    changed = [sum(a != b for a, b in zip(p, q)) for p, q in zip(stored, theirs)]
    yield (f"reciprocal of the stored scale: {sum(changed)} bytes change, "
           f"{sum(changed[:BLOCKS])} of them in "
           f"{sum(c > 0 for c in changed[:BLOCKS])} random blocks")
    yield (f"mean squared error of the random blocks: "
           f"{mean_squared_error(theirs[:BLOCKS], x):.4e}, with the stored scale "
           f"{mean_squared_error(stored[:BLOCKS], x):.4e}")


def dots(candle):
    equal = near = 0
    for seed in range(100, 200):
        values = uniform(seed, 8192)
        w, x = ([quantize(g, False) for g in split(part, 32)]
                for part in (values[:4096], values[4096:]))
        y = candle.ask(op="q8_0.dot", w=b"".join(w), x=b"".join(x), n=4096)
        equal += y == struct.pack("<f", dot(w, x))
        near += y == struct.pack("<f", published(w, x))
    yield (f"dot products of 4096 values: {equal} of 100 equal to the scalar code "
           f"to the bit, {near} to the published order")


def text(value):
    return struct.pack("<Q", len(value)) + value


def shaped_header(file):
    """37 keys, 98,052 strings, 272 tensors: as SmolLM2's."""
    kv = b""
    for i in range(33):
        kv += text(b"llama.parameter_%d" % i) + struct.pack("<II", 4, i)
    kv += text(b"tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 49152)
    kv += b"".join(text(b"token%d" % i) for i in range(49152))
    kv += text(b"tokenizer.ggml.merges") + struct.pack("<IIQ", 9, 8, 48900)
    kv += b"".join(text(b"a%d b" % i) for i in range(48900))
    kv += text(b"tokenizer.ggml.token_type") + struct.pack("<IIQ", 9, 5, 49152)
    kv += bytes(4 * 49152)
    kv += text(b"general.name") + struct.pack("<I", 8) + text(b"shaped")
    tensors = b"".join(text(b"blk.%d" % i) + struct.pack("<IQIQ", 1, 32, 8, 64 * i)
                       for i in range(272))
    head = b"GGUF" + struct.pack("<IQQ", 3, 272, 37) + kv + tensors
    file.write_bytes(head + bytes(-len(head) % 32 + 64 * 272))


def headers(candle, scratch, files):
    shaped = scratch / "shaped.gguf"
    shaped_header(shaped)
    for name, file in [("SmolLM2-shaped", shaped), *((f.name, f) for f in files)]:
        found = candle.header(file)
        yield (f"header {name}: {found['keys']} keys, {found['tensors']} tensors, "
               f"{found['seeks']} seeks, {found['reads']} reads")
        print(f"header {name}: {1000 * found['seconds']:.1f} ms", file=sys.stderr)


def main():
    words = sys.argv[1:]
    build, words = pathlib.Path(words[0]), words[1:]
    page = None
    if words[:1] == ["--check"]:
        page, words = pathlib.Path(words[1]).read_text(), words[2:]
    folder = registry.Folder("candle", build)
    if folder.why_not() is not None:
        print(f"NOT RUN: candle: {folder.why_not()}")
        return 77
    driver = folder.installed / "driver"
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        candle = Candle(driver, scratch)
        lines = [*quantizing(candle), *dots(candle),
                 *headers(candle, scratch, map(pathlib.Path, words))]
    missing = 0
    for line in lines:
        print(line)
        if page is not None and f"    {line}\n" not in page:
            print(f"not in the page: {line}")
            missing = 1
    return missing


if __name__ == "__main__":
    sys.exit(main())
