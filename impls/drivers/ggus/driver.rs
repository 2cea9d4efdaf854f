//! Drives the crate ggus: GGuf::new over the mapped file, values through its
//! own typed reader.
use ggus::{GGmlType, GGuf, GGufFileHeader, GGufFileWriter, GGufMetaDataValueType as Type, GGufReadError, GGufReader, GGufTensorMeta};
use weightproof_driver::*;

fn value(reader: &mut GGufReader, ty: Type, level: usize) -> Result<Value, GGufReadError> {
    Ok(match ty {
        Type::U8 => json!(reader.read::<u8>()?),
        Type::I8 => json!(reader.read::<i8>()?),
        Type::U16 => json!(reader.read::<u16>()?),
        Type::I16 => json!(reader.read::<i16>()?),
        Type::U32 => json!(reader.read::<u32>()?),
        Type::I32 => json!(reader.read::<i32>()?),
        Type::U64 => decimal(reader.read::<u64>()?),
        Type::I64 => decimal(reader.read::<i64>()?),
        Type::F32 => f32_bits(reader.read()?),
        Type::F64 => f64_bits(reader.read()?),
        Type::Bool => json!(reader.read_bool()?),
        Type::String => text(reader.read_str()?),
        Type::Array => {
            let (elem, len) = reader.read_arr_header()?;
            let items: Option<Result<Vec<_>, _>> = reported(len, level)
                .then(|| (0..len).map(|_| value(reader, elem, level + 1)).collect());
            json!({"elem": type_name(elem as u32), "len": decimal(len), "items": items.transpose()?})
        }
    })
}

fn dump(gguf: &GGuf, file: &[u8]) -> Result<Value, GGufReadError> {
    let mut kv = Vec::new();
    for (key, entry) in &gguf.meta_kvs {
        let value = value(&mut entry.value_reader(), entry.ty(), 1)?;
        kv.push(json!({"key": key, "type": type_name(entry.ty() as u32), "value": value}));
    }
    let tensor = |(name, meta): (&&str, &GGufTensorMeta)| {
        let info = meta.to_info();
        json!({"name": name, "dims": decimals(info.shape()), "type": info.ty() as u32,
               "offset": decimal(info.offset()), "size": decimal(info.nbytes())})
    };
    let tensors: Value = gguf.tensors.iter().map(tensor).collect();
    let data_offset = gguf.data.as_ptr() as usize - file.as_ptr() as usize;
    Ok(
        json!({"version": gguf.header.version, "endian": null, "alignment": gguf.alignment,
              "data_offset": decimal(data_offset), "file_size": null, "kv": kv,
              "tensors": tensors, "policies": null}),
    )
}

fn answer(operation: &str, request: &Value) -> Value {
    let file = std::fs::File::open(path(request)).expect("the file");
    let map;
    let bytes: &[u8] = if file.metadata().expect("its size").len() == 0 {
        &[]
    } else {
        map = unsafe { memmap2::Mmap::map(&file) }.expect("a mapping");
        &map
    };
    let gguf = match GGuf::new(bytes) {
        Ok(gguf) => gguf,
        Err(error) => return reject(error),
    };
    if operation == "gguf.parse" {
        return dump(&gguf, bytes).map_or_else(|error| reject(format!("{error:?}")), accept);
    }
    let index = integer(&request["index"]).expect("an index") as usize;
    let info = gguf.tensors[index].to_info();
    tensor(request, &gguf.data[info.offset()..][..info.nbytes()])
}

fn value_type(name: &str) -> Type {
    match name {
        "u8" => Type::U8,
        "i8" => Type::I8,
        "u16" => Type::U16,
        "i16" => Type::I16,
        "u32" => Type::U32,
        "i32" => Type::I32,
        "f32" => Type::F32,
        "bool" => Type::Bool,
        "string" => Type::String,
        "array" => Type::Array,
        "u64" => Type::U64,
        "i64" => Type::I64,
        _ => Type::F64,
    }
}

fn tensor_type(id: u32) -> Option<GGmlType> {
    Some(match id {
        0 => GGmlType::F32,
        1 => GGmlType::F16,
        2 => GGmlType::Q4_0,
        8 => GGmlType::Q8_0,
        12 => GGmlType::Q4K,
        14 => GGmlType::Q6K,
        _ => return None,
    })
}

fn write_file(request: &Value) -> std::io::Result<Value> {
    let kv = write::new_kv(request);
    let tensors = write::new_tensors(request);
    let file = std::fs::File::create(request["out"].as_str().expect("out"))?;
    let header = GGufFileHeader::new(3, tensors.len() as _, kv.len() as _);
    let mut writer = GGufFileWriter::new(file, header)?;
    for (key, ty, v) in kv {
        writer.write_meta_kv(key, value_type(ty), &write::encode(ty, v))?;
    }
    let mut writer = writer.finish::<Vec<u8>>(true);
    for t in tensors {
        let Some(ty) = tensor_type(t.ty) else {
            return Ok(not_run("the driver maps no such tensor type"));
        };
        writer.write_tensor(&t.name, ty, &t.dims, t.data)?;
    }
    writer.finish()?;
    Ok(json!({"status": "ok", "verdict": "accept"}))
}

fn main() {
    let hello = json!({"protocol": 1, "name": "ggus", "version": "0.5.1", "language": "Rust",
        "operations": ["gguf.parse", "gguf.tensor", "gguf.write"], "verdicts": ["accept", "reject"],
        "dump": ["version", "alignment", "data_offset", "kv", "tensors", "size", "order"],
        "variants": [], "profile": null});
    serve(hello, |operation, request| {
        if operation == "gguf.write" {
            return write_file(request).unwrap_or_else(reject);
        }
        unanswerable(request).unwrap_or_else(|| answer(operation, request))
    });
}
