//! What the Rust drivers share: one JSON request a line in, one answer a line
//! out, and the values of the canonical dump. It knows no format: a driver
//! calls its library and reports what that gives. A panic of the library ends
//! the process, as it would end the program of any of its users.

use std::io::{BufRead, Read, Seek, SeekFrom, Write};

pub use serde_json::{json, Value};

pub mod write;

/// Answers requests until standard input ends. `hello` is what the driver says
/// of itself; `operation` gets the name of an operation and the request.
pub fn serve(hello: Value, operation: impl Fn(&str, &Value) -> Value) {
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("standard input");
        let request: Value = serde_json::from_str(&line).expect("a JSON line");
        let name = request["op"].as_str().unwrap_or("");
        let declared = hello["operations"].as_array().expect("operations");
        let mut answer = if name == "hello" {
            hello.clone()
        } else if declared.iter().any(|o| o == name) {
            operation(name, &request)
        } else {
            json!({"status": "not-implemented"})
        };
        answer["id"] = request["id"].clone();
        writeln!(out, "{answer}")
            .and_then(|_| out.flush())
            .expect("standard output");
    }
}

/// Deeper arrays are not reported: answers are JSON, which nests only so far.
pub const MAX_LEVELS: usize = 80;
/// Longer strings (bytes) and arrays are not reported.
pub const MAX_LENGTH: usize = 1 << 22;

/// Whether an array of this length at this level (1 = outermost) is reported.
pub fn reported(len: usize, level: usize) -> bool {
    level <= MAX_LEVELS && len <= MAX_LENGTH
}

pub fn text(value: &str) -> Value {
    if value.len() > MAX_LENGTH {
        return Value::Null;
    }
    json!(value)
}

pub fn accept(dump: Value) -> Value {
    json!({"status": "ok", "verdict": "accept", "dump": dump})
}

pub fn reject(detail: impl std::fmt::Display) -> Value {
    json!({"status": "ok", "verdict": "reject", "detail": detail.to_string()})
}

pub fn not_run(why: &str) -> Value {
    json!({"status": "not-run", "why": why})
}

/// Why a reader that only knows whole files cannot answer this gguf.parse.
pub fn unanswerable(request: &Value) -> Option<Value> {
    if request["base"].as_u64().unwrap_or(0) != 0 || request["base"].is_string() {
        return Some(not_run("reads only files that start with the GGUF"));
    }
    if request["require_keys"] == true {
        return Some(not_run("has no check for required keys"));
    }
    None
}

pub fn path(request: &Value) -> &str {
    request["file"].as_str().expect("a file")
}

pub fn decimal(number: impl std::fmt::Display) -> Value {
    Value::String(number.to_string())
}

pub fn decimals<'a>(numbers: impl IntoIterator<Item = &'a u64>) -> Value {
    numbers.into_iter().map(decimal).collect()
}

pub fn f32_bits(value: f32) -> Value {
    if value.is_nan() {
        return json!("nan");
    }
    Value::String(format!("0x{:08x}", value.to_bits()))
}

pub fn f64_bits(value: f64) -> Value {
    if value.is_nan() {
        return json!("nan");
    }
    Value::String(format!("0x{:016x}", value.to_bits()))
}

/// The answer of gguf.tensor: the bytes to `out`, if asked, and what they are.
pub fn tensor(request: &Value, bytes: &[u8]) -> Value {
    if let Some(out) = request["out"].as_str() {
        std::fs::write(out, bytes).expect("the out file");
    }
    json!({"status": "ok", "verdict": "accept", "size": decimal(bytes.len()),
           "crc32": crc32fast::hash(bytes)})
}

/// The bytes of a buffer: {"hex"} or {"file", "offset", "bytes"}.
pub fn buffer(value: &Value) -> Vec<u8> {
    if let Some(hex) = value["hex"].as_str() {
        let digits = hex.as_bytes().chunks(2);
        return digits
            .map(|d| u8::from_str_radix(std::str::from_utf8(d).unwrap(), 16).unwrap())
            .collect();
    }
    let mut file = std::fs::File::open(path(value)).expect("the buffer's file");
    file.seek(SeekFrom::Start(integer(&value["offset"]).unwrap_or(0)))
        .expect("an offset");
    let mut bytes = vec![0; integer(&value["bytes"]).expect("bytes") as usize];
    file.read_exact(&mut bytes).expect("the buffer's bytes");
    bytes
}

/// A number, or a number as a decimal string.
pub fn integer(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

pub fn float_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// The answer of a numeric operation: y to `out`, if asked, else as hex.
pub fn numbers(request: &Value, y: &[u8]) -> Value {
    if let Some(out) = request["out"].as_str() {
        std::fs::write(out, y).expect("the out file");
        return json!({"status": "ok", "verdict": "accept"});
    }
    let hex: String = y.iter().map(|b| format!("{b:02x}")).collect();
    json!({"status": "ok", "verdict": "accept", "y": {"hex": hex}})
}

/// The dump's name of a GGUF value type; of one that is none, its number.
pub fn type_name(id: u32) -> String {
    const NAMES: [&str; 13] = [
        "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64",
        "f64",
    ];
    NAMES
        .get(id as usize)
        .map_or_else(|| id.to_string(), |name| name.to_string())
}
