#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <variant>

#include "conformance/dump.h"
#include "conformance/dump_value.h"
#include "conformance/host.h"
#include "conformance/mapped_file.h"

namespace weightproof::conformance {
namespace {

// Up to this size a file is read, which is cheaper than a mapping.
constexpr off_t kReadWhole = 256 << 10;

// The bytes of a request's file, or the answer that says why there are none.
class Input {
 public:
  explicit Input(const Json& request);
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  const std::optional<Json>& problem() const { return problem_; }
  const wp_gguf_input& abi() const { return abi_; }
  // Ask after reading.
  bool Changed() const { return mapped_ && mapped_->Changed(); }

 private:
  bool ReadSmall();
  void ReadOptions(const Json& request);

  std::string path_;
  std::string profile_;
  std::string content_;
  std::optional<MappedFile> mapped_;
  std::optional<Json> problem_;
  wp_gguf_input abi_ = {};
};

// False leaves the file to the mapping, which also names what is wrong.
bool Input::ReadSmall() {
  const int fd =
      open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return false;
  struct stat status = {};
  bool whole = false;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_size <= kReadWhole) {
    content_.resize(static_cast<std::size_t>(status.st_size));
    whole = read(fd, content_.data(), content_.size()) == status.st_size;
  }
  close(fd);
  return whole;
}

void Input::ReadOptions(const Json& request) {
  abi_.path = path_.c_str();
  const auto base = request.find("base");
  if (base != request.end()) {
    if (!base->is_number_unsigned()) {
      problem_ = ErrorAnswer("\"base\" is not an unsigned integer");
      return;
    }
    abi_.base = base->get<std::uint64_t>();
  }
  const auto profile = request.find("profile");
  if (profile != request.end() && profile->is_string()) {
    profile_ = profile->get<std::string>();
    abi_.profile = profile_.c_str();
  }
  const auto keys = request.find("require_keys");
  abi_.require_keys = keys != request.end() && *keys == Json(true);
}

Input::Input(const Json& request) {
  const auto file = request.find("file");
  if (file == request.end() || !file->is_string()) {
    problem_ = ErrorAnswer("\"file\" is missing or not a string");
    return;
  }
  path_ = file->get<std::string>();
  ReadOptions(request);
  if (problem_) return;
  if (ReadSmall()) {
    abi_.data = {reinterpret_cast<const std::uint8_t*>(content_.data()),
                 content_.size()};
  } else {
    auto mapped = MappedFile::Open(path_);
    if (!mapped) {
      problem_ = ErrorAnswer(
          fmt::format("{}: {}", mapped.error().code, mapped.error().message));
      return;
    }
    mapped_.emplace(std::move(*mapped));
    abi_.data = {mapped_->bytes().data(), mapped_->bytes().size()};
  }
  abi_.file_size = abi_.data.size;
}

Json Changed() { return NotRunAnswer("file-changed"); }

// Collects the bytes of a tensor: their number, checksum and, if there is a
// path, the bytes.
class BytesCollector {
 public:
  explicit BytesCollector(const std::string& out_path)
      : file_(out_path.empty() ? nullptr : std::fopen(out_path.c_str(), "wbe")),
        failed_(!out_path.empty() && file_ == nullptr) {
    sink_.context = this;
    sink_.write = [](void* context, const void* data, std::uint64_t size) {
      static_cast<BytesCollector*>(context)->Write(data, size);
    };
  }
  ~BytesCollector() { Close(); }
  BytesCollector(const BytesCollector&) = delete;
  BytesCollector& operator=(const BytesCollector&) = delete;

  const wp_bytes_sink* sink() const { return &sink_; }
  std::uint64_t size() const { return size_; }
  std::uint32_t crc() const { return crc_; }
  // Whether all bytes reached the file.
  bool Close() {
    if (file_ != nullptr && std::fclose(file_) != 0) failed_ = true;
    file_ = nullptr;
    return !failed_;
  }

 private:
  void Write(const void* data, std::uint64_t size) {
    crc_ = Crc32(crc_, {static_cast<const char*>(data), size});
    size_ += size;
    if (file_ != nullptr && std::fwrite(data, 1, size, file_) != size) {
      failed_ = true;
    }
  }

  std::FILE* file_;
  bool failed_;
  wp_bytes_sink sink_;
  std::uint64_t size_ = 0;
  std::uint32_t crc_ = 0;
};

bool Accepted(const wp_answer& answer) {
  return answer.status == WP_STATUS_OK && answer.verdict == WP_ACCEPT;
}

}  // namespace

Json HostGgufParse(const wp_implementation& implementation,
                   const std::vector<std::string>& dump_fields,
                   const Json& request) {
  Input input(request);
  if (input.problem()) return *input.problem();
  DumpBuilder builder;
  wp_answer answer = EmptyAnswer();
  implementation.gguf_parse(&input.abi(), builder.sink(), &answer);
  if (input.Changed()) return Changed();
  Json json = FromAbi(answer);
  if (!Accepted(answer)) return json;
  if (!builder.violation().empty()) {
    return ErrorAnswer("the sink was called wrongly: " + builder.violation());
  }
  json["dump"] = builder.Take(input.abi().file_size);
  RestrictDump(dump_fields, json["dump"]);
  return json;
}

