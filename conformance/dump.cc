#include "conformance/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conformance/dump_value.h"

namespace weightproof::conformance {
namespace {

// The unknown type of the ABI: WP_UNKNOWN cut to 32 bits.
constexpr std::uint32_t kUnknownType = 0xffffffff;

std::string_view View(wp_slice slice) {
  if (slice.size == 0) return {};
  return {reinterpret_cast<const char*>(slice.data), slice.size};
}

std::string_view View(const std::uint8_t* data, std::uint64_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

void AppendLittleEndian(std::uint64_t value, int width, std::string& out) {
  for (int i = 0; i < width; ++i) {
    out.push_back(static_cast<char>(value >> (8 * i)));
  }
}

Json TypeToJson(std::uint32_t type) {
  if (type == kUnknownType) return nullptr;
  return TypeName(type);
}

Json NumberOrNull(std::uint64_t value) {
  if (value == WP_UNKNOWN) return nullptr;
  return fmt::format("{}", value);
}

// Floats and bools have several encodings of one value; everything else is
// its bytes.
bool HasCanonicalBytes(std::uint32_t type) {
  return type != 6 && type != 7 && type != 12;
}

}  // namespace

bool DumpBuilder::Frame::abbreviated() const { return count > kMaxDumpArray; }

DumpBuilder::DumpBuilder() {
  sink_.context = this;
  sink_.header = [](void* c, const wp_gguf_header* header) {
    static_cast<DumpBuilder*>(c)->Header(*header);
  };
  sink_.key = [](void* c, wp_slice key, std::uint32_t type) {
    static_cast<DumpBuilder*>(c)->Key(View(key), type);
  };
  sink_.scalars = [](void* c, std::uint32_t type, const void* values,
                     std::uint64_t count) {
    static_cast<DumpBuilder*>(c)->Scalars(
        type, static_cast<const std::uint8_t*>(values), count);
  };
  sink_.string = [](void* c, wp_slice value) {
    static_cast<DumpBuilder*>(c)->String(View(value));
  };
  sink_.array_begin = [](void* c, std::uint32_t type, std::uint64_t count) {
    static_cast<DumpBuilder*>(c)->ArrayBegin(type, count);
  };
  sink_.array_end = [](void* c) { static_cast<DumpBuilder*>(c)->ArrayEnd(); };
  sink_.tensor = [](void* c, const wp_gguf_tensor* tensor) {
    static_cast<DumpBuilder*>(c)->Tensor(*tensor);
  };
  sink_.policy = [](void* c, const char* rule) {
    static_cast<DumpBuilder*>(c)->policies_.push_back(rule);
  };
  Reset();
}

void DumpBuilder::Reset() {
  top_ = {{"version", nullptr},
          {"endian", nullptr},
          {"alignment", nullptr},
          {"data_offset", nullptr}};
  kv_ = Json::array();
  tensors_ = Json::array();
  policies_ = Json::array();
  has_value_ = true;
  frames_.clear();
  violation_.clear();
}

Json DumpBuilder::Take(std::uint64_t file_size) {
  Json dump = std::move(top_);
  dump["file_size"] = fmt::format("{}", file_size);
  dump["kv"] = std::move(kv_);
  dump["tensors"] = std::move(tensors_);
  dump["policies"] = std::move(policies_);
  Reset();
  return dump;
}

Json DumpBuilder::TakeValue() {
  Json value;
  if (kv_.size() == 1 && has_value_) value = std::move(kv_[0]["value"]);
  Reset();
  return value;
}

void DumpBuilder::Violate(std::string_view what) {
  if (violation_.empty()) violation_ = what;
}

void DumpBuilder::Header(const wp_gguf_header& header) {
  if (!top_["version"].is_null()) Violate("a second header");
  top_["version"] = header.version;
  if (header.big_endian >= 0) {
    top_["endian"] = header.big_endian != 0 ? "big" : "little";
  }
  if (header.alignment != WP_UNKNOWN) top_["alignment"] = header.alignment;
  top_["data_offset"] = NumberOrNull(header.data_offset);
}

void DumpBuilder::Key(std::string_view key, std::uint32_t type) {
  if (!has_value_ || !frames_.empty()) Violate("a key before the last value");
  frames_.clear();
  kv_.push_back({{"key", StringToJson(key)},
                 {"type", TypeToJson(type)},
                 {"value", nullptr}});
  has_value_ = false;
}

bool DumpBuilder::ExpectsValue() {
  if (!frames_.empty()) {
    if (frames_.back().received < frames_.back().count) return true;
    Violate("more elements than the array announced");
    return false;
  }
  if (!has_value_) return true;
  Violate("a value without a key");
  return false;
}

// Whether the next value shows up in the dump, or only in the checksum.
bool DumpBuilder::KeepsNext() const {
  if (frames_.empty()) return true;
  const Frame& frame = frames_.back();
  return !frame.abbreviated() || frame.received < kDumpArrayHead ||
         frame.received + 1 == frame.count;
}

void DumpBuilder::Place(Json value) {
  if (frames_.empty()) {
    kv_.back()["value"] = std::move(value);
    has_value_ = true;
    return;
  }
  if (KeepsNext()) frames_.back().items.push_back(std::move(value));
  ++frames_.back().received;
}

void DumpBuilder::Checksum(std::string_view encoded) {
  for (Frame& frame : frames_) {
    if (frame.abbreviated()) frame.crc = Crc32(frame.crc, encoded);
  }
}

void DumpBuilder::ChecksumScalars(std::uint32_t type,
                                  const std::uint8_t* values,
                                  std::uint64_t count) {
  if (std::ranges::none_of(frames_, &Frame::abbreviated)) return;
  const std::size_t width = TypeWidth(type);
  if (HasCanonicalBytes(type)) return Checksum(View(values, count * width));
  std::string encoded;
  for (std::uint64_t i = 0; i < count; ++i) {
    EncodeValue(type, ScalarToJson(type, values + i * width), encoded);
  }
  Checksum(encoded);
}

void DumpBuilder::Scalars(std::uint32_t type, const std::uint8_t* values,
                          std::uint64_t count) {
  const std::size_t width = TypeWidth(type);
  if (width == 0) {
    if (type != kUnknownType) Violate("scalars of a type that is not fixed");
    // Without a type there is no width: the values cannot be shown.
    if (ExpectsValue()) Place(nullptr);
    return;
  }
  ChecksumScalars(type, values, count);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!ExpectsValue()) return;
    Place(KeepsNext() ? ScalarToJson(type, values + i * width) : Json());
  }
}

