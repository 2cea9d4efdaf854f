#include "conformance/vector_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "conformance/dump_value.h"
#include "conformance/numeric.h"
#include "conformance/vector_json.h"

namespace weightproof::conformance {
namespace {

// Buffers up to this size travel in the request.
constexpr std::size_t kInlineBytes = 64u << 10;

std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// {"op":...} as the members of an object, without the braces.
std::string Members(const Json& request) {
  const std::string text = Text(request);
  return text.substr(1, text.size() - 2);
}

// Writes a file under its final name only when it is whole. Returns what went
// wrong, or "".
std::string WriteReadOnly(const corpus::Bytes& bytes,
                          const std::filesystem::path& path) {
  const std::filesystem::path draft =
      path.string() + fmt::format(".{}.new", getpid());
  const auto written = bytes.WriteFile(draft);
  std::error_code error;
  if (written) {
    chmod(draft.c_str(), 0444);
    std::filesystem::rename(draft, path, error);
  }
  if (written && !error) return "";
  const std::string why = written ? error.message() : written.error();
  std::filesystem::remove(draft, error);
  return "the file cannot be written here: " + why;
}

bool HasSize(const std::filesystem::path& path, std::uint64_t size,
             struct stat& seen) {
  return stat(path.c_str(), &seen) == 0 && S_ISREG(seen.st_mode) &&
         static_cast<std::uint64_t>(seen.st_size) == size;
}

bool SameFile(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

// Files are dated to this moment, so that a later write shows even in another
// run.
constexpr timespec kDate = {1000000000, 0};

std::string Ensure(const corpus::Bytes& bytes,
                   const std::filesystem::path& path, struct stat& seen) {
  const bool there =
      HasSize(path, bytes.Size(), seen) && seen.st_mtim.tv_sec == kDate.tv_sec;
  if (there) return "";
  std::string problem = WriteReadOnly(bytes, path);
  if (!problem.empty()) return problem;
  const timespec dates[2] = {kDate, kDate};
  if (utimensat(AT_FDCWD, path.c_str(), dates, 0) != 0 ||
      !HasSize(path, bytes.Size(), seen)) {
    return fmt::format("{}: {}", path.string(), std::strerror(errno));
  }
  return "";
}

}  // namespace

std::string VectorSetDigest(const VectorSet& set) {
  // Two different checksums of the same text, for 64 bits.
  std::uint32_t crc = Crc32(0, set.version);
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const Vector& vector : set.vectors) {
    const std::string text = Text(VectorToJson(vector));
    crc = Crc32(crc, text);
    sum = (sum ^ Crc32(crc, text)) * 0x100000001b3;
  }
  return fmt::format("{:08x}{:08x}", crc,
                     static_cast<std::uint32_t>(sum >> 32));
}

std::expected<VectorFiles, std::string> VectorFiles::Prepare(
    const VectorSet& set, const std::filesystem::path& directory) {
  VectorFiles files;
  files.digest_ = VectorSetDigest(set);
  files.root_ = directory / files.digest_;
  std::error_code error;
  std::filesystem::create_directories(files.root_, error);
  if (error) {
    return std::unexpected(
        fmt::format("{}: {}", files.root_.string(), error.message()));
  }
  files.entries_.resize(set.vectors.size());
  for (std::size_t i = 0; i < set.vectors.size(); ++i) {
    const Vector& vector = set.vectors[i];
    Entry& entry = files.entries_[i];
    if (!vector.files.empty()) {
      files.PrepareSet(vector, entry);
    } else if (vector.format == "gguf") {
      files.PrepareFile(vector, entry);
    } else {
      files.PrepareNumeric(vector, entry);
    }
  }
  return files;
}

void VectorFiles::PrepareFile(const Vector& vector, Entry& entry) {
  entry.file = root_ / (vector.id + ".gguf");
  entry.input_bytes = vector.bytes.Size();
  entry.problem = Ensure(vector.bytes, entry.file, entry.seen);
  Json request = vector.request.is_object() ? vector.request : Json::object();
  request["file"] = entry.file;
  entry.tensor_members = conformance::Members(request);
  request["op"] = vector.operation;
  entry.members = conformance::Members(request);
}

void VectorFiles::PrepareSet(const Vector& vector, Entry& entry) {
  const std::filesystem::path folder = root_ / vector.id;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  Json request = vector.request.is_object() ? vector.request : Json::object();
  request["op"] = vector.operation;
  request["files"] = Json::array();
  for (const NamedFile& file : vector.files) {
    const std::filesystem::path path = folder / file.name;
    entry.input_bytes += file.bytes.Size();
    struct stat seen = {};
    const std::string problem = Ensure(file.bytes, path, seen);
    if (!problem.empty()) entry.problem = problem;
    request["files"].push_back(path);
  }
  entry.members = conformance::Members(request);
}

void VectorFiles::PrepareNumeric(const Vector& vector, Entry& entry) {
  Json request = vector.request.is_object() ? vector.request : Json::object();
  request["op"] = vector.operation;
  for (const char* name : {"w", "x"}) {
    if (!request.contains(name)) continue;
    const auto bytes = ExpandBuffer(request[name]);
    if (!bytes) {
      entry.problem = fmt::format("{}: {}", name, bytes.error());
      return;
    }
    entry.input_bytes += bytes->size();
    const std::string_view view(reinterpret_cast<const char*>(bytes->data()),
                                bytes->size());
    if (bytes->size() <= kInlineBytes) {
      request[name] = {{"hex", BytesToHex(view)}};
      continue;
    }
    const auto path = root_ / fmt::format("{}.{}", vector.id, name);
    corpus::Bytes content;
    content.chunks.push_back(corpus::Literal{*bytes});
    struct stat seen = {};
    entry.problem = Ensure(content, path, seen);
    request[name] = {{"file", path}, {"offset", 0}, {"bytes", bytes->size()}};
  }
  entry.members = conformance::Members(request);
}

bool VectorFiles::RestoreIfModified(const VectorSet& set, std::size_t index) {
  Entry& entry = entries_[index];
  if (entry.file.empty() || !entry.problem.empty()) return false;
  struct stat now = {};
  if (stat(entry.file.c_str(), &now) == 0 && SameFile(now, entry.seen)) {
    return false;
  }
  entry.problem = Ensure(set.vectors[index].bytes, entry.file, entry.seen);
  return true;
}

}  // namespace weightproof::conformance
