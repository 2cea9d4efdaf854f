#include "fuzzers/gguf/oracle_difference.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuzzers/gguf/oracle_sets.h"
#include "fuzzers/gguf/recorder.h"
#include "fuzzers/gguf/token_tree.h"

namespace weightproof::fuzzers {
namespace {

using gguf::FieldKind;

std::string Around(const Bytes& log, std::size_t at) {
  std::string out;
  const std::size_t begin = at < 8 ? 0 : at - 8;
  for (std::size_t i = begin; i < std::min(log.size(), at + 16); ++i) {
    out += fmt::format("{}{:02x}", i == at ? "|" : "", log[i]);
  }
  return out;
}

// The answers of gguf_get and gguf_tensor for one thing.
struct Part {
  GgufAnswer expected, got;
};

void AskTensor(const wp_implementation& reader, ByteSpan file,
               std::uint64_t index, GgufAnswer& out) {
  out.log.clear();
  wp_gguf_input input{};
  input.data = {file.data(), file.size()};
  input.file_size = file.size();
  const wp_bytes_sink sink = {
      &out.log, [](void* log, const void* data, std::uint64_t size) {
        const auto* bytes = static_cast<const std::uint8_t*>(data);
        auto& to = *static_cast<Bytes*>(log);
        if (size > 0) to.insert(to.end(), bytes, bytes + size);
      }};
  wp_answer answer{};
  answer.offset = WP_NO_OFFSET;
  reader.gguf_tensor(&input, index, &sink, &answer);
  out.status = answer.status;
  out.verdict = answer.verdict;
}

void AskGet(const wp_implementation& reader, ByteSpan file,
            std::string_view key, std::uint32_t type, GgufAnswer& out) {
  out.log.clear();
  out.violation.clear();
  wp_gguf_input input{};
  input.data = {file.data(), file.size()};
  input.file_size = file.size();
  Recorder recorder(out);
  const wp_gguf_sink sink = recorder.Sink();
  wp_answer answer{};
  answer.offset = WP_NO_OFFSET;
  reader.gguf_get(
      &input, {reinterpret_cast<const std::uint8_t*>(key.data()), key.size()},
      type, &sink, &answer);
  recorder.Finish();
  out.status = answer.status;
  out.verdict = answer.verdict;
}

struct Range {
  std::size_t begin, end;
};

// All of size things, up to 16, or the one that is chosen.
Range RangeOf(std::size_t size, std::optional<std::uint64_t> choice) {
  constexpr std::size_t kMost = 16;
  if (!choice || size == 0) return {0, std::min(size, kMost)};
  const auto one = static_cast<std::size_t>(*choice % size);
  return {one, one + 1};
}

std::optional<Finding> Compare(const wp_implementation& tested, Part& part,
                               std::string_view what) {
  // Only verdict and contents: how a part is refused is nobody's rule.
  auto finding = CompareGguf(tested, part.expected, part.got, false);
  if (finding)
    finding->behaviour = fmt::format("{}: {}", what, finding->behaviour);
  return finding;
}

}  // namespace

std::string DescribeLogDifference(const Bytes& expected, const Bytes& got) {
  const auto at = static_cast<std::size_t>(
      std::ranges::mismatch(expected, got).in1 - expected.begin());
  return fmt::format("recordings differ at {} of {} and {} bytes: {}, got {}",
                     at, expected.size(), got.size(), Around(expected, at),
                     Around(got, at));
}

std::optional<Finding> CompareGgufParts(const wp_implementation& trusted,
                                        const wp_implementation& tested,
                                        ByteSpan file,
                                        std::optional<std::uint64_t> choice) {
  const TokenTree tree = ParseTokens(file);
  Part part;
  const Range tensors = RangeOf(tree.tensors.size() + 1, choice);
  for (std::size_t i = tensors.begin;
       i < tensors.end && tested.gguf_tensor != nullptr; ++i) {
    AskTensor(trusted, file, i, part.expected);
    AskTensor(tested, file, i, part.got);
    if (auto finding = Compare(tested, part, "gguf.tensor")) return finding;
  }
  const Range kvs = RangeOf(tree.kvs.size(), choice);
  for (std::size_t i = kvs.begin; i < kvs.end && tested.gguf_get != nullptr;
       ++i) {
    const Tokens& kv = tree.kvs[i];
    if (kv.size() < 3) break;  // cut before its type
    const auto type = static_cast<std::uint32_t>(kv[2].number);
    for (const std::uint32_t asked : {type, (type + 1) % 13}) {
      AskGet(trusted, file, NameOf(kv), asked, part.expected);
      AskGet(tested, file, NameOf(kv), asked, part.got);
      if (auto finding = Compare(tested, part, "gguf.get")) return finding;
    }
  }
  return CompareGgufCheck(trusted, tested, file, "spec");
}

}  // namespace weightproof::fuzzers
