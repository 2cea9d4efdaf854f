//! Drives candle: quantized::gguf_file for files, QTensor and QMatMul for Q8_0.
//! candle keeps keys and tensors in hash maps, so their order is lost: keys are
//! sorted, tensors are numbered by data offset and name.
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::time::Instant;

use candle_core::quantized::gguf_file::{Content, TensorInfo, Value as Gguf, VersionedMagic};
use candle_core::quantized::k_quants::{BlockQ8_0, GgmlType};
use candle_core::quantized::{GgmlDType, QMatMul, QStorage, QTensor};
use candle_core::{Device, Module, Result, Tensor};
use weightproof_driver::*;

fn name(value: &Gguf) -> &'static str {
    match value {
        Gguf::U8(_) => "u8",
        Gguf::I8(_) => "i8",
        Gguf::U16(_) => "u16",
        Gguf::I16(_) => "i16",
        Gguf::U32(_) => "u32",
        Gguf::I32(_) => "i32",
        Gguf::U64(_) => "u64",
        Gguf::I64(_) => "i64",
        Gguf::F32(_) => "f32",
        Gguf::F64(_) => "f64",
        Gguf::Bool(_) => "bool",
        Gguf::String(_) => "string",
        Gguf::Array(_) => "array",
    }
}

/// The element type of an array is that of its first element, if it has one.
fn value(value: &Gguf) -> Value {
    match value {
        Gguf::U8(v) => json!(v),
        Gguf::I8(v) => json!(v),
        Gguf::U16(v) => json!(v),
        Gguf::I16(v) => json!(v),
        Gguf::U32(v) => json!(v),
        Gguf::I32(v) => json!(v),
        Gguf::U64(v) => decimal(v),
        Gguf::I64(v) => decimal(v),
        Gguf::F32(v) => f32_bits(*v),
        Gguf::F64(v) => f64_bits(*v),
        Gguf::Bool(v) => json!(v),
        Gguf::String(v) => text(v),
        Gguf::Array(v) => {
            let items: Option<Vec<_>> =
                reported(v.len(), 1).then(|| v.iter().map(self::value).collect());
            json!({"elem": v.first().map(name), "len": decimal(v.len()), "items": items})
        }
    }
}

fn type_id(dtype: GgmlDType) -> u32 {
    use GgmlDType::*;
    match dtype {
        F32 => 0,
        F16 => 1,
        Q4_0 => 2,
        Q4_1 => 3,
        Q5_0 => 6,
        Q5_1 => 7,
        Q8_0 => 8,
        Q8_1 => 9,
        Q2K => 10,
        Q3K => 11,
        Q4K => 12,
        Q5K => 13,
        Q6K => 14,
        Q8K => 15,
        BF16 => 30,
    }
}

fn sorted(content: &Content) -> Vec<(&String, &TensorInfo)> {
    let mut tensors: Vec<_> = content.tensor_infos.iter().collect();
    tensors.sort_by_key(|(name, info)| (info.offset, *name));
    tensors
}

fn dump(content: &Content) -> Value {
    let version = match content.magic {
        VersionedMagic::GgufV1 => 1,
        VersionedMagic::GgufV2 => 2,
        VersionedMagic::GgufV3 => 3,
    };
    let entry =
        |(key, v): (&String, &Gguf)| json!({"key": key, "type": name(v), "value": value(v)});
    let tensor = |(name, info): (&String, &TensorInfo)| {
        let dims: Value = info.shape.dims().iter().rev().map(decimal).collect();
        json!({"name": name, "dims": dims, "type": type_id(info.ggml_dtype),
               "offset": decimal(info.offset), "size": null})
    };
    let metadata: BTreeMap<_, _> = content.metadata.iter().collect();
    let kv: Value = metadata.into_iter().map(entry).collect();
    let tensors: Value = sorted(content).into_iter().map(tensor).collect();
    json!({"version": version, "endian": null, "alignment": null,
           "data_offset": decimal(content.tensor_data_offset), "file_size": null,
           "kv": kv, "tensors": tensors, "policies": null, "ordered": false})
}

