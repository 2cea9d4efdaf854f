#include <algorithm>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "impls/reference_ops.h"
#include "reference/gguf/data_values.h"
#include "reference/gguf/profile.h"
#include "reference/gguf/reader.h"
#include "reference/gguf/set.h"
#include "reference/gguf/value.h"

namespace weightproof::impls {
namespace {

void SetDetail(wp_answer* answer, std::string_view text) {
  const std::size_t size = std::min(text.size(), sizeof answer->detail - 1);
  std::memcpy(answer->detail, text.data(), size);
  answer->detail[size] = '\0';
}

void NotRun(wp_answer* answer, std::string_view why) {
  answer->status = WP_STATUS_NOT_RUN;
  SetDetail(answer, why);
}

void Reject(wp_answer* answer, std::string_view why) {
  answer->status = WP_STATUS_OK;
  answer->verdict = WP_REJECT;
  SetDetail(answer, why);
}

int32_t VerdictOf(Cell cell) {
  if (cell == Cell::kUnsupported) return WP_UNSUPPORTED;
  if (cell == Cell::kLimit) return WP_LIMIT;
  return WP_REJECT;
}

void Report(const gguf::Stop& stop, wp_answer* answer) {
  if (stop.rule == kNoRule) return NotRun(answer, stop.detail);
  answer->status = WP_STATUS_OK;
  answer->verdict = VerdictOf(stop.verdict);
  answer->rule = Rules()[stop.rule].id.data();  // ids are literals
  answer->offset = stop.offset;
  SetDetail(answer, stop.detail);
}

wp_slice Slice(std::span<const std::uint8_t> bytes) {
  return {bytes.data(), bytes.size()};
}

std::span<const std::uint8_t> Bytes(wp_slice slice) {
  if (slice.size == 0) return {};
  return {slice.data, static_cast<std::size_t>(slice.size)};
}

// The profile an input asks for; null after an answer if there is none.
const gguf::Profile* ProfileOf(const wp_gguf_input& input, wp_answer* answer) {
  if (input.profile == nullptr) return &gguf::SpecProfile();
  const gguf::Profile* profile = gguf::FindProfile(input.profile);
  if (profile == nullptr) {
    answer->status = WP_STATUS_NOT_IMPLEMENTED;
    SetDetail(answer, "no such profile");
  }
  return profile;
}

std::expected<gguf::File, gguf::Stop> ParseInput(const wp_gguf_input& input,
                                                 const gguf::Profile& profile) {
  gguf::Input request;
  request.prefix = Bytes(input.data);
  request.file_size = input.file_size;
  request.base = input.base;
  request.require_keys = input.require_keys != 0;
  return gguf::Parse(request, profile);
}

// Parses, and calls then with the file if it is accepted. No exception leaves.
template <typename Then>
void WithFile(const wp_gguf_input* input, wp_answer* answer, Then then) {
  const gguf::Profile* profile = ProfileOf(*input, answer);
  if (profile == nullptr) return;
  try {
    const auto file = ParseInput(*input, *profile);
    if (!file) return Report(file.error(), answer);
    answer->status = WP_STATUS_OK;
    answer->verdict = WP_ACCEPT;
    then(*file);
  } catch (const std::bad_alloc&) {
    NotRun(answer, "out of memory");
  }
}

class SinkVisitor : public gguf::ValueVisitor {
 public:
  explicit SinkVisitor(const wp_gguf_sink& sink) : sink_(sink) {}

  void Scalars(std::uint32_t type, std::span<const std::uint8_t> bytes,
               std::uint64_t count) override {
    sink_.scalars(sink_.context, type, bytes.data(), count);
  }
  void String(std::span<const std::uint8_t> bytes) override {
    sink_.string(sink_.context, Slice(bytes));
  }
  void ArrayBegin(std::uint32_t type, std::uint64_t count) override {
    sink_.array_begin(sink_.context, type, count);
  }
  void ArrayEnd() override { sink_.array_end(sink_.context); }

