#include "conformance/vector_answers.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <system_error>
#include <utility>

#include "conformance/dump.h"
#include "conformance/mapped_file.h"

namespace weightproof::conformance {
namespace {

// Larger files are shown as a mapping of a sparse file.
constexpr std::uint64_t kInMemory = std::uint64_t{32} << 20;

wp_gguf_input InputOf(const FileView& file, const Question& question) {
  const auto bytes = file.bytes();
  wp_gguf_input input{};
  input.data = {bytes.data(), bytes.size()};
  input.file_size = bytes.size();
  input.base = question.base;
  input.profile = question.profile;
  input.require_keys = question.require_keys ? 1 : 0;
  return input;
}

std::string VerdictName(int32_t verdict) {
  constexpr std::array<const char*, 4> kNames = {"accept", "reject",
                                                 "unsupported", "limit"};
  if (verdict < 0 || verdict > 3) return fmt::format("verdict {}", verdict);
  return kNames[static_cast<std::size_t>(verdict)];
}

// The answer without what only an accepted file has.
ReaderAnswer Judge(const wp_answer& answer) {
  ReaderAnswer out;
  if (answer.status != WP_STATUS_OK) {
    out.problem = fmt::format("status {}: {}", answer.status, answer.detail);
    return out;
  }
  out.verdict = VerdictName(answer.verdict);
  if (answer.rule != nullptr) out.rule = answer.rule;
  if (answer.offset != WP_NO_OFFSET) out.offset = answer.offset;
  return out;
}

wp_answer Fresh() {
  wp_answer answer{};
  answer.offset = WP_NO_OFFSET;
  return answer;
}

struct Checksum {
  std::uint64_t size = 0;
  uLong crc = crc32(0, nullptr, 0);
};

void AddToChecksum(void* context, const void* data, std::uint64_t size) {
  auto& checksum = *static_cast<Checksum*>(context);
  const auto* bytes = static_cast<const Bytef*>(data);
  checksum.size += size;
  checksum.crc = crc32_z(checksum.crc, bytes, static_cast<z_size_t>(size));
}

}  // namespace

struct FileView::State {
  std::vector<std::uint8_t> memory;
  std::optional<MappedFile> mapped;
  std::filesystem::path temporary;