fn open(request: &Value) -> Result<(BufReader<File>, Content)> {
    let mut reader = BufReader::new(File::open(path(request))?);
    reader.seek(SeekFrom::Start(integer(&request["base"]).unwrap_or(0)))?;
    let content = Content::read(&mut reader)?;
    Ok((reader, content))
}

fn tensor_bytes(request: &Value) -> Result<Vec<u8>> {
    let (mut reader, content) = open(request)?;
    let index = integer(&request["index"]).expect("an index") as usize;
    let name = sorted(&content)[index].0;
    Ok(content
        .tensor(&mut reader, name, &Device::Cpu)?
        .data()?
        .into_owned())
}

fn quantized(bytes: &[u8], rows: usize, n: usize) -> Result<QTensor> {
    let storage = QStorage::from_data(Cow::Borrowed(bytes), &Device::Cpu, GgmlDType::Q8_0)?;
    QTensor::new(storage, (rows, n))
}

fn blocks(bytes: &[u8]) -> Vec<BlockQ8_0> {
    let mut blocks = vec![BlockQ8_0::zeros(); bytes.len() / std::mem::size_of::<BlockQ8_0>()];
    let target = blocks.as_mut_ptr().cast::<u8>();
    // The block is repr(C): an f16 and 32 int8.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, std::mem::size_of_val(&blocks[..]))
    };
    blocks
}

fn numeric(operation: &str, request: &Value) -> Result<Value> {
    let size = |name: &str| integer(&request[name]).unwrap_or(1) as usize;
    let (n, rows, cols) = (size("n"), size("rows"), size("cols"));
    let x = buffer(&request["x"]);
    let y = match operation {
        "q8_0.quantize" => {
            let x = Tensor::from_vec(floats(&x), (rows, n), &Device::Cpu)?;
            QTensor::quantize(&x, GgmlDType::Q8_0)?.data()?.into_owned()
        }
        "q8_0.dequantize" => {
            let y = quantized(&x, rows, n)?.dequantize(&Device::Cpu)?;
            float_bytes(&y.flatten_all()?.to_vec1()?)
        }
        "q8_0.dot" => {
            let w = blocks(&buffer(&request["w"]));
            float_bytes(&[BlockQ8_0::vec_dot(n, &w, &blocks(&x))])
        }
        _ if request["x_type"] == "q8_0" => return Ok(not_run("QMatMul takes f32 activations")),
        _ => {
            let w = QMatMul::from_qtensor(quantized(&buffer(&request["w"]), rows, n)?)?;
            let x = Tensor::from_vec(floats(&x), (cols, n), &Device::Cpu)?;
            float_bytes(&w.forward(&x)?.flatten_all()?.to_vec1()?)
        }
    };
    Ok(numbers(request, &y))
}

fn metadata(ty: &str, v: &Value) -> Gguf {
    let bits = || write::bits(v);
    match ty {
        "u8" => Gguf::U8(bits() as u8),
        "i8" => Gguf::I8(bits() as i8),
        "u16" => Gguf::U16(bits() as u16),
        "i16" => Gguf::I16(bits() as i16),
        "u32" => Gguf::U32(bits() as u32),
        "i32" => Gguf::I32(bits() as i32),
        "u64" => Gguf::U64(bits()),
        "i64" => Gguf::I64(bits() as i64),
        "f32" => Gguf::F32(f32::from_bits(bits() as u32)),
        "f64" => Gguf::F64(f64::from_bits(bits())),
        "bool" => Gguf::Bool(bits() != 0),
        "string" => Gguf::String(v.as_str().expect("a string").to_string()),
        _ => {
            let elem = v["elem"].as_str().expect("an element type");
            let items = v["items"].as_array().expect("items");
            Gguf::Array(items.iter().map(|item| metadata(elem, item)).collect())
        }
    }
}