 private:
  const wp_gguf_sink& sink_;
};

void SendKeyValue(const gguf::File& file, const gguf::KeyValue& kv,
                  const wp_gguf_sink& sink) {
  sink.key(sink.context, Slice(file.Bytes(kv.key)), kv.type);
  SinkVisitor visitor(sink);
  gguf::VisitValue(file, kv, visitor);
}

void SendTensor(const gguf::File& file, const gguf::Tensor& tensor,
                const wp_gguf_sink& sink) {
  const wp_gguf_tensor out = {.name = Slice(file.Bytes(tensor.name)),
                              .n_dims = tensor.n_dims,
                              .dims = tensor.dims.data(),
                              .type = tensor.type,
                              .offset = tensor.offset,
                              .size = tensor.size};
  sink.tensor(sink.context, &out);
}

void SendFile(const gguf::File& file, const wp_gguf_sink& sink) {
  const wp_gguf_header header = {.version = file.version,
                                 .big_endian = file.big_endian ? 1 : 0,
                                 .alignment = file.alignment,
                                 .data_offset = file.data_start,
                                 .kv_count = file.kv.size(),
                                 .tensor_count = file.tensors.size()};
  sink.header(sink.context, &header);
  for (const gguf::KeyValue& kv : file.kv) SendKeyValue(file, kv, sink);
  for (const gguf::Tensor& tensor : file.tensors) {
    SendTensor(file, tensor, sink);
  }
  for (const RuleIndex rule : file.policies) {
    sink.policy(sink.context, Rules()[rule].id.data());
  }
}

}  // namespace

void ReferenceGgufParse(const wp_gguf_input* input, const wp_gguf_sink* sink,
                        wp_answer* answer) {
  WithFile(input, answer,
           [sink](const gguf::File& file) { SendFile(file, *sink); });
}

void ReferenceGgufTensor(const wp_gguf_input* input, uint64_t index,
                         const wp_bytes_sink* out, wp_answer* answer) {
  WithFile(input, answer, [=](const gguf::File& file) {
    if (index >= file.tensors.size()) {
      return Reject(answer, "no tensor of this index");
    }
    const gguf::Tensor& tensor = file.tensors[index];
    if (tensor.size == 0) return;
    const std::uint64_t begin = file.data_start + tensor.offset;
    if (begin + tensor.size > file.prefix.size()) {
      return NotRun(answer, "the tensor's bytes are not in memory");
    }
    const auto bytes = file.Bytes({begin, tensor.size});
    out->write(out->context, bytes.data(), bytes.size());
  });
}

void ReferenceGgufGet(const wp_gguf_input* input, wp_slice key, uint32_t type,
                      const wp_gguf_sink* sink, wp_answer* answer) {
  WithFile(input, answer, [=](const gguf::File& file) {
    const auto index = file.Find(Bytes(key));
    if (!index) return Reject(answer, "no such key");
    const gguf::KeyValue& kv = file.kv[*index];
    if (kv.type != type) {
      Reject(answer, "the value is of another type");
      answer->rule = Rules()[gguf::rules::kKvAccessTyped].id.data();
      answer->offset = kv.TypeField();
      return;
    }
    SendKeyValue(file, kv, *sink);
  });
}

void ReferenceGgufCheck(const wp_gguf_input* input,
                        const wp_gguf_data_sink* sink, wp_answer* answer) {
  WithFile(input, answer, [=](const gguf::File& file) {
    if (file.prefix.size() < file.file_size) {
      return NotRun(answer, "the whole file is needed");
    }
    const gguf::Profile& profile = *ProfileOf(*input, answer);
    for (const gguf::ValueFinding& found : gguf::CheckValues(file)) {
      const wp_gguf_data_finding out = {.rule = Rules()[found.rule].id.data(),
                                        .tensor = found.tensor,
                                        .block = found.block,
                                        .offset = found.offset,
                                        .count = found.count};
      sink->finding(sink->context, &out);
      const Cell cell = profile.Of(found.rule);
      if (answer->verdict != WP_ACCEPT || cell == Cell::kAccept) continue;
      answer->verdict = VerdictOf(cell);
      answer->rule = out.rule;
      answer->offset = found.offset;
      SetDetail(answer, Rules()[found.rule].statement);
    }
  });
}

void ReferenceGgufOpenSet(const wp_gguf_input* files, const char* const* names,
                          uint64_t count, const wp_gguf_sink* sinks,
                          wp_answer* answer) {
  if (count == 0) return NotRun(answer, "no file");
  const gguf::Profile* profile = ProfileOf(files[0], answer);
  if (profile == nullptr) return;
  try {
    std::vector<std::expected<gguf::File, gguf::Stop>> parsed;
    for (uint64_t i = 0; i < count; ++i) {
      parsed.push_back(ParseInput(files[i], *profile));
    }
    std::vector<gguf::Shard> shards;
    for (uint64_t i = 0; i < count; ++i) {
      shards.push_back({names[i], &parsed[i]});
    }
    const auto judged = gguf::JudgeSet(shards, *profile);
    if (!judged) {
      const gguf::SetStop& stop = judged.error();
      answer->row = static_cast<int64_t>(stop.file);
      Report(stop.stop, answer);
      if (stop.stop.rule == kNoRule && stop.stop.need_bytes == 0) {
        answer->status = WP_STATUS_OK;
        answer->verdict = VerdictOf(stop.stop.verdict);
      }
      return;
    }
    answer->status = WP_STATUS_OK;
    answer->verdict = WP_ACCEPT;
    for (uint64_t i = 0; i < count; ++i) SendFile(*parsed[i], sinks[i]);
    for (const RuleIndex rule : *judged) {
      sinks[0].policy(sinks[0].context, Rules()[rule].id.data());
    }
  } catch (const std::bad_alloc&) {
    NotRun(answer, "out of memory");
  }
}

}  // namespace weightproof::impls
