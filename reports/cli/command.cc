#include "reports/cli/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include "build_paths.h"
#include "conformance/mapped_file.h"
#include "reports/text.h"

namespace weightproof::cli {

namespace fs = std::filesystem;

Places FindPlaces() {
  const auto place = [](const char* variable, const char* built) {
    const char* value = std::getenv(variable);
    return fs::path(value == nullptr || *value == '\0' ? built : value);
  };
  return {place("WEIGHTPROOF_ROOT", WEIGHTPROOF_SOURCE_DIR),
          place("WEIGHTPROOF_BUILD", WEIGHTPROOF_BINARY_DIR)};
}

int Fail(int code, std::string_view message) {
  const std::string line =
      fmt::format("weightproof: {}\n", reports::PrintableLines(message));
  std::fwrite(line.data(), 1, line.size(), stderr);
  return code;
}

void Print(std::string_view text) {
  // Whoever reads may have seen enough; the exit code is still the verdict.
  static bool closed = false;
  if (closed) return;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      std::fflush(stdout) == 0) {
    return;
  }
  const int error = errno;
  if (error == EPIPE) {
    closed = true;
    return;
  }
  std::_Exit(Fail(kExitInternal, fmt::format("cannot write the output: {}",
                                             std::strerror(error))));
}

std::expected<std::string, std::string> ReadFile(const fs::path& path,
                                                 std::uint64_t max) {
  const auto file = conformance::MappedFile::Open(path);
  if (!file) {
    return std::unexpected(
        fmt::format("{}: {}", path.string(), file.error().message));
  }
  if (file->bytes().size() > max) {
    return std::unexpected(fmt::format(
        "{}: {} is more than the {} that are read here", path.string(),
        reports::ByteCount(file->bytes().size()), reports::ByteCount(max)));
  }
  std::string text(file->bytes().begin(), file->bytes().end());
  if (file->Changed()) {
    return std::unexpected(
        fmt::format("{}: {}", path.string(),
                    conformance::MappedFile::ChangedError().message));
  }
  return text;
}

std::expected<void, std::string> WriteFile(const fs::path& path,
                                           std::string_view contents) {
  std::error_code error;
  if (path.has_parent_path()) {
    fs::create_directories(path.parent_path(), error);
  }
  const fs::path partial = path.string() + fmt::format(".{}.part", ::getpid());
  errno = 0;
  std::ofstream out(partial, std::ios::binary | std::ios::trunc);
  out.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  out.close();
  if (!out) {
    const int cause = errno;
    fs::remove(partial, error);
    return std::unexpected(
        fmt::format("cannot write {}: {}", path.string(),
                    cause == 0 ? "output error" : std::strerror(cause)));
  }
  fs::rename(partial, path, error);
  if (error) {
    std::error_code ignored;
    fs::remove(partial, ignored);
    return std::unexpected(
        fmt::format("cannot write {}: {}", path.string(), error.message()));
  }
  return {};
}

std::expected<conformance::VectorSet, std::string> LoadAllVectors(
    const Places& places) {
  return LoadVectorsFrom(places.Vectors());
}

std::expected<conformance::VectorSet, std::string> LoadVectorsFrom(
    const std::filesystem::path& folder) {
  auto vectors = conformance::LoadVectors(folder);
  if (vectors) return std::move(*vectors);
  return std::unexpected(fmt::format("{}{}: {}", vectors.error().file.string(),
                                     vectors.error().pointer,
                                     vectors.error().message));
}

}  // namespace weightproof::cli
