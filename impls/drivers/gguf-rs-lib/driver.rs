//! Drives the crate gguf-rs-lib: GGUFFileReader. It keeps keys in a hash map,
//! so their order is lost and they are sorted; tensors stay in file order.
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;

use gguf_rs_lib::format::metadata::MetadataValue as Gguf;
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

fn main() {
    let hello = json!({"protocol": 1, "name": "gguf-rs-lib", "version": "0.3.3",
        "language": "Rust", "operations": ["gguf.parse", "gguf.tensor"],
        "verdicts": ["accept", "reject"],
        "dump": ["version", "alignment", "data_offset", "kv", "tensors", "size"],
        "variants": [], "profile": null});
    serve(hello, |operation, request| match operation {
        "gguf.tensor" => data(request).unwrap_or_else(reject),
        _ => unanswerable(request)
            .unwrap_or_else(|| open(request).map_or_else(reject, |reader| accept(dump(&reader)))),
    });
}
