// The calls of a GGUF sink as bytes. Internal to this folder.
#ifndef WEIGHTPROOF_FUZZERS_GGUF_RECORDER_H_
#define WEIGHTPROOF_FUZZERS_GGUF_RECORDER_H_

#include <algorithm>
#include <cstring>
#include <string_view>

#include "fuzzers/gguf/oracle.h"
#include "reference/gguf/types.h"

namespace weightproof::fuzzers {

// The sink's calls as bytes: a letter, then what was said.
class Recorder {
 public:
  explicit Recorder(GgufAnswer& answer) : answer_(answer) {}

  wp_gguf_sink Sink() {
    wp_gguf_sink sink{};
    sink.context = this;
    sink.header = [](void* self, const wp_gguf_header* header) {
      static_cast<Recorder*>(self)->Header(*header);
    };
    sink.key = [](void* self, wp_slice key, std::uint32_t type) {
      static_cast<Recorder*>(self)->Key(key, type);
    };
    sink.scalars = [](void* self, std::uint32_t type, const void* values,
                      std::uint64_t count) {
      static_cast<Recorder*>(self)->Scalars(type, values, count);
    };
    sink.string = [](void* self, wp_slice value) {
      static_cast<Recorder*>(self)->String(value);
    };
    sink.array_begin = [](void* self, std::uint32_t type, std::uint64_t count) {
      static_cast<Recorder*>(self)->ArrayBegin(type, count);
    };
    sink.array_end = [](void* self) {
      static_cast<Recorder*>(self)->ArrayEnd();
    };
    sink.tensor = [](void* self, const wp_gguf_tensor* tensor) {
      static_cast<Recorder*>(self)->Tensor(*tensor);
    };
    sink.policy = [](void* self, const char* rule) {
      static_cast<Recorder*>(self)->Policy(rule);
    };
    return sink;
  }

  void Finish() {
    if (depth_ != 0) Violate("an array without end");
  }

 private:
  void Letter(char letter) {
    scalars_open_ = false;
    answer_.log.push_back(static_cast<std::uint8_t>(letter));
  }
  void Number(std::uint64_t value) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    answer_.log.insert(answer_.log.end(), bytes, bytes + sizeof value);
  }
  void Raw(const void* data, std::uint64_t size) {
    if (size == 0) return;
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    answer_.log.insert(answer_.log.end(), bytes, bytes + size);
  }
  void Kind(unsigned bit) { answer_.kinds |= std::uint64_t{1} << (bit & 63); }
  void Violate(std::string_view what) {
    if (answer_.violation.empty()) answer_.violation = what;
  }

  void Header(const wp_gguf_header& header) {
    Letter('H');
    Number(header.version);
    Number(static_cast<std::uint64_t>(std::int64_t{header.big_endian}));
    Number(header.alignment);
    if (header.tensor_count != 0) Number(header.data_offset);
    Number(header.kv_count);
    Number(header.tensor_count);
    Kind(30 + (header.version & 3));
    if (header.big_endian != 0) Kind(34);
  }
  void Key(wp_slice key, std::uint32_t type) {
    if (depth_ != 0) Violate("a key inside an array");
    Letter('K');
    Number(type);
    Number(key.size);
    Raw(key.data, key.size);
    Kind(type % 13);
  }
  void Scalars(std::uint32_t type, const void* values, std::uint64_t count) {
    const std::uint64_t width = gguf::ValueWidth(type);
    if (width == 0) return Violate("scalars of a type without a width");
    if (count == 0) return;
    if (!scalars_open_ || last_type_ != type) {
      Letter('s');
      Number(type);
      scalars_open_ = true;
      last_type_ = type;
    }
    Raw(values, count * width);
    if (depth_ == 0) scalars_open_ = false;
  }
  void String(wp_slice value) {
    Letter('S');
    Number(value.size);
    Raw(value.data, value.size);
    if (value.size == 0) Kind(28);
  }
  void ArrayBegin(std::uint32_t type, std::uint64_t count) {
    Letter('[');
    Number(type);
    Number(count);
    ++depth_;
    Kind(13 + type % 13);
    if (depth_ == 2) Kind(26);
    if (depth_ > 2) Kind(27);
    if (count == 0) Kind(29);
  }
  void ArrayEnd() {
    if (depth_ == 0) return Violate("the end of an array that never began");
    Letter(']');
    --depth_;
  }
  void Tensor(const wp_gguf_tensor& tensor) {
    Letter('T');
    Number(tensor.name.size);
    Raw(tensor.name.data, tensor.name.size);
    Number(tensor.n_dims);
    for (std::uint32_t i = 0; i < tensor.n_dims; ++i) Number(tensor.dims[i]);
    Number(tensor.type);
    Number(tensor.offset);
    Number(tensor.size);
    Kind(36 + tensor.type % 20);
    Kind(56 + std::min(tensor.n_dims, 4u));
    if (tensor.size == 0) Kind(61);
  }
  void Policy(const char* rule) {
    Letter('P');
    if (rule == nullptr) return Violate("a policy without a rule");
    Raw(rule, std::strlen(rule));
    Kind(62);
  }

  GgufAnswer& answer_;
  int depth_ = 0;
  bool scalars_open_ = false;
  std::uint32_t last_type_ = 0;
};

}  // namespace weightproof::fuzzers

#endif  // WEIGHTPROOF_FUZZERS_GGUF_RECORDER_H_
