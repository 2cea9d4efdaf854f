//! Drives the crate gguf-rs: get_gguf_container(path)?.decode()?. It turns
//! values into untyped JSON and sorts the keys, so types and order are lost.
use gguf_rs::{get_gguf_container, GGUFModel, Tensor};
use weightproof_driver::*;

fn value(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let values: Option<Vec<_>> =
                reported(items.len(), 1).then(|| items.iter().map(self::value).collect());
            json!({"elem": null, "len": decimal(items.len()), "items": values})
        }
        // What the crate makes of a NaN: a value, and not the one of the file.
        Value::Null => json!({"json": null}),
        Value::String(v) => text(v),
        other => other.clone(),
    }
}

fn dump(model: &GGUFModel) -> Value {
    let version = model.get_version();
    let entry = |(key, v): (&String, &Value)| json!({"key": key, "type": null, "value": value(v)});
    let tensor = |t: &Tensor| {
        json!({"name": t.name, "dims": decimals(&t.shape), "type": t.kind,
               "offset": decimal(t.offset), "size": decimal(t.size)})
    };
    let kv: Value = model.metadata().iter().map(entry).collect();
    let tensors: Value = model.tensors().iter().map(tensor).collect();
    json!({"version": version.trim_start_matches('v').parse::<u32>().ok(), "endian": null,
           "alignment": model.alignment(), "data_offset": decimal(model.data_offset()),
           "file_size": null, "kv": kv, "tensors": tensors, "policies": null, "ordered": false})
}

fn main() {
    let hello = json!({"protocol": 1, "name": "gguf-rs", "version": "0.1.8", "language": "Rust",
        "operations": ["gguf.parse"], "verdicts": ["accept", "reject"],
        "dump": ["version", "alignment", "data_offset", "kv", "tensors", "size"],
        "variants": [], "profile": null});
    serve(hello, |_, request| {
        unanswerable(request).unwrap_or_else(|| {
            get_gguf_container(path(request))
                .and_then(|mut container| container.decode())
                .map_or_else(reject, |model| accept(dump(&model)))
        })
    });
}
