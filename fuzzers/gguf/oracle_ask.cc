// One reader's answer, recorded.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fuzzers/allocation.h"
#include "fuzzers/gguf/recorder.h"
#include "reference/gguf/types.h"

namespace weightproof::fuzzers {
namespace {

constexpr std::string_view kVerdicts[] = {"accept", "reject", "unsupported",
                                          "limit"};

}  // namespace

std::string GgufAnswer::Describe() const {
  if (status != WP_STATUS_OK) return fmt::format("no verdict ({})", status);
  std::string out = verdict >= 0 && verdict < 4
                        ? std::string(kVerdicts[verdict])
                        : fmt::format("verdict {}", verdict);
  if (rule != nullptr) out += fmt::format(" {}", rule);
  if (offset != UINT64_MAX) out += fmt::format(" at {}", offset);
  return out;
}

void AskGguf(const wp_implementation& reader, ByteSpan file,
             const GgufQuestion& question, GgufAnswer& out) {
  out.log.clear();
  out.kinds = 0;
  out.violation.clear();
  wp_gguf_input input{};
  input.data = {file.data(), file.size()};
  input.file_size = std::max<std::uint64_t>(file.size(), question.file_size);
  input.base = question.base;
  input.profile = question.profile;
  input.require_keys = question.require_keys ? 1 : 0;
  Recorder recorder(out);
  const wp_gguf_sink sink = recorder.Sink();
  wp_answer answer{};
  answer.offset = WP_NO_OFFSET;
  // Room made beforehand, so that what is measured is the reader's.
  out.log.reserve(2 * file.size() + 4096);
  const std::uint64_t room = out.log.capacity();
  {
    const AllocationMeter meter;
    reader.gguf_parse(&input, &sink, &answer);
    out.peak_bytes = meter.peak();
  }
  if (out.log.capacity() != room) out.peak_bytes = 0;
  recorder.Finish();
  out.status = answer.status;
  out.verdict = answer.verdict;
  out.rule = answer.rule;
  out.offset = answer.offset;
}

}  // namespace weightproof::fuzzers
