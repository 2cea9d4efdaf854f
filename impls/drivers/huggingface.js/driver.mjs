// @huggingface/gguf, the reader of huggingface.js. It reads metadata and
// tensor entries, never tensor data. First argument: where it is installed.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { readFileSync, writeFileSync, writeSync } from "node:fs";

const require = createRequire(`${process.argv[2]}/`);
const { gguf, serializeGgufMetadata } = require("@huggingface/gguf");
const { version } = JSON.parse(readFileSync(
  `${process.argv[2]}/node_modules/@huggingface/gguf/package.json`));

// Standard output is for answers alone.
for (const name of ["log", "info", "debug"]) console[name] = console.error;

const TYPES = ["u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string",
  "array", "u64", "i64", "f64"];
// The reader keeps these next to the keys of the file.
const PSEUDO_KEYS = ["version", "tensor_count", "kv_count"];

function floatBits(value, bytes) {
  if (Number.isNaN(value)) return "nan";
  const view = new DataView(new ArrayBuffer(8));
  if (bytes === 4) view.setFloat32(0, value);
  else view.setFloat64(0, value);
  const bits = bytes === 4 ? BigInt(view.getUint32(0)) : view.getBigUint64(0);
  return `0x${bits.toString(16).padStart(2 * bytes, "0")}`;
}

// elementType: the one the reader names for the outermost array; for inner
// arrays it names none.
function dumpValue(value, type, elementType) {
  if (type === "array") {
    return {
      elem: elementType ?? null,
      len: String(value.length),
      items: value.map((item) => Array.isArray(item)
        ? dumpValue(item, "array", undefined)
        : dumpValue(item, elementType)),
    };
  }
  if (typeof value === "bigint") return value.toString();
  if (type === "f32") return floatBits(value, 4);
  if (type === "f64") return floatBits(value, 8);
  return value;
}

function dumpFile(read) {
  // Releases before typed metadata show values without their types.
  if (!read.typedMetadata) {
    return { version: read.metadata.version, endian: null, alignment: null,
      data_offset: null, file_size: null, kv: null, tensors: null,
      policies: null };
  }
  const kv = Object.entries(read.typedMetadata)
    .filter(([key]) => !PSEUDO_KEYS.includes(key))
    .map(([key, { value, type, subType }]) => ({
      key,
      type: TYPES[type],
      value: dumpValue(value, TYPES[type], TYPES[subType]),
    }));
  return {
    version: read.typedMetadata.version.value,
    endian: read.littleEndian === undefined ? null
      : read.littleEndian ? "little" : "big",
    alignment: null,
    data_offset: read.tensorDataOffset === undefined ? null
      : String(read.tensorDataOffset),
    file_size: null,
    kv,
    tensors: read.tensorInfos.map((tensor) => ({
      name: tensor.name,
      dims: tensor.shape.map(String),
      type: tensor.dtype,
      offset: String(tensor.offset),
      size: null,
    })),
    policies: null,
  };
}

const HELLO = {
  protocol: 1, name: "huggingface.js", version, language: "TypeScript",
  operations: serializeGgufMetadata ? ["gguf.parse", "gguf.write"]
    : ["gguf.parse"], verdicts: ["accept", "reject"],
  dump: ["version", "endian", "data_offset", "kv", "tensors", "order"],
  variants: [], profile: null,
  caps: { string: 1e7, array: 1e6, kv: 1e5, tensors: 1e7, nesting: 4,
    n_dims: 8, dim: 2 ** 32 },
};

function parseValue(value, type) {
  if (type === "array") {
    return value.items.map((item) => parseValue(item, value.elem));
  }
  if (type === "u64" || type === "i64") return BigInt(value);
  if (type !== "f32" && type !== "f64") return value;
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(value) << (type === "f32" ? 32n : 0n));
  return type === "f32" ? view.getFloat32(0) : view.getFloat64(0);
}

// It writes the metadata of a file, and no tensors.
function write(request) {
  if (request.dump.tensors.length > 0) {
    return { status: "not-run", why: "it writes no tensors" };
  }
  const u32 = TYPES.indexOf("u32"), u64 = TYPES.indexOf("u64");
  const metadata = {
    version: { value: 3, type: u32 },
    tensor_count: { value: 0n, type: u64 },
    kv_count: { value: BigInt(request.dump.kv.length), type: u64 },
  };
  for (const { key, type, value } of request.dump.kv) {
    metadata[key] = { value: parseValue(value, type),
      type: TYPES.indexOf(type) };
    if (type === "array") metadata[key].subType = TYPES.indexOf(value.elem);
  }
  try {
    writeFileSync(request.out, serializeGgufMetadata(metadata,
      { alignment: request.dump.alignment ?? 32 }));
  } catch (error) {
    return { status: "ok", verdict: "reject", detail: String(error) };
  }
  return { status: "ok", verdict: "accept" };
}

async function answer(request) {
  if (request.op === "hello") return HELLO;
  if (request.op === "gguf.write") return write(request);
  if (request.op !== "gguf.parse") return { status: "not-implemented" };
  if (Number(request.base ?? 0) !== 0) {
    return { status: "not-run", why: "reads files from their start" };
  }
  let read;
  try {
    read = await gguf(request.file,
      { allowLocalFile: true, typedMetadata: true });
  } catch (error) {
    return { status: "ok", verdict: "reject", detail: String(error) };
  }
  return { status: "ok", verdict: "accept", dump: dumpFile(read) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const text = JSON.stringify({ id: request.id, ...await answer(request) });
  const bytes = Buffer.from(`${text}\n`);
  for (let at = 0; at < bytes.length;) at += writeSync(1, bytes, at);
}