fn write_file(request: &Value) -> Result<Value> {
    let kv = write::new_kv(request);
    let values: Vec<_> = kv.iter().map(|(_, ty, v)| metadata(ty, v)).collect();
    let entries: Vec<_> = kv.iter().map(|(key, _, _)| *key).zip(&values).collect();
    let new = write::new_tensors(request);
    let mut tensors = Vec::new();
    for t in &new {
        use GgmlDType::*;
        let types = [F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2K, Q3K, Q4K, Q5K, Q6K, Q8K];
        let Some(dtype) = types.into_iter().find(|&dtype| type_id(dtype) == t.ty) else {
            return Ok(not_run("it has no such tensor type"));
        };
        let storage = QStorage::from_data(Cow::Borrowed(&t.data), &Device::Cpu, dtype)?;
        let shape: Vec<_> = t.dims.iter().rev().map(|&dim| dim as usize).collect();
        tensors.push(QTensor::new(storage, shape)?);
    }
    let named: Vec<_> = new.iter().map(|t| t.name.as_str()).zip(&tensors).collect();
    let mut out = File::create(request["out"].as_str().expect("out"))?;
    candle_core::quantized::gguf_file::write(&mut out, &entries, &named)?;
    Ok(json!({"status": "ok", "verdict": "accept"}))
}

/// A reader that counts what is asked of it.
struct Counting<R> {
    inner: R,
    reads: u64,
    seeks: u64,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.reads += 1;
        self.inner.read(buffer)
    }
}

impl<R: Seek> Seek for Counting<R> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.seeks += 1;
        self.inner.seek(to)
    }
}

/// How often candle's reader of headers reads and seeks, and the least time of
/// five.
fn header(path: &str) -> Result<Value> {
    let mut least = f64::INFINITY;
    let mut counted = (0, 0, 0, 0);
    for _ in 0..5 {
        let inner = BufReader::new(File::open(path)?);
        let mut reader = Counting { inner, reads: 0, seeks: 0 };
        let start = Instant::now();
        let content = Content::read(&mut reader)?;
        least = least.min(start.elapsed().as_secs_f64());
        let (keys, tensors) = (content.metadata.len(), content.tensor_infos.len());
        counted = (reader.reads, reader.seeks, keys, tensors);
    }
    let (reads, seeks, keys, tensors) = counted;
    Ok(json!({"reads": reads, "seeks": seeks, "keys": keys, "tensors": tensors,
              "seconds": least}))
}

/// Answers requests; or, called as `driver header FILE`, measures the reader
/// (see article.py).
fn main() {
    let words: Vec<String> = std::env::args().collect();
    if words.len() == 3 && words[1] == "header" {
        println!("{}", header(&words[2]).unwrap_or_else(reject));
        return;
    }
    let hello = json!({"protocol": 1, "name": "candle", "version": env!("CARGO_PKG_VERSION"),
        "language": "Rust",
        "operations": ["gguf.parse", "gguf.tensor", "gguf.write", "q8_0.quantize", "q8_0.dequantize", "q8_0.dot",
                       "q8_0.matvec"],
        "verdicts": ["accept", "reject"], "dump": ["version", "data_offset", "kv", "tensors"],
        "variants": [], "profile": "candle"});
    serve(hello, |operation, request| match operation {
        "gguf.parse" if request["require_keys"] == true => {
            not_run("has no check for required keys")
        }
        "gguf.parse" => open(request).map_or_else(reject, |(_, content)| accept(dump(&content))),
        "gguf.tensor" => tensor_bytes(request).map_or_else(reject, |bytes| tensor(request, &bytes)),
        "gguf.write" => write_file(request).unwrap_or_else(reject),
        _ => numeric(operation, request).unwrap_or_else(reject),
    });
}
