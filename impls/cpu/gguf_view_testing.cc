#include "impls/cpu/gguf_view_testing.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace weightproof::impls::testing {
namespace {

std::string Little(std::uint64_t v, int width) {
  std::string out;
  for (int i = 0; i < width; ++i) out += static_cast<char>(v >> (8 * i));
  return out;
}

std::string Hex(const void* data, std::uint64_t size) {
  std::string out;
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  for (std::uint64_t i = 0; i < size; ++i) {
    out += "0123456789abcdef"[bytes[i] >> 4];
    out += "0123456789abcdef"[bytes[i] & 15];
  }
  return out;
}

struct Log {
  Outcome outcome;
  bool in_line = false;

  void Line(const std::string& line) {
    if (in_line) outcome.events += '\n';
    in_line = false;
    outcome.events += line + "\n";
  }
};

Log& LogOf(void* context) { return *static_cast<Log*>(context); }

std::string HexOf(wp_slice slice) { return Hex(slice.data, slice.size); }

constexpr std::uint64_t kWidths[13] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

wp_gguf_sink LoggingSink(Log* log) {
  wp_gguf_sink sink{};
  sink.context = log;
  sink.header = [](void* context, const wp_gguf_header* h) {
    LogOf(context).Line(fmt::format(
        "header {} {} {} {} {} {}", h->version, h->big_endian, h->alignment,
        h->tensor_count == 0 ? std::string("-")
                             : std::to_string(h->data_offset),
        h->kv_count, h->tensor_count));
  };
  sink.key = [](void* context, wp_slice key, std::uint32_t type) {
    LogOf(context).Line(fmt::format("key {} {}", HexOf(key), type));
  };
  sink.scalars = [](void* context, std::uint32_t type, const void* values,
                    std::uint64_t count) {
    Log& log = LogOf(context);
    if (!log.in_line) log.outcome.events += fmt::format("scalars {} ", type);
    log.in_line = true;
    log.outcome.events +=
        type < 13 ? Hex(values, count * kWidths[type]) : std::string("?");
  };
  sink.string = [](void* context, wp_slice value) {
    LogOf(context).Line("string " + HexOf(value));
  };
  sink.array_begin = [](void* context, std::uint32_t type,
                        std::uint64_t count) {
    LogOf(context).Line(fmt::format("array {} {}", type, count));
  };
  sink.array_end = [](void* context) { LogOf(context).Line("end"); };
  sink.tensor = [](void* context, const wp_gguf_tensor* t) {
    std::string dims;
    for (std::uint32_t i = 0; i < t->n_dims && i < 4; ++i) {
      dims += std::to_string(t->dims[i]) + ",";
    }
    LogOf(context).Line(fmt::format("tensor {} [{}] {} {} {}", HexOf(t->name),
                                    dims, t->type, t->offset, t->size));
  };
  sink.policy = [](void* context, const char* rule) {
    LogOf(context).Line("policy " + std::string(rule));
    LogOf(context).outcome.policies.emplace_back(rule);
  };
  return sink;
}

}  // namespace

std::string U8(std::uint64_t v) { return Little(v, 1); }
std::string U16(std::uint64_t v) { return Little(v, 2); }
std::string U32(std::uint64_t v) { return Little(v, 4); }
std::string U64(std::uint64_t v) { return Little(v, 8); }
std::string F32(float v) { return U32(std::bit_cast<std::uint32_t>(v)); }
std::string Z(std::uint64_t n) { return std::string(n, '\0'); }

std::string Times(std::uint64_t n, std::string_view unit) {
  std::string out;
  out.reserve(n * unit.size());
  for (std::uint64_t i = 0; i < n; ++i) out += unit;
  return out;
}

std::string S(std::string_view text) {
  return U64(text.size()) + std::string(text);
}

std::string H(std::uint32_t version, std::uint64_t tensors, std::uint64_t kvs) {
  return "GGUF" + U32(version) + U64(tensors) + U64(kvs);
}

std::string Kv(std::string_view key, std::uint32_t type,
               std::string_view payload) {
  return S(key) + U32(type) + std::string(payload);
}

std::string A(std::uint32_t element, std::uint64_t n) {
  return U32(element) + U64(n);
}

std::string Ti(std::string_view name, const std::vector<std::uint64_t>& dims,
               std::uint32_t type, std::uint64_t offset) {
  std::string out = S(name) + U32(dims.size());
  for (std::uint64_t dim : dims) out += U64(dim);
  return out + U32(type) + U64(offset);
}

std::string Pad(std::string bytes, std::uint64_t alignment) {
  while (bytes.size() % alignment != 0) bytes += '\0';
  return bytes;
}

