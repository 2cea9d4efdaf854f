//! Drives the crate gguf: GGUFFile::read over the mapped file. Its answer None
//! means that the bytes end before the file does: a rejection.
use gguf::{GGUFFile, GGUFMetadata, GGUFMetadataValue as Gguf, GGUFTensorInfo};
use weightproof_driver::*;

fn value(value: &Gguf, level: usize) -> Value {
    match value {
        Gguf::Uint8(v) => json!(v),
        Gguf::Int8(v) => json!(v),
        Gguf::Uint16(v) => json!(v),
        Gguf::Int16(v) => json!(v),
        Gguf::Uint32(v) => json!(v),
        Gguf::Int32(v) => json!(v),
        Gguf::Uint64(v) => decimal(v),
        Gguf::Int64(v) => decimal(v),
        Gguf::Float32(v) => f32_bits(*v),
        Gguf::Float64(v) => f64_bits(*v),
        Gguf::Bool(v) => json!(v),
        Gguf::String(v) => text(v),
        Gguf::Array(v) => {
            let items: Option<Vec<_>> = reported(v.value.len(), level).then(|| {
                v.value
                    .iter()
                    .map(|item| self::value(item, level + 1))
                    .collect()
            });
            json!({"elem": type_name(v.value_type as u32), "len": decimal(v.len), "items": items})
        }
    }
}

fn dump(file: &GGUFFile) -> Value {
    let entry = |kv: &GGUFMetadata| json!({"key": kv.key, "type": type_name(kv.value_type as u32), "value": value(&kv.value, 1)});
    let tensor = |t: &GGUFTensorInfo| {
        json!({"name": t.name, "dims": decimals(&t.dimensions), "type": t.tensor_type as u32,
               "offset": decimal(t.offset), "size": null})
    };
    let kv: Value = file.header.metadata.iter().map(entry).collect();
    let tensors: Value = file.tensors.iter().map(tensor).collect();
    json!({"version": file.header.version, "endian": null, "alignment": null,
           "data_offset": null, "file_size": null, "kv": kv, "tensors": tensors,
           "policies": null})
}

fn parse(request: &Value) -> Value {
    let file = std::fs::File::open(path(request)).expect("the file");
    let map;
    let bytes: &[u8] = if file.metadata().expect("its size").len() == 0 {
        &[]
    } else {
        map = unsafe { memmap2::Mmap::map(&file) }.expect("a mapping");
        &map
    };
    match GGUFFile::read(bytes) {
        Ok(Some(file)) => accept(dump(&file)),
        Ok(None) => reject("incomplete"),
        Err(error) => reject(error),
    }
}

fn main() {
    let hello = json!({"protocol": 1, "name": "gguf-crate", "version": "0.1.2", "language": "Rust",
        "operations": ["gguf.parse"], "verdicts": ["accept", "reject"],
        "dump": ["version", "kv", "tensors", "order"], "variants": [], "profile": null});
    serve(hello, |_, request| {
        unanswerable(request).unwrap_or_else(|| parse(request))
    });
}