void DumpBuilder::String(std::string_view value) {
  if (!ExpectsValue()) return;
  if (std::ranges::any_of(frames_, &Frame::abbreviated)) {
    std::string length;
    AppendLittleEndian(value.size(), 8, length);
    Checksum(length);
    Checksum(value);
  }
  Place(KeepsNext() ? StringToJson(value) : Json());
}

void DumpBuilder::ArrayBegin(std::uint32_t element_type, std::uint64_t count) {
  if (!ExpectsValue()) return;
  std::string head;
  AppendLittleEndian(element_type, 4, head);
  AppendLittleEndian(count, 8, head);
  Checksum(head);
  Frame frame;
  frame.element_type = element_type;
  frame.count = count;
  frame.items = Json::array();
  frames_.push_back(std::move(frame));
}

void DumpBuilder::ArrayEnd() {
  if (frames_.empty()) return Violate("the end of an array that was not begun");
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  if (frame.received != frame.count) {
    Violate("fewer elements than the array announced");
  }
  Json value = {{"elem", TypeToJson(frame.element_type)},
                {"len", fmt::format("{}", frame.count)},
                {"items", std::move(frame.items)}};
  if (frame.abbreviated()) value["crc32"] = frame.crc;
  Place(std::move(value));
}

void DumpBuilder::Tensor(const wp_gguf_tensor& tensor) {
  if (!has_value_ || !frames_.empty()) {
    Violate("a tensor before the last value");
  }
  Json dims = Json::array();
  for (std::uint32_t i = 0; i < tensor.n_dims; ++i) {
    dims.push_back(fmt::format("{}", tensor.dims[i]));
  }
  tensors_.push_back({{"name", StringToJson(View(tensor.name))},
                      {"dims", std::move(dims)},
                      {"type", tensor.type},
                      {"offset", fmt::format("{}", tensor.offset)},
                      {"size", NumberOrNull(tensor.size)}});
}

}  // namespace weightproof::conformance