void Writer::Int(std::uint64_t value, int width) {
  const std::string little = Little(value, width);
  bytes_ += big_ ? std::string(little.rbegin(), little.rend()) : little;
}

void Writer::Text(std::string_view text) {
  Word(text.size());
  bytes_ += text;
}

void Writer::Header(std::uint64_t tensors, std::uint64_t kvs) {
  bytes_ += "GGUF";
  Int(version_, 4);
  Word(tensors);
  Word(kvs);
}

void Writer::Key(std::string_view key, std::uint32_t type) {
  Text(key);
  Int(type, 4);
}

void Writer::Array(std::uint32_t element, std::uint64_t n) {
  Int(element, 4);
  Word(n);
}

void Writer::Tensor(std::string_view name,
                    const std::vector<std::uint64_t>& dims, std::uint32_t type,
                    std::uint64_t offset) {
  Text(name);
  Int(dims.size(), 4);
  for (std::uint64_t dim : dims) Word(dim);
  Int(type, 4);
  Int(offset, 8);
}

std::string RichFile(std::uint32_t version, bool big) {
  Writer w(version, big);
  w.Header(5, 18);
  constexpr std::uint32_t kFixed[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12};
  for (std::uint32_t type : kFixed) {
    w.Key(fmt::format("one.type_{}", type), type);
    w.Int(type == 7 ? 1 : 0xfedcba9876543210u, static_cast<int>(kWidths[type]));
  }
  w.Key("general.architecture", 8);
  w.Text("caf\xc3\xa9");
  w.Key("empty", 8);
  w.Text("");
  w.Key("list.f32", 9);
  w.Array(6, 3);
  for (std::uint32_t bits : {0x3f800000u, 0x7fc00000u, 0x80000000u}) {
    w.Int(bits, 4);
  }
  w.Key("list.bool", 9);
  w.Array(7, 3);
  w.Raw(std::string_view("\1\0\1", 3));
  w.Key("list.words", 9);
  w.Array(8, 4);
  for (std::string_view word : {"a", "", "\xe2\x96\x81", "bc"}) w.Text(word);
  w.Key("nested", 9);
  w.Array(9, 3);
  w.Array(2, 2);
  w.Int(1, 2), w.Int(2, 2);
  w.Array(9, 0);
  w.Array(8, 1);
  w.Text("x");
  w.Key("general.alignment", 4);
  w.Int(64, 4);
  w.Tensor("b", {8, 2}, 0, 64);
  w.Tensor("a", {32}, 8, 0);
  w.Tensor("none", {4, 0}, 0, 1 << 20);
  w.Tensor("scalar", {}, 1, 128);
  w.Tensor("last", {256}, 12, 192);
  w.Align(64);
  w.Raw(Times(34, "\x11") + Z(30) + Times(64, "\x22") + "\x33\x33" + Z(62) +
        Times(144, "\x44"));
  return w.bytes();
}

Outcome Parse(const wp_implementation& reader, std::string_view bytes,
              const RunOptions& options) {
  // An exact heap copy: an over-read by one byte is caught under ASan.
  const std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
  wp_gguf_input input{};
  input.data = {copy.data(), copy.size()};
  input.file_size = options.file_size.value_or(copy.size());
  input.base = options.base;
  input.profile = options.profile;
  input.require_keys = options.require_keys ? 1 : 0;
  Log log;
  const wp_gguf_sink sink = LoggingSink(&log);
  wp_answer answer{};
  answer.offset = WP_NO_OFFSET;
  reader.gguf_parse(&input, &sink, &answer);
  log.outcome.status = answer.status;
  log.outcome.verdict = answer.verdict;
  log.outcome.rule = answer.rule == nullptr ? "" : answer.rule;
  log.outcome.offset = answer.offset;
  log.outcome.detail = answer.detail;
  return log.outcome;
}

std::string Summary(const Outcome& outcome) {
  if (outcome.status == WP_STATUS_NOT_RUN) return "not run: " + outcome.detail;
  if (outcome.status != WP_STATUS_OK) return "not implemented";
  constexpr const char* kNames[] = {"accept", "reject", "unsupported", "limit"};
  std::string out = kNames[outcome.verdict];
  if (!outcome.rule.empty()) out += " " + outcome.rule;
  if (outcome.offset != WP_NO_OFFSET) {
    out += fmt::format(" at {}", outcome.offset);
  }
  for (const std::string& policy : outcome.policies) out += " +" + policy;
  return out;
}

std::vector<Case> AllCases() {
  std::vector<Case> all = HeaderCases();
  for (auto more : {ValueCases(), TensorCases()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace weightproof::impls::testing