Json HostGgufTensor(const wp_implementation& implementation,
                    const Json& request) {
  Input input(request);
  if (input.problem()) return *input.problem();
  const auto index = request.find("index");
  if (index == request.end() || !index->is_number_unsigned()) {
    return ErrorAnswer("\"index\" is missing or not an unsigned integer");
  }
  const auto out = request.find("out");
  const bool has_out = out != request.end() && out->is_string();
  BytesCollector bytes(has_out ? out->get<std::string>() : "");
  wp_answer answer = EmptyAnswer();
  implementation.gguf_tensor(&input.abi(), index->get<std::uint64_t>(),
                             bytes.sink(), &answer);
  if (input.Changed()) return Changed();
  Json json = FromAbi(answer);
  if (!Accepted(answer)) return json;
  if (!bytes.Close()) return ErrorAnswer("\"out\" cannot be written");
  json["size"] = fmt::format("{}", bytes.size());
  json["crc32"] = bytes.crc();
  return json;
}

Json HostGgufGet(const wp_implementation& implementation, const Json& request) {
  Input input(request);
  if (input.problem()) return *input.problem();
  const auto key = StringFromJson(request.value("key", Json()));
  const Json type_name = request.value("type", Json());
  const auto type = type_name.is_string()
                        ? TypeFromName(type_name.get<std::string>())
                        : std::nullopt;
  if (!key) return ErrorAnswer("\"key\" is not a string or {\"hex\"}");
  if (!type) return ErrorAnswer("\"type\" is not the name of a value type");
  DumpBuilder builder;
  const wp_slice slice = {reinterpret_cast<const std::uint8_t*>(key->data()),
                          key->size()};
  // The implementation may name the key again or not.
  builder.sink()->key(builder.sink()->context, slice, *type);
  wp_gguf_sink sink = *builder.sink();
  sink.key = [](void*, wp_slice, std::uint32_t) {};
  wp_answer answer = EmptyAnswer();
  implementation.gguf_get(&input.abi(), slice, *type, &sink, &answer);
  if (input.Changed()) return Changed();
  Json json = FromAbi(answer);
  if (!Accepted(answer)) return json;
  if (!builder.violation().empty()) {
    return ErrorAnswer("the sink was called wrongly: " + builder.violation());
  }
  json["value"] = builder.TakeValue();
  return json;
}

Json HostGgufCheck(const wp_implementation& implementation,
                   const Json& request) {
  Input input(request);
  if (input.problem()) return *input.problem();
  Json findings = Json::array();
  wp_gguf_data_sink sink = {};
  sink.context = &findings;
  sink.finding = [](void* context, const wp_gguf_data_finding* finding) {
    static_cast<Json*>(context)->push_back(
        {{"rule", finding->rule},
         {"tensor", finding->tensor},
         {"block", fmt::format("{}", finding->block)},
         {"offset", fmt::format("{}", finding->offset)},
         {"count", fmt::format("{}", finding->count)}});
  };
  wp_answer answer = EmptyAnswer();
  implementation.gguf_check(&input.abi(), &sink, &answer);
  if (input.Changed()) return Changed();
  Json json = FromAbi(answer);
  if (answer.status == WP_STATUS_OK) json["findings"] = std::move(findings);
  return json;
}

Json HostGgufOpenSet(const wp_implementation& implementation,
                     const std::vector<std::string>& dump_fields,
                     const Json& request) {
  const auto files = request.find("files");
  if (files == request.end() || !files->is_array() || files->empty()) {
    return ErrorAnswer("\"files\" is missing or not a list of paths");
  }
  std::deque<Input> inputs;
  std::vector<std::string> names;
  for (const Json& file : *files) {
    Json one = request;
    one["file"] = file;
    inputs.emplace_back(one);
    if (inputs.back().problem()) return *inputs.back().problem();
    names.push_back(std::filesystem::path(file.get<std::string>()).filename());
  }
  std::deque<DumpBuilder> builders(inputs.size());
  std::vector<wp_gguf_input> abi;
  std::vector<const char*> name_pointers;
  std::vector<wp_gguf_sink> sinks;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    abi.push_back(inputs[i].abi());
    name_pointers.push_back(names[i].c_str());
    sinks.push_back(*builders[i].sink());
  }
  wp_answer answer = EmptyAnswer();
  implementation.gguf_open_set(abi.data(), name_pointers.data(), abi.size(),
                               sinks.data(), &answer);
  for (const Input& input : inputs) {
    if (input.Changed()) return Changed();
  }
  Json json = FromAbi(answer);
  if (answer.status == WP_STATUS_OK && answer.verdict != WP_ACCEPT) {
    json["file"] = answer.row;
  }
  if (!Accepted(answer)) return json;
  json["dumps"] = Json::array();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!builders[i].violation().empty()) {
      return ErrorAnswer("the sink was called wrongly: " +
                         builders[i].violation());
    }
    Json dump = builders[i].Take(abi[i].file_size);
    RestrictDump(dump_fields, dump);
    json["dumps"].push_back(std::move(dump));
  }
  return json;
}

}  // namespace weightproof::conformance
