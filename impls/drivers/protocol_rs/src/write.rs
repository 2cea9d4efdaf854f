//! What gguf.write is asked to write.
use serde_json::Value;

use crate::{buffer, integer, type_name};

pub struct NewTensor {
    pub name: String,
    pub dims: Vec<u64>,
    pub ty: u32,
    pub data: Vec<u8>,
}

/// (key, type name, value as the dump has it), in order.
pub fn new_kv(request: &Value) -> Vec<(&str, &str, &Value)> {
    let entries = request["dump"]["kv"].as_array().expect("kv");
    entries
        .iter()
        .map(|e| {
            (
                e["key"].as_str().expect("a key"),
                e["type"].as_str().expect("a type"),
                &e["value"],
            )
        })
        .collect()
}

pub fn new_tensors(request: &Value) -> Vec<NewTensor> {
    let entries = request["dump"]["tensors"].as_array().expect("tensors");
    let data = request["data"].as_array().expect("data");
    entries
        .iter()
        .zip(data)
        .map(|(t, data)| NewTensor {
            name: t["name"].as_str().expect("a name").to_string(),
            dims: t["dims"]
                .as_array()
                .expect("dims")
                .iter()
                .map(|dim| integer(dim).expect("a dim"))
                .collect(),
            ty: integer(&t["type"]).expect("a type") as u32,
            data: buffer(data),
        })
        .collect()
}

/// The number of a value type.
pub fn type_number(name: &str) -> u32 {
    (0..13).find(|&id| type_name(id) == name).expect("a type")
}

/// A float or an integer, in full; floats are given by their bits.
pub fn bits(value: &Value) -> u64 {
    if let Some(text) = value.as_str() {
        if let Some(hex) = text.strip_prefix("0x") {
            return u64::from_str_radix(hex, 16).expect("bits");
        }
        return text
            .parse::<u64>()
            .unwrap_or_else(|_| text.parse::<i64>().expect("an integer") as u64);
    }
    if let Some(flag) = value.as_bool() {
        return flag.into();
    }
    value
        .as_u64()
        .unwrap_or_else(|| value.as_i64().expect("an integer") as u64)
}

/// A value as a little-endian file of version 3 has it.
pub fn encode(ty: &str, value: &Value) -> Vec<u8> {
    let width = match ty {
        "u8" | "i8" | "bool" => 1,
        "u16" | "i16" => 2,
        "u32" | "i32" | "f32" => 4,
        "u64" | "i64" | "f64" => 8,
        "string" => {
            let text = value.as_str().expect("a string").as_bytes();
            return [&(text.len() as u64).to_le_bytes()[..], text].concat();
        }
        _ => {
            let elem = value["elem"].as_str().expect("an element type");
            let items = value["items"].as_array().expect("items");
            let mut out = type_number(elem).to_le_bytes().to_vec();
            out.extend((items.len() as u64).to_le_bytes());
            out.extend(items.iter().flat_map(|item| encode(elem, item)));
            return out;
        }
    };
    bits(value).to_le_bytes()[..width].to_vec()
}