  ~State() {
    std::error_code ignored;
    if (!temporary.empty()) std::filesystem::remove(temporary, ignored);
  }
};

FileView::FileView(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileView::FileView(FileView&&) noexcept = default;
FileView& FileView::operator=(FileView&&) noexcept = default;
FileView::~FileView() = default;

std::span<const std::uint8_t> FileView::bytes() const {
  if (state_->mapped) return state_->mapped->bytes();
  return state_->memory;
}

std::expected<FileView, std::string> FileView::Make(
    const corpus::Bytes& bytes) {
  auto state = std::make_unique<State>();
  if (bytes.Size() <= kInMemory) {
    auto memory = bytes.Materialize(kInMemory);
    if (!memory) return std::unexpected(memory.error());
    state->memory = std::move(*memory);
    return FileView(std::move(state));
  }
  std::string pattern =
      (std::filesystem::temp_directory_path() / "vectorXXXXXX").string();
  const int descriptor = mkstemp(pattern.data());
  if (descriptor < 0) return std::unexpected("no temporary file");
  close(descriptor);
  state->temporary = pattern;
  auto written = bytes.WriteFile(state->temporary);
  if (!written) return std::unexpected(written.error());
  auto mapped = MappedFile::Open(state->temporary);
  if (!mapped) return std::unexpected(mapped.error().message);
  state->mapped.emplace(std::move(*mapped));
  return FileView(std::move(state));
}

ReaderAnswer AskParse(const wp_implementation& reader, const FileView& file,
                      const Question& question) {
  const wp_gguf_input input = InputOf(file, question);
  DumpBuilder dump;
  wp_answer answer = Fresh();
  reader.gguf_parse(&input, dump.sink(), &answer);
  ReaderAnswer out = Judge(answer);
  if (out.verdict != "accept") return out;
  out.dump = dump.Take(input.file_size);
  if (!dump.violation().empty()) out.problem = dump.violation();
  out.policies = out.dump["policies"].get<std::vector<std::string>>();
  return out;
}

ReaderAnswer AskGet(const wp_implementation& reader, const FileView& file,
                    const Question& question, const std::string& key,
                    std::uint32_t type) {
  const wp_gguf_input input = InputOf(file, question);
  DumpBuilder dump;
  wp_answer answer = Fresh();
  const wp_slice name = {reinterpret_cast<const std::uint8_t*>(key.data()),
                         key.size()};
  reader.gguf_get(&input, name, type, dump.sink(), &answer);
  ReaderAnswer out = Judge(answer);
  // A refusal need not say where.
  out.rule.reset();
  out.offset.reset();
  if (out.verdict == "accept") out.dump = {{"value", dump.TakeValue()}};
  return out;
}

ReaderAnswer AskTensor(const wp_implementation& reader, const FileView& file,
                       const Question& question, std::uint64_t index) {
  const wp_gguf_input input = InputOf(file, question);
  Checksum checksum;
  const wp_bytes_sink sink = {&checksum, AddToChecksum};
  wp_answer answer = Fresh();
  reader.gguf_tensor(&input, index, &sink, &answer);
  ReaderAnswer out = Judge(answer);
  if (out.verdict == "accept") {
    out.dump = {{"size", std::to_string(checksum.size)},
                {"crc32", fmt::format("{:08x}", checksum.crc)}};
  }
  return out;
}

ReaderAnswer AskCheck(const wp_implementation& reader, const FileView& file,
                      const Question& question) {
  const wp_gguf_input input = InputOf(file, question);
  Json findings = Json::array();
  const wp_gguf_data_sink sink = {
      &findings, [](void* context, const wp_gguf_data_finding* finding) {
        static_cast<Json*>(context)->push_back(
            {{"rule", finding->rule},
             {"tensor", finding->tensor},
             {"block", std::to_string(finding->block)},
             {"offset", std::to_string(finding->offset)},
             {"count", std::to_string(finding->count)}});
      }};
  wp_answer answer = Fresh();
  reader.gguf_check(&input, &sink, &answer);
  ReaderAnswer out = Judge(answer);
  out.dump = {{"findings", std::move(findings)}};
  return out;
}

ReaderAnswer AskOpenSet(const wp_implementation& reader,
                        const std::vector<std::string>& names,
                        const std::vector<FileView>& files, const char* profile,
                        std::uint64_t* file) {
  std::vector<wp_gguf_input> inputs;
  std::vector<const char*> pointers;
  std::deque<DumpBuilder> dumps(files.size());
  std::vector<wp_gguf_sink> sinks;
  for (std::size_t i = 0; i < files.size(); ++i) {
    inputs.push_back(InputOf(files[i], {.profile = profile}));
    pointers.push_back(names[i].c_str());
    sinks.push_back(*dumps[i].sink());
  }
  wp_answer answer = Fresh();
  reader.gguf_open_set(inputs.data(), pointers.data(), inputs.size(),
                       sinks.data(), &answer);
  *file = static_cast<std::uint64_t>(answer.row);
  ReaderAnswer out = Judge(answer);
  if (out.verdict != "accept") return out;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Json dump = dumps[i].Take(inputs[i].file_size);
    if (i == 0) {
      out.policies = dump["policies"].get<std::vector<std::string>>();
    }
    if (!dumps[i].violation().empty()) out.problem = dumps[i].violation();
  }
  return out;
}

std::string Describe(const ReaderAnswer& answer) {
  if (!answer.problem.empty()) return "no verdict (" + answer.problem + ")";
  std::string out = answer.verdict;
  if (answer.rule) out += " " + *answer.rule;
  if (answer.offset) out += fmt::format(" at {}", *answer.offset);
  for (const std::string& policy : answer.policies) {
    out += ", policy " + policy;
  }
  return out;
}

std::optional<std::uint32_t> ValueTypeOf(const std::string& name) {
  constexpr std::array<const char*, 13> kNames = {
      "u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
      "bool", "string", "array", "u64", "i64", "f64"};
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - kNames.begin());
}

}  // namespace weightproof::conformance
