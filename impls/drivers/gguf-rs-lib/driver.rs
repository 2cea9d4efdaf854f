//! Drives the crate gguf-rs-lib: GGUFFileReader. It keeps keys in a hash map,
//! so their order is lost and they are sorted; tensors stay in file order.
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;

use gguf_rs_lib::builder::GGUFBuilder;
use gguf_rs_lib::format::metadata::{MetadataArray, MetadataValue as Gguf};
use gguf_rs_lib::format::types::{GGUFTensorType, GGUFValueType};
use gguf_rs_lib::reader::file_reader::GGUFFileReader;
use gguf_rs_lib::tensor::info::TensorInfo;
use gguf_rs_lib::Result;
use weightproof_driver::*;

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
                reported(v.values.len(), 1).then(|| v.values.iter().map(self::value).collect());
            json!({"elem": type_name(v.element_type as u32), "len": decimal(v.length),
                   "items": items})
        }
    }
}

fn dump(reader: &GGUFFileReader<BufReader<File>>) -> Value {
    let entry = |(key, v): (&String, &Gguf)| json!({"key": key, "type": type_name(v.value_type() as u32), "value": value(v)});
    let tensor = |t: &TensorInfo| {
        json!({"name": t.name(), "dims": decimals(t.shape().dims()), "type": t.tensor_type() as u32,
               "offset": decimal(t.data_offset()), "size": decimal(t.expected_data_size())})
    };
    let metadata: BTreeMap<_, _> = reader.metadata().iter().collect();
    let kv: Value = metadata.into_iter().map(entry).collect();
    let tensors: Value = reader.tensor_infos().iter().map(tensor).collect();
    json!({"version": reader.header().version, "endian": null,
           "alignment": reader.tensor_alignment(),
           "data_offset": decimal(reader.tensor_data_offset()), "file_size": null,
           "kv": kv, "tensors": tensors, "policies": null, "ordered": false})
}

fn open(request: &Value) -> Result<GGUFFileReader<BufReader<File>>> {
    GGUFFileReader::new(BufReader::new(File::open(path(request))?))
}

fn data(request: &Value) -> Result<Value> {
    let mut reader = open(request)?;
    let index = integer(&request["index"]).expect("an index") as usize;
    let name = reader.tensor_infos()[index].name().to_string();
    let data = reader
        .load_tensor_data(&name)?
        .expect("a tensor just named");
    Ok(tensor(request, data.as_slice()))
}

fn metadata(ty: &str, v: &Value) -> Result<Gguf> {
    let bits = || write::bits(v);
    Ok(match ty {
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
            let items: Result<_> = items.iter().map(|item| metadata(elem, item)).collect();
            let elem = GGUFValueType::from_u32(write::type_number(elem))?;
            Gguf::Array(Box::new(MetadataArray::new(elem, items?)?))
        }
    })
}

fn write_file(request: &Value) -> Result<Value> {
    let mut builder = GGUFBuilder::new();
    if let Some(alignment) = integer(&request["dump"]["alignment"]) {
        builder = builder.with_tensor_alignment(alignment as usize);
    }
    for (key, ty, v) in write::new_kv(request) {
        builder = builder.add_metadata(key, metadata(ty, v)?);
    }
    for t in write::new_tensors(request) {
        let ty = GGUFTensorType::from_u32(t.ty)?;
        builder = builder.add_tensor(t.name, t.dims, ty, t.data)?;
    }
    builder.build_to_file(request["out"].as_str().expect("out"))?;
    Ok(json!({"status": "ok", "verdict": "accept"}))
}

fn main() {
    let hello = json!({"protocol": 1, "name": "gguf-rs-lib", "version": "0.3.3",
        "language": "Rust", "operations": ["gguf.parse", "gguf.tensor", "gguf.write"],
        "verdicts": ["accept", "reject"],
        "dump": ["version", "alignment", "data_offset", "kv", "tensors", "size"],
        "variants": [], "profile": null});
    serve(hello, |operation, request| match operation {
        "gguf.tensor" => data(request).unwrap_or_else(reject),
        "gguf.write" => write_file(request).unwrap_or_else(reject),
        _ => unanswerable(request)
            .unwrap_or_else(|| open(request).map_or_else(reject, |reader| accept(dump(&reader)))),
    });
}
