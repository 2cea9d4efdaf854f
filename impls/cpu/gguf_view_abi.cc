// The optimized GGUF reader behind the C ABI.
#include "impls/cpu/gguf_view_abi.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "impls/cpu/gguf_values.h"
#include "impls/cpu/gguf_view_internal.h"

namespace weightproof::impls {
inline namespace WEIGHTPROOF_MUTANT {
namespace gguf_internal {
namespace {

wp_slice Slice(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// Hands the values of an accepted file to a sink.
class Emitter {
 public:
  Emitter(const GgufView& view, const wp_gguf_sink& sink)
      : sink_(sink),
        in_{view.prefix.data(), view.version != 1, view.big_endian} {}

  void Value(std::uint32_t type, std::uint64_t at) {
    pos_ = at;
    if (type == kString) {
      String();
    } else if (type == kArray) {
      Array();
    } else {
      Scalars(type, 1);
    }
  }

 private:
  void String() {
    const std::uint64_t size = in_.Word(pos_);
    pos_ += in_.word();
    sink_.string(sink_.context, {in_.data + pos_, size});
    pos_ += size;
  }

  void Scalars(std::uint32_t type, std::uint64_t count) {
    const std::uint64_t width = kWidth[type];
    if (!in_.swap || width == 1) {
      if (count > 0) sink_.scalars(sink_.context, type, in_.data + pos_, count);
      pos_ += count * width;
      return;
    }
    std::uint8_t buffer[4096];
    while (count > 0) {
      const std::uint64_t n = std::min(count, sizeof buffer / width);
      for (std::uint64_t i = 0; i < n; ++i, pos_ += width) {
        std::reverse_copy(in_.data + pos_, in_.data + pos_ + width,
                          buffer + i * width);
      }
      sink_.scalars(sink_.context, type, buffer, n);
      count -= n;
    }
  }

  void Array() {
    std::vector<std::uint64_t> open;
    for (;;) {
      const std::uint32_t element = in_.U32(pos_);
      const std::uint64_t count = in_.Word(pos_ + 4);
      pos_ += 4 + in_.word();
      sink_.array_begin(sink_.context, element, count);
      if (element == kArray && count > 0) {
        open.push_back(count);
        continue;
      }
      if (element == kString) {
        for (std::uint64_t i = 0; i < count; ++i) String();
      } else if (element < kValueTypes && element != kArray) {
        Scalars(element, count);
      }
      sink_.array_end(sink_.context);
      while (!open.empty() && --open.back() == 0) {
        open.pop_back();
        sink_.array_end(sink_.context);
      }
      if (open.empty()) return;
    }
  }

  const wp_gguf_sink& sink_;
  Layout in_;
  std::uint64_t pos_ = 0;
};

std::int32_t VerdictOf(Cell cell) {
  switch (cell) {
    case Cell::kUnsupported:
      return WP_UNSUPPORTED;
    case Cell::kLimit:
      return WP_LIMIT;
    default:
      return WP_REJECT;
  }
}

}  // namespace

void Emit(const GgufView& view, const wp_gguf_sink& sink) {
  const wp_gguf_header header{view.version,    view.big_endian ? 1 : 0,
                              view.alignment,  view.data_start,
                              view.kvs.size(), view.tensors.size()};
  sink.header(sink.context, &header);
  Emitter emitter(view, sink);
  for (const GgufKv& kv : view.kvs) {
    sink.key(sink.context, Slice(kv.key), kv.type);
    emitter.Value(kv.type, kv.value);
  }
  std::vector<std::uint64_t> dims;
  for (const GgufTensor& tensor : view.tensors) {
    dims.resize(tensor.n_dims);
    for (std::uint32_t i = 0; i < tensor.n_dims; ++i) {
      dims[i] = GgufDim(view, tensor, i);
    }
    const wp_gguf_tensor out{Slice(tensor.name), tensor.n_dims, dims.data(),
                             tensor.type,        tensor.offset, tensor.size};
    sink.tensor(sink.context, &out);
  }
  for (const RuleIndex rule : view.policies) {
    sink.policy(sink.context, Rules()[rule].id.data());
  }
}

void Say(wp_answer* answer, std::string_view text) {
  std::snprintf(answer->detail, sizeof answer->detail, "%.*s",
                static_cast<int>(std::min<std::size_t>(text.size(), 255)),
                text.data());
}

std::optional<GgufProfile> FindProfile(const char* name) {
  if (name == nullptr) return GgufProfile::kSpec;
  const std::string_view profile = name;
  if (profile == "spec") return GgufProfile::kSpec;
  if (profile == "ggml") return GgufProfile::kGgml;
  if (profile == "candle") return GgufProfile::kCandle;
  return std::nullopt;
}

void Refuse(const GgufFinding& finding, wp_answer* answer) {
  answer->status = WP_STATUS_OK;
  answer->verdict = VerdictOf(finding.verdict);
  answer->rule = Rules()[finding.rule].id.data();
  answer->offset = finding.offset;
  Say(answer, Rules()[finding.rule].statement);
}

std::optional<GgufView> Open(const wp_gguf_input& in, wp_answer* answer) {
  const std::optional<GgufProfile> profile = FindProfile(in.profile);
  if (!profile.has_value()) {
    answer->status = WP_STATUS_NOT_IMPLEMENTED;
    Say(answer, "no such profile");
    return std::nullopt;
  }
  const GgufInput input{
      .prefix = {in.data.data, std::min(in.data.size, in.file_size)},
      .file_size = in.file_size,
      .base = in.base,
      .profile = *profile,
      .require_keys = in.require_keys != 0};
  GgufResult result = ParseGguf(input);
  if (const auto* needs = std::get_if<GgufNeedsMore>(&result)) {
    answer->status = WP_STATUS_NOT_RUN;
    std::snprintf(
        answer->detail, sizeof answer->detail,
        "the prefix ends inside the header; at least %llu more bytes "
        "are needed",
        static_cast<unsigned long long>(needs->bytes - input.prefix.size()));
    return std::nullopt;
  }
  answer->status = WP_STATUS_OK;
  if (const auto* finding = std::get_if<GgufFinding>(&result)) {
    Refuse(*finding, answer);
    return std::nullopt;
  }
  answer->verdict = WP_ACCEPT;
  return std::get<GgufView>(std::move(result));
}

void CheckData(const wp_gguf_input* input, const wp_gguf_data_sink* sink,
               wp_answer* answer) {
  const std::optional<GgufView> view = Open(*input, answer);
  if (!view.has_value()) return;
  if (view->prefix.size() < input->file_size) {
    answer->status = WP_STATUS_NOT_RUN;
    return Say(answer, "the whole file is needed");
  }
  Judge judge(*FindProfile(input->profile));
  for (const GgufDataFinding& found : CheckGgufValues(*view, {})) {
    const wp_gguf_data_finding out{Rules()[found.rule].id.data(), found.tensor,
                                   found.block, found.offset, found.count};
    sink->finding(sink->context, &out);
    if (judge.finding().rule == kNoRule) {
      judge.Stops(found.rule, found.offset);
    }
  }
  if (judge.finding().rule != kNoRule) Refuse(judge.finding(), answer);
}

namespace {

void Refuse(wp_answer* answer, std::string_view why) {
  answer->verdict = WP_REJECT;
  Say(answer, why);
}

void Parse(const wp_gguf_input* input, const wp_gguf_sink* sink,
           wp_answer* answer) {
  const std::optional<GgufView> view = Open(*input, answer);
  if (view.has_value()) Emit(*view, *sink);
}

void TensorBytes(const wp_gguf_input* input, std::uint64_t index,
                 const wp_bytes_sink* out, wp_answer* answer) {
  const std::optional<GgufView> view = Open(*input, answer);
  if (!view.has_value()) return;
  if (index >= view->tensors.size()) {
    return Refuse(answer, "no tensor of this index");
  }
  const GgufTensor& tensor = view->tensors[index];
  if (tensor.size == 0) return;
  const std::uint64_t at = view->data_start + tensor.offset;
  if (at + tensor.size > view->prefix.size()) {
    answer->status = WP_STATUS_NOT_RUN;
    std::snprintf(answer->detail, sizeof answer->detail,
                  "the prefix ends before the tensor does: needs %llu bytes",
                  static_cast<unsigned long long>(at + tensor.size));
    return;
  }
  out->write(out->context, view->prefix.data() + at, tensor.size);
}

void Get(const wp_gguf_input* input, wp_slice key, std::uint32_t type,
         const wp_gguf_sink* sink, wp_answer* answer) {
  const std::optional<GgufView> view = Open(*input, answer);
  if (!view.has_value()) return;
  const std::string_view name(reinterpret_cast<const char*>(key.data),
                              key.size);
  // Of a repeated key, which only candle's profile accepts, the last counts.
  for (std::size_t i = view->kvs.size(); i-- > 0;) {
    const GgufKv& kv = view->kvs[i];
    if (kv.key != name) continue;
    if (kv.type != type) return Refuse(answer, "the value has another type");
    sink->key(sink->context, Slice(kv.key), kv.type);
    Emitter(*view, *sink).Value(kv.type, kv.value);
    return;
  }
  Refuse(answer, "no such key");
}

}  // namespace
}  // namespace gguf_internal

const wp_implementation* GgufViewImplementation() {
  static constexpr const char* kVerdicts[] = {"accept", "reject", "unsupported",
                                              "limit", nullptr};
  static constexpr const char* kDumpFields[] = {
      "version", "endian",   "alignment", "data_offset", "file_size", "kv",
      "tensors", "policies", "size",      "order",       nullptr};
  static constexpr const char* kVariants[] = {nullptr};
  static const wp_implementation kTable = [] {
    wp_implementation table{};
    table.abi_version = WP_ABI_VERSION;
    table.name = "gguf_view";
    table.version = "0.1.0";
    table.language = "C++";
    table.profile = "spec";
    table.verdicts = kVerdicts;
    table.dump_fields = kDumpFields;
    table.variants = kVariants;
    table.gguf_parse = gguf_internal::Parse;
    table.gguf_tensor = gguf_internal::TensorBytes;
    table.gguf_get = gguf_internal::Get;
    table.gguf_open_set = gguf_internal::OpenSet;
    table.gguf_check = gguf_internal::CheckData;
    return table;
  }();
  return &kTable;
}

}  // namespace WEIGHTPROOF_MUTANT
}  // namespace weightproof::impls
