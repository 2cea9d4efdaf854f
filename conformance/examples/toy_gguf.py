"""A complete Weightproof driver: a toy GGUF reader with one planted bug."""
import json, struct, sys  # noqa: E401

FORMS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<I", 7: "<B", 10: "<Q", 11: "<q", 12: "<Q"}
NAMES = "u8 i8 u16 i16 u32 i32 f32 bool string array u64 i64 f64".split()
SHOWN = {6: "0x{:08x}".format, 7: bool, 10: str, 11: str, 12: "0x{:016x}".format}

Reject = type("Reject", (Exception,), {})  # the text says why

class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        if n > len(self.data) - self.at:
            raise Reject("the file ends too early")
        self.at += n
        return self.data[self.at - n:self.at]
    def number(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def string(self):
        raw = self.take(self.number("<Q"))
        try:
            return raw.decode()
        except UnicodeDecodeError:
            return {"hex": raw.hex()}

    def value(self, kind):
        if kind == 8:
            return self.string()
        if kind == 9:
            elem, count = self.number("<I"), self.number("<Q")
            if count and elem not in FORMS and elem != 8:  # planted: an empty array may claim any type
                raise Reject("unknown element type")
            items = [self.value(elem) for _ in range(count)]
            return {"elem": NAMES[elem] if elem < 13 else None, "len": str(count), "items": items}
        if kind not in FORMS:
            raise Reject("unknown value type")
        return SHOWN.get(kind, int)(self.number(FORMS[kind]))

def parse(path):
    with open(path, "rb") as file:
        reader = Reader(file.read())
    if reader.take(4) != b"GGUF" or reader.number("<I") != 3:
        raise Reject("not a GGUF file of version 3")
    tensors, pairs, kv = reader.number("<Q"), reader.number("<Q"), []
    for _ in range(pairs):
        key, kind = reader.string(), reader.number("<I")
        kv.append({"key": key, "type": NAMES[kind] if kind < 13 else None, "value": reader.value(kind)})
    return {"kv": kv, "tensors": None if tensors else []}

HELLO = {"protocol": 1, "name": "toy_gguf", "version": "1", "language": "Python", "operations": ["gguf.parse"],
         "verdicts": ["accept", "reject"], "dump": ["kv", "order"]}
for request in map(json.loads, sys.stdin):
    try:
        answer = HELLO if request["op"] == "hello" else {"verdict": "accept", "dump": parse(request["file"])}
    except Reject as why:
        answer = {"verdict": "reject", "detail": str(why)}
    print(json.dumps({"id": request["id"], "status": "ok", **answer}), flush=True)
