#include "conformance/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "conformance/protocol.h"

namespace weightproof::conformance {
namespace {

// Adds one line to what is known. The error is without its place.
std::expected<void, std::string> AddLine(const Json& line,
                                         std::string& implementation,
                                         JournalContents& contents) {
  if (!line.is_object()) return std::unexpected("not an object");
  if (line.contains("weightproof_run")) {
    contents.header = line;
    return {};
  }
  if (line.contains("sequence")) return {};
  const auto hello = line.find("hello");
  const auto name = line.find("implementation");
  if (name != line.end()) {
    if (!name->is_string()) {
      return std::unexpected("\"implementation\" is not a string");
    }
    implementation = name->get<std::string>();
  } else if (hello != line.end() && hello->is_object()) {
    implementation = hello->value("name", "");
  }
  if (implementation.empty()) {
    return std::unexpected("no \"implementation\" so far");
  }
  Recording& recording = contents.implementations[implementation];
  if (hello != line.end()) {
    recording.hello = *hello;
    return {};
  }
  const bool second_only = line.contains("second") &&
                           !line.contains("answer") && !line.contains("fate");
  if (second_only || (line.contains("file_modified") &&
                      !line.contains("answer") && !line.contains("fate"))) {
    const auto it = recording.records.find(
        {line.value("vector", ""), line.value("variant", "")});
    if (it == recording.records.end()) {
      return std::unexpected("\"second\" without a first answer");
    }
    Json merged = line;
    merged["answer"] = it->second.reply.answer;
    if (it->second.reply.fate) {
      merged["fate"] = {{"verdict", it->second.reply.fate->verdict}};
    }
    auto record = RecordFromJson(merged);
    if (!record) return std::unexpected(record.error());
    if (record->second) it->second.second = std::move(record->second);
    it->second.file_modified |= record->file_modified;
    return {};
  }
  auto record = RecordFromJson(line);
  if (!record) return std::unexpected(record.error());
  recording.records.insert_or_assign({record->vector, record->variant},
                                     std::move(*record));
  return {};
}

bool EndsWithNewline(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(-1, std::ios::end);
  return file.get() == '\n';
}

}  // namespace

std::expected<JournalContents, std::string> ReadJournal(
    const std::filesystem::path& path) {
  // A FIFO or a device might never end.
  std::error_code none;
  if (std::filesystem::exists(path, none) &&
      !std::filesystem::is_regular_file(path, none)) {
    return std::unexpected(path.string() + ": is not a regular file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return std::unexpected(
        fmt::format("{}: {}", path.string(), std::strerror(errno)));
  }
  std::ostringstream all;
  all << file.rdbuf();
  const std::string text = std::move(all).str();
  JournalContents contents;
  std::string implementation;
  std::size_t start = 0;
  for (std::size_t number = 1; start < text.size(); ++number) {
    const std::size_t end = text.find('\n', start);
    const bool last = end == text.npos;
    const std::string_view line =
        std::string_view(text).substr(start, last ? end : end - start);
    const auto json = ParseUntrusted(line);
    if (!json && last) {
      contents.torn = true;
      break;
    }
    if (!json && line.find_first_not_of(" \t\r") != line.npos) {
      return std::unexpected(
          fmt::format("{}:{}: {}", path.string(), number, json.error()));
    }
    if (json) {
      if (auto added = AddLine(*json, implementation, contents); !added) {
        return std::unexpected(
            fmt::format("{}:{}: {}", path.string(), number, added.error()));
      }
    }
    if (last) {
      // Whole, but without its newline: a recording typed by hand, or a
      // write cut between the two.
      contents.whole_bytes = text.size();
      break;
    }
    start = end + 1;
    contents.whole_bytes = start;
  }
  return contents;
}

std::expected<std::unique_ptr<JournalWriter>, std::string> JournalWriter::Open(
    const std::filesystem::path& path, std::uint64_t keep_bytes) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(keep_bytes)) != 0 ||
      lseek(fd, 0, SEEK_END) < 0) {
    const std::string why =
        fmt::format("{}: {}", path.string(), std::strerror(errno));
    if (fd >= 0) close(fd);
    return std::unexpected(why);
  }
  std::unique_ptr<JournalWriter> journal(new JournalWriter(fd));
  if (keep_bytes > 0 && !EndsWithNewline(path)) journal->Append("");
  return journal;
}

JournalWriter::~JournalWriter() { close(fd_); }

void JournalWriter::Append(std::string_view line) {
  std::string text(line);
  text += '\n';
  std::string_view rest = text;
  const std::lock_guard lock(mutex_);
  while (!rest.empty()) {
    const ssize_t count = write(fd_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      good_ = false;
      return;
    }
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace weightproof::conformance
